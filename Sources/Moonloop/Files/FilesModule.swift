// `require "moonloop.files"`: file calls for modules written in Lua; scripts use `moonloop.fs`.
// Arguments and results are those of FileCall.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

let filesModule = LuaModule(
  "moonloop.files",
  [
    .function("wait") { host($0, $1, "fs", filesWait) },
    .function("drop") { hostAction($0, $1, "drop", filesDrop) },
    // `is_cached(fd, offset, count)`: whether a part of a file is in memory. Yes in recordings,
    // which do not say what a disk was slow with.
    .function("is_cached") {
      hostValue($0, $1, "fs") { call in
        let fd = Int32(try call.stack.integer(1, "the descriptor", in: 0...Int(Int32.max)))
        let offset = try call.stack.integer(2, "the offset", in: 0...Int.max)
        let count = try call.stack.integer(3, "the count", in: 1...Int(Int32.max))
        return !Intake.isPlain || FileCall.isCached(fd, at: offset, count)
      }
    },
    .function("reserve") { hostAction($0, $1, "ml.fs.open", filesReserve) },
    // `release()`: one less.
    .function("release") { hostAction($0, $1, "ml.fs.close") { $0.runtime.handles.files.add(-1) } },
    // `reserve_other()`, `release_other()`: the same for handles of modules written in Lua.
    .function("reserve_other") {
      hostAction($0, $1, "") { call in
        try call.requireRoom(for: .others)
        call.runtime.handles.others.add(1)
      }
    },
    .function("release_other") { hostAction($0, $1, "") { $0.runtime.handles.others.add(-1) } },
  ])

/// A file call that a task waits for.
///
/// The answer arrives with a signal; with an intake, through a pipe, so that it enters
/// the loop like all other input. A replay makes no call.
final class FileWait: NetWait {
  private var request: FileRequest?
  private var call: FileCall
  /// What of its text is still to be copied.
  private var rest: LongText?
  private var answer: FileCall.Answer?
  /// Counts the arguments as script memory.
  private let charge: MemoryCharge?

  /// - Parameter function: The name of the scripts' function.
  init(_ runtime: Runtime, _ call: FileCall, _ rest: LongText?, _ function: String) {
    self.call = call
    self.call.room = FileRoom(runtime.state.makeMemoryClaims(areNoted: !Intake.isPlain))
    self.rest = rest
    let size = call.size + (rest?.count ?? 0)
    charge = size > 0 ? runtime.state.charge(size) : nil
    super.init(runtime, "a file ('\(function)')")
  }

  func start() throws(LoopError) {
    if rest == nil { return try submit() }
    let source = Loop.Source(name: "fs") { [weak self] in self?.copyMore($0) }
    try add(source)
    source.signal()
  }

  /// Copies a part of the text; after the last one, the call is made.
  private func copyMore(_ source: Loop.Source) {
    guard !isOver, let part = rest else { return }
    part.copy(to: &call, runtime.state.stack)
    if !part.isCopied(to: call) { return source.signal() }
    rest = nil
    remove(source)
    do { try submit() } catch {
      guard case .system(let refusal, _) = error else { return }
      answer = .failure(refusal)
      finish()
    }
  }

  private func submit() throws(LoopError) {
    let request = FileRequest(call)
    self.request = request
    if !Intake.isPlain { return try startWithPipe(request) }
    let source = Loop.Source(name: "fs") { [weak self] _ in
      guard let self, !isOver, let found = request.take() else { return }
      answer = found
      finish()
    }
    try add(source)
    let loop = runtime.loop
    request.submit { _ in
      source.signal()
      loop.wakeUp()
    }
  }

  private func startWithPipe(_ request: FileRequest) throws(LoopError) {
    let pipe: (read: Int32, write: Int32)
    do { pipe = try ChildDescriptors.pipe() } catch {
      throw .system(error, "no pipe for the answer")
    }
    var bytes: [UInt8] = []
    let source = Loop.DescriptorSource(
      pipe.read, closesDescriptor: true, name: "fs"
    ) { [weak self] source, _ in
      guard let self, !isOver else { return }
      let scratch = runtime.loop.scratch
      let count = (try? runtime.loop.kernel.read(source.fd, into: scratch)) ?? 0
      if count > 0 { return bytes.append(contentsOf: scratch[0..<count]) }
      _ = request.take()
      answer = request.decode(bytes)
      finish()
    }
    try add(source)
    if Intake.isReplayed { return }
    let end = pipe.write
    request.submit { FileRequest.send($0, to: end) }
  }

  override func ended() {
    if answer == nil { request?.abandon() }
  }

