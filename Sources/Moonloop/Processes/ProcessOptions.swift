// The options of a child: its arguments, environment and streams, as tables of bytes.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// One of the three standard streams of a child.
enum ChildStream {
  case inherit
  case null
  case pipe
  /// A pseudo-terminal of this size, for all three streams.
  case terminal(columns: Int32, rows: Int32)
  /// For standard error: the same as standard output.
  case output
  /// A descriptor that the script keeps.
  case descriptor(Int32)
  /// A stream of the script, which is given away.
  case stream(ScriptStream)

  var isPipe: Bool { if case .pipe = self { true } else { false } }
}

/// The arguments or the environment of a child while they are read: a table may name one long
/// string many times.
private struct CommandSize {
  /// Linux takes no more, whatever the limits of the process are.
  static let limit = 6 << 20
  private var size = 0

  mutating func add(_ text: [UInt8]) throws(OperatingFailure) {
    size += text.count + 1
    if size <= Self.limit { return }
    throw OperatingFailure("cannot run the program: Argument list too long", "E2BIG")
  }
}

extension HostCall {
  /// The user and group that a child runs as.
  func readUser(_ options: Options, _ plan: inout ChildPlan) throws {
    plan.user = try options.integer("uid", in: 0...Int(Int32.max)).map { Int32($0) }
    plan.userGroup = try options.integer("gid", in: 0...Int(Int32.max)).map { Int32($0) }
    if plan.user != nil || plan.userGroup != nil { try requireAllPrograms("set their user") }
  }

  /// The program and its arguments: the unnamed elements of the table.
  func childArguments(_ index: Int32) throws -> [[UInt8]] {
    guard stack.type(index) == .table else {
      throw mistake(
        "takes a table with the program and its arguments, such as { \"ls\", \"-l\" }; got "
          + given(index))
    }
    var found: [[UInt8]] = []
    var size = CommandSize()
    while stack.rawGet(index, item: Int64(found.count + 1)) != .nil {
      defer { stack.pop() }
      let what = found.isEmpty ? "the program" : "argument \(found.count)"
      let text = try childText(stack.absolute(-1), what)
      try size.add(text)
      found.append(text)
    }
    stack.pop()
    if let place = itemBeyondGap(index, after: found.count) {
      let what = found.isEmpty ? "the program" : "argument \(found.count)"
      throw mistake("\(what) is nil, but argument \(place - 1) is given")
    }
    guard let program = found.first, !program.isEmpty else {
      throw mistake("the program is missing: give its name as the first element of the table")
    }
    return found
  }

  /// The first place of an item in a table beyond its first nil, which an unset variable has left.
  private func itemBeyondGap(_ index: Int32, after count: Int) -> Int? {
    var first: Int?
    stack.pushNil()
    while stack.next(index) {
      stack.pop()
      if let place = stack.exactInteger(-1), place > count { first = min(first ?? place, place) }
    }
    return first
  }

  /// Text for the system: a string without zeros, or a number as Lua writes it.
  private func childText(_ index: Int32, _ what: String) throws(ScriptMistake) -> [UInt8] {
    switch stack.type(index) {
    case .number: stack.makeString(index)
    case .string: break
    default: throw mistake("\(what) must be a string, got \(given(index))")
    }
    let bytes = stack.withBytes(index) { Array($0) } ?? []
    if bytes.contains(0) { throw mistake("\(what) must not contain a zero byte") }
    return bytes
  }

  /// The child's working folder.
  func childFolder(_ options: Options) throws(ScriptMistake) -> [UInt8]? {
    defer { stack.pop() }
    if options.push("cwd") == .nil { return nil }
    return try childText(stack.absolute(-1), "'cwd'")
  }

  // MARK: Environment