  override func push(on stack: LuaStack) -> Int {
    defer { answer = nil }
    if case .failure(let error)? = answer, error.call == FileScope.refused,
      let guest = runtime.granted.guest
    {
      return stack.pushFailure(guest.refusal(of: call), error.name)
    }
    return stack.push(answer ?? .success(.none))
  }

  /// The task was cancelled after the answer had arrived.
  deinit { if let answer { request?.discard(answer) } }
}

/// A text that is copied in parts, one in a pass, so that a long one holds no loop.
struct LongText {
  private static let part = 1 << 20

  private let text: LuaReference
  let count: Int
  private let argument: Int

  /// The text of a call, if it is long.
  init?(_ call: HostCall, at index: Int32, argument: Int) {
    guard let bytes = call.stack.bytes(index), bytes.count > Self.part else { return nil }
    call.stack.pushValue(index)
    text = LuaReference(popping: call.stack)
    count = bytes.count
    self.argument = argument
  }

  func copy(to call: inout FileCall, _ stack: LuaStack) {
    stack.push(text)
    defer { stack.pop() }
    let from = call.size(of: argument)
    stack.withBytes(-1) {
      call.append($0[from..<min(count, from + Self.part)], to: argument, of: count)
    }
  }

  func isCopied(to call: FileCall) -> Bool { call.size(of: argument) == count }
}

/// `wait(timeout or nil, function, call, ...)`: makes a call on another thread; the task waits.
/// Fails with the system's words and the code. `function` is the name of the scripts' function.
private func filesWait(_ call: HostCall) throws -> Int32 {
  try call.requireOpen()
  let timeout = call.stack.type(1) == .nil ? nil : try call.seconds(1, "timeout", .notNegative)
  let function = try call.string(2, "the function")
  let text = LongText(call, at: 5, argument: 1).flatMap { call.writesText(3) ? $0 : nil }
  var made = try call.fileCall(3, leaving: text == nil ? nil : 5)
  made.scope = call.scope(for: made)
  let coroutine = try call.requireWaiting()
  let wait = FileWait(call.runtime, made, text, function)
  do { try wait.start() } catch {
    wait.end()
    guard case .system(let refusal, _) = error else { throw error }
    return Int32(call.stack.pushFailure(refusal.message, refusal.name))
  }
  return try call.wait(wait, coroutine, timeout)
}

/// `drop(fd)`: closes a descriptor at once, for finalizers; a replay has none.
private func filesDrop(_ call: HostCall) throws {
  ChildDescriptors.close(
    Int32(try call.stack.integer(1, "the descriptor", in: 0...Int(Int32.max))))
}

/// `reserve()`: counts a file that is about to be opened, if the limit allows it.
private func filesReserve(_ call: HostCall) throws {
  try call.requireRoom(for: .files)
  call.runtime.handles.files.add(1)
}

extension HostCall {
  /// Whether the call whose name is at an index has a text to write as its second argument.
  fileprivate func writesText(_ index: Int32) -> Bool {
    ["store", "replace", "write"].contains(stack.string(index))
  }

  /// The call whose name is at an index, with the arguments after it.
  /// - Parameter left: The place of a text that is copied later.
  func fileCall(_ index: Int32, leaving left: Int32? = nil) throws(ScriptMistake) -> FileCall {
    let name = try string(index, "the call")
    var arguments: [FileValue] = []
    for place in (index + 1)..<max(index + 1, count + 1) {
      switch stack.type(place) {
      case .boolean: arguments.append(.flag(stack.boolean(place)))
      case .string where place == left: arguments.append(.bytes([]))
      case .string: arguments.append(.bytes(stack.withBytes(place) { Array($0) } ?? []))
      case .number:
        let number = stack.exactInteger(place)
        arguments.append(number.map { .number($0) } ?? .real(stack.number(place) ?? 0))
      default: arguments.append(.none)
      }
    }
    return FileCall(name, arguments)
  }
}

extension LuaStack {
  /// Pushes an answer, or `nil, message, code`. [-0, +n, raises: -]
  func push(_ answer: FileCall.Answer) -> Int {
    switch answer {
    case .failure(let error): return pushFailure(error.message, error.name)
    case .success(let value):
      push(value)
      return 1
    }
  }

  /// Pushes a value. [-0, +1, raises: -]
  func push(_ value: FileValue) {
    switch value {
    case .none: pushNil()
    case .flag(let flag): push(flag)
    case .number(let number): push(number)
    case .real(let real): push(real)
    case .bytes(let bytes): bytes.withUnsafeBytes { push(bytes: $0) }
    case .list(let values):
      push(list: values) { push($0) }
    case .record(let fields):
      newTable(fields: Int32(clamping: fields.count))
      for (name, value) in fields {
        push(name)
        push(value)
        rawSet(-3)
      }
    }
  }
}