  /// The lines of the child's environment; nil: those of this process.
  func childEnvironment(_ options: Options) throws -> [[UInt8]]? {
    var lines: [[UInt8]]?
    if options.push("env") != .nil { lines = try variables("'env'").compactMap { $0.line } }
    stack.pop()
    if options.push("env_add") != .nil {
      var all = lines ?? Child.environment
      for variable in try variables("'env_add'") {
        all.removeAll { $0.starts(with: variable.name + [UInt8(ascii: "=")]) }
        if let line = variable.line { all.append(line) }
      }
      lines = all
    }
    stack.pop()
    return lines
  }

  private struct Variable {
    var name: [UInt8]
    /// nil: it is removed
    var line: [UInt8]?
  }

  /// The variables in the table on top of the stack.
  private func variables(_ what: String) throws -> [Variable] {
    let table = stack.absolute(-1)
    guard stack.type(table) == .table else {
      throw mistake("\(what) must be a table of variables, got \(given(table))")
    }
    var found: [Variable] = []
    var size = CommandSize()
    stack.pushNil()
    while stack.next(table) {
      let name = stack.type(-2) == .string ? stack.withBytes(-2) { Array($0) } ?? [] : []
      if name.isEmpty || name.contains(UInt8(ascii: "=")) || name.contains(0) {
        throw mistake(
          "\(what): the name of a variable must be a string without '=', got \(given(-2))")
      }
      let words = "\(what): the value of '\(String(decoding: name, as: UTF8.self))'"
      let isRemoved = stack.type(-1) == .boolean && !stack.boolean(-1)
      let value = isRemoved ? nil : try childText(stack.absolute(-1), words)
      let line = value.map { name + [UInt8(ascii: "=")] + $0 }
      try size.add(line ?? [])
      found.append(Variable(name: name, line: line))
      stack.pop()
    }
    return found
  }

  // MARK: Streams

  /// The pseudo-terminal for all three streams of the child, if the script wants one.
  func childTerminal(_ options: Options) throws(ScriptMistake) -> ChildStream? {
    guard try options.boolean("pty") ?? false else {
      for name: StaticString in ["columns", "rows"] where options.has(name) {
        throw mistake("'\(name)' is the size of a terminal; set 'pty = true' too")
      }
      return nil
    }
    for name: StaticString in ["stdin", "stdout", "stderr", "detached"] where options.has(name) {
      throw mistake("'\(name)' cannot be used with 'pty', which is all three streams of the child")
    }
    return .terminal(
      columns: Int32(try options.integer("columns", in: 1...1000) ?? 80),
      rows: Int32(try options.integer("rows", in: 1...1000) ?? 24))
  }

  /// The setting of one stream of the child.
  /// - Parameter number: 0 to 2.
  func childStream(
    _ options: Options, _ name: StaticString, _ number: Int
  ) throws(ScriptMistake) -> ChildStream? {
    defer { stack.pop() }
    switch options.push(name) {
    case .nil: return nil
    case .string:
      switch stack.string(-1) {
      case "inherit": return .inherit
      case "null": return .null
      case "pipe": return .pipe
      case "stdout" where number == 2: return .output
      default: break
      }
    case .number:
      if let fd = stack.integer(-1), fd >= 0, fd <= Int32.max {
        try requireGrant(ofDescriptor: fd)
        return .descriptor(Int32(fd))
      }
    case .userdata:
      if let handle = kinds.stream.handle(stack.L, -1) {
        return .stream(try giveable(handle, name))
      }
      if let handle = kinds.fd.handle(stack.L, -1), handle.item.isValid {
        return .descriptor(handle.item(as: Loop.DescriptorSource.self).fd)
      }
    default: break
    }
    let merged = number == 2 ? ", \"stdout\"" : ""
    throw mistake(
      "'\(name)' must be \"pipe\", \"inherit\", \"null\"\(merged), a stream or the number of a "
        + "descriptor, got \(given(-1))")
  }

  /// The child's descriptors from 3 on: those in the table by number; -1: none.
  func childDescriptors(_ options: Options) throws(ScriptMistake) -> [Int32] {
    defer { stack.pop() }
    if options.push("descriptors") == .nil { return [] }
    let table = stack.absolute(-1)
    guard stack.type(table) == .table else {
      throw mistake("'descriptors' must be a table such as { [3] = 7 }, got \(given(table))")
    }
    var found: [Int32] = []
    stack.pushNil()
    while stack.next(table) {
      guard let number = stack.exactInteger(-2), (3...Self.descriptorLimit).contains(number) else {
        throw mistake(
          "'descriptors': the child's numbers go from 3 to \(Self.descriptorLimit), "
            + "got \(given(stack.absolute(-2)))")
      }
      let fd = try stack.integer(
        stack.absolute(-1), "'descriptors': the descriptor", in: 0...Int(Int32.max))
      try requireGrant(ofDescriptor: fd)
      while found.count < number - 2 { found.append(-1) }
      found[number - 3] = Int32(fd)
      stack.pop()
    }
    return found
  }

  /// A number may be that of any descriptor of this process.
  private func requireGrant(ofDescriptor fd: Int) throws(ScriptMistake) {
    if fd > 2 { try requireGrant(of: .descriptors) }
  }

  /// The maximum number of descriptors for a child.
  private static let descriptorLimit = 255

  private func giveable(
    _ handle: LuaHandle, _ name: StaticString
  ) throws(ScriptMistake) -> ScriptStream {
    guard let stream = ScriptStream.of(handle), stream.source.isValid else {
      throw mistake("'\(name)': the stream is closed")
    }
    if stream.bytes.tls != nil {
      throw mistake("'\(name)': \(stream.label) has TLS, and the child would get encrypted bytes")
    }
    if !stream.state.input.isEmpty || !stream.state.output.isEmpty {
      throw mistake(
        "'\(name)': \(stream.label) has bytes in its buffer, which the child would not get",
        hint: "pass it on before you read from it")
    }
    return stream
  }
}

/// The descriptors for a child, while it is started.
struct ChildEnds: ~Copyable {
  /// Its descriptors 0, 1 and 2.
  private(set) var child: [Int32] = [0, 1, 2]
  /// Our ends of its pipes; -1: none.
  private(set) var ours: [Int32] = [-1, -1, -1]
  private var closed: [Int32] = []
  private var given: [ScriptStream] = []

  deinit {
    for fd in closed { ChildDescriptors.close(fd) }
    for fd in ours where fd >= 0 { ChildDescriptors.close(fd) }
  }

  /// Opens what a stream of the child needs.
  mutating func open(_ stream: ChildStream, _ number: Int) throws(SystemError) {
    switch stream {
    case .inherit:
      if !ChildDescriptors.isOpen(Int32(number)) { try open(.null, number) }
    case .null:
      let fd = try ChildDescriptors.null()
      closed.append(fd)
      child[number] = fd
    case .pipe:
      let (read, write) = try ChildDescriptors.pipe()
      closed.append(number == 0 ? read : write)
      child[number] = number == 0 ? read : write
      ours[number] = number == 0 ? write : read
      try ChildDescriptors.setBlocking(ours[number], false)
    case .terminal(let columns, let rows):
      if number > 0 {
        child[number] = child[0]
        return
      }
      let (ours, child) = try ChildDescriptors.terminal(columns: columns, rows: rows)
      closed.append(child)
      self.child[0] = child
      self.ours[0] = ours
    case .output: child[number] = child[1]
    case .descriptor(let fd):
      if !ChildDescriptors.isOpen(fd) { throw SystemError(call: "dup3", code: 9) }
      child[number] = fd
    case .stream(let stream):
      try ChildDescriptors.setBlocking(stream.source.fd, true)  // what a program expects
      child[number] = stream.source.fd
      given.append(stream)
    }
  }

  /// The child has started: its descriptors are no longer ours, except our ends.
  mutating func handOver(_ runtime: Runtime) -> [Int32] {
    for stream in given where stream.source.isValid { runtime.end(stream.source) }
    given = []
    defer { ours = [-1, -1, -1] }
    return ours
  }
}
