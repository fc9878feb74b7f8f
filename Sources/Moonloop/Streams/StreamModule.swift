// Streams in Lua: input and output of a descriptor, with waits in straight-line code (D26, R67).

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

private let streamOptions: [StaticString] = [
  "fd", "name", "read", "write", "close", "modes", "timeout", "line_limit", "buffer_limit",
  "write_limit", "keep_alive", "on_error",
]

/// `loop:stream { fd, name, read, write, close, modes, timeout, … }`
func makeStream(_ call: HostCall, options index: Int32) throws -> Int32 {
  try call.requireRoom()
  let options = try call.options(index, streamOptions, example: "{ fd = 0, name = \"stdin\" }")
  guard let fd = try options.integer("fd", in: 0...Int(Int32.max)) else {
    throw call.mistake("needs 'fd', the number of an open descriptor")
  }
  var traits = StreamTraits()
  traits.name = try options.name() ?? (fd < 3 ? ["stdin", "stdout", "stderr"][fd] : "")
  traits.closesDescriptor = try options.boolean("close") ?? (fd > 2)
  traits.canRead = try options.boolean("read") ?? true
  traits.canWrite = try options.boolean("write") ?? true
  traits.modes = try options.modes()
  let limits = try StreamLimits(options)
  do throws(SystemError) {
    let stream = try call.runtime.makeStream(Int32(fd), traits, on: call.stack)
    limits.apply(to: stream)
    try? call.applyCommonOptions(options, to: stream.source)
    return 1
  } catch {
    throw OperatingFailure(
      "\(call.name): descriptor \(fd) cannot be used: \(error.message) (\(error.name))", error.name)
  }
}

/// The options that set a stream's limits and deadlines.
struct StreamLimits {
  private let timeout: Int64?
  private let line: Int?
  private let buffer: Int?
  private let write: Int?

  init(_ options: Options, timeout name: StaticString = "timeout") throws(ScriptMistake) {
    timeout = try options.seconds(name, .positive)
    line = try options.integer("line_limit", in: 1...(1 << 30))
    buffer = try options.integer("buffer_limit", in: 1...(1 << 40))
    write = try options.integer("write_limit", in: 0...(1 << 40))
  }

  func apply(to stream: ScriptStream) {
    stream.readTimeout = timeout
    stream.writeTimeout = timeout
    if let line { stream.state.input.lineLimit = line }
    if let buffer { stream.state.input.limit = buffer }
    if let write { stream.state.outputLimit = write }
  }
}

// MARK: Finding

extension HostCall {
  /// The stream that the method is called on, which must not have been closed.
  @inline(__always)
  func selfStream() throws(ScriptMistake) -> ScriptStream {
    let handle = try selfHandle(kinds.stream)
    if let stream = stream(handle) { return stream }
    throw closed(handle)
  }

  /// The same, or nil if it has ended.
  func openStream() throws(ScriptMistake) -> ScriptStream? {
    let handle = try selfHandle(kinds.stream)
    if let stream = stream(handle) { return stream }
    if !handle.item.isValid { return nil }
    throw closed(handle)
  }

  @inline(__always)
  private func stream(_ handle: LuaHandle) -> ScriptStream? {
    if handle.word != 0 { return nil }
    return handle.withItem(as: Loop.DescriptorSource.self, ScriptStream.of)
  }

  @inline(never)
  private func closed(_ handle: LuaHandle) -> ScriptMistake {
    let end = handle.endedAt.map { "was closed at \(state.text(of: $0))" } ?? "is closed"
    return mistake("\(runtime.label(of: .item(handle.item))) \(end)", hint: "open a new one")
  }

  /// A second task that waited for the same direction would take the first one's bytes.
  @inline(__always)
  func requireFreeReader(_ stream: ScriptStream) throws(ScriptMistake) {
    if stream.isBeingRead { throw taken(stream.reader, stream, "read") }
  }

  @inline(__always)
  func requireFreeWriter(_ stream: ScriptStream) throws(ScriptMistake) {
    if stream.isBeingWritten { throw taken(stream.writer, stream, "write") }
  }

  @inline(never)
  private func taken(_ wait: StreamWait?, _ stream: ScriptStream, _ verb: String) -> ScriptMistake {
    let task = wait?.waiter
    let other = task.map { runtime.label(of: .task($0)) } ?? "another handler"
    let place = task.flatMap(runtime.tasks.placeOfWait).map { state.text(of: $0) } ?? ""
    return mistake(
      "\(stream.label): \(other) waits to \(verb) already\(place.isEmpty ? "" : " (at \(place))")",
      hint: "let one task \(verb), or put a semaphore around it")
  }

  /// Suspends the running code until the stream can go on, or the deadline has come.
  /// - Parameter waiting: Its coroutine, if it is known that that can wait.
  func wait(
    _ wait: StreamWait, _ stream: ScriptStream, _ timeout: Int64?, _ waiting: LuaCoroutine? = nil
  ) throws -> Int32 {
    let coroutine = try requireWaiting(waiting)
    var pending = Wait(.other(wait))
    if let timeout, timeout != .max {
      pending.timer = try deadline(after: timeout, coroutine)
    }
    wait.modes = withRuntime { $0.loopContext.servingModes }
    wait.isActive = true
    do { try stream.settle() } catch {
      wait.isActive = false
      loop.invalidate(pending.timer)
      throw error
    }
    return suspend(pending, coroutine)
  }
}

// MARK: Reading

/// `stream:read([formats...] [, { timeout }])`
/// Also for what stands for a stream, such as a terminal.
func readStream(_ call: HostCall) throws -> Int32 {
  let stream = try call.selfStream()
  var timeout = stream.readTimeout
  let last = try call.deadline(&timeout)
  let formats = try call.formats(2, last)
  return try call.read(stream, formats, timeout)
}

/// `stream:read_some([max] [, { timeout }])`: what is available, at least one byte.
/// Also for what stands for a stream, such as a terminal.
func readSomeOfStream(_ call: HostCall) throws -> Int32 {
  let stream = try call.selfStream()
  var timeout = stream.readTimeout
  let last = try call.deadline(&timeout)
  var most = 1 << 16
  if last >= 2, call.stack.type(2) != .nil {
    guard let count = call.stack.integer(2), count > 0, call.stack.type(2) == .number else {
      throw call.mistake(
        "the number of bytes must be a whole number > 0, got \(call.given(2))")
    }
    most = count
  }
  return try call.read(stream, StreamFormats(first: .some(most)), timeout)
}

extension HostCall {
  /// Reads the options after the other arguments, if there are any.
  /// - Returns: The index of the last argument before them.
  func deadline(_ timeout: inout Int64?) throws -> Int32 {
    let count = count
    guard count >= 2, stack.type(count) == .table else { return count }
    if let given = try timeoutOption(count, example: "{ timeout = 2 }") { timeout = given }
    return count - 1
  }

  /// The formats between two arguments.
  func formats(_ from: Int32, _ last: Int32) throws(ScriptMistake) -> StreamFormats {
    var formats = StreamFormats()
    if last < from { return formats }
    formats.first = try format(from)
    if last > from {
      for index in (from + 1)...last { formats.others.append(try format(index)) }
    }
    return formats
  }

  private func format(_ index: Int32) throws(ScriptMistake) -> StreamFormat {
    switch stack.type(index) {
    case .nil: return .line(keepsNewline: false)
    case .number:
      if let count = stack.integer(index), count >= 0 { return .bytes(count) }
      throw mistake("the number of bytes must be a whole number >= 0, got \(given(index))")
    case .string:
      let found = stack.withBytes(index) { bytes -> StreamFormat? in
        let start = bytes.first == UInt8(ascii: "*") ? 1 : 0
        guard bytes.count == start + 1 else { return nil }
        switch bytes[start] {
        case UInt8(ascii: "l"): return .line(keepsNewline: false)
        case UInt8(ascii: "L"): return .line(keepsNewline: true)
        case UInt8(ascii: "h"): return .lines
        case UInt8(ascii: "a"): return .all
        case UInt8(ascii: "n"): return .number
        default: return nil
        }
      }
      if let found, let format = found { return format }
    default: break
    }
    throw mistake(
      "unknown format \(given(index))",
      hint: "use a number of bytes, \"l\", \"L\", \"h\", \"a\" or \"n\"")
  }

  /// Returns what the formats ask for, now or once it has arrived.
  func read(_ stream: ScriptStream, _ formats: StreamFormats, _ timeout: Int64?) throws -> Int32 {
    guard stream.bytes.canRead else { throw mistake("\(stream.label) is for writing only") }
    try requireFreeReader(stream)
    try requireRoom(stream, formats)
    if stream.bytes.isAwaited { stream.lastReader = currentTask }
    if stream.takeLine(formats, on: stack) { return 1 }
    var waiting: LuaCoroutine?
    while true {
      if let found = stream.find(formats) {
        return Int32(stream.take(found, formats, on: stack))
      }
      if stream.state.isDrained {
        waiting = withRuntime { $0.door.waitingTask(stack.L) }
        if waiting != nil { break }
      }
      let fill = withLoop { stream.bytes.fill(by: $0) }
      if case .nothingNow = fill { break }
      if case .bytes(let count) = fill {
        stream.keep(UnsafeRawBufferPointer(rebasing: withLoop { $0.scratch }[0..<count]))
        if !stream.source.isValid { _ = try selfStream() }
      }
    }
    let reader = stream.makeReader()
    reader.formats = formats
    return try wait(reader, stream, timeout, waiting)
  }

  private func requireRoom(
    _ stream: ScriptStream, _ formats: StreamFormats
  ) throws(ScriptMistake) {
    let limit = stream.state.input.limit
    guard case .bytes(let count) = formats.first, count > limit else { return }
    throw mistake(
      "\(stream.label): \(count) bytes are more than 'buffer_limit' allows, \(limit)",
      hint: "read in parts, or raise the limit")
  }
}

// MARK: Writing

/// `stream:write(…, [{ timeout }])`: the stream, once everything is written or queued within the
/// limit.
/// Also for what stands for a stream, such as a terminal.
func writeStream(_ call: HostCall) throws -> Int32 {
  let stream = try call.selfStream()
  var timeout = stream.writeTimeout
  let last = try call.deadline(&timeout)
  try call.checkWritable(from: 2, through: last)
  try call.requireWritable(stream)
  if stream.state.output.count > stream.state.outputLimit {
    _ = try call.requireWaiting()
  }
  call.runtime.granted.tally?.sent += call.bytes(from: 2, through: last)
  do throws(SystemError) {
    if last == 2 { try call.sendOne(stream) } else { try call.send(stream, last) }
  } catch {
    return Int32(call.stack.push(error, of: stream))
  }
  stream.events?.noteWritten(stream)
  if stream.state.output.isEmpty {
    call.stack.pushValue(1)
    return 1
  }
  return try call.finishWrite(stream, goal: stream.state.outputLimit, timeout)
}

/// `stream:flush([{ timeout }])`: the stream, once nothing is queued any more.
func streamFlush(_ call: HostCall) throws -> Int32 {
  let stream = try call.selfStream()
  var timeout = stream.writeTimeout
  _ = try call.deadline(&timeout)
  guard stream.bytes.canWrite else { throw call.mistake("\(stream.label) is for reading only") }
  try call.requireFreeWriter(stream)
  if let failure = stream.state.writeFailure {
    return Int32(call.stack.push(failure, of: stream))
  }
  return try call.finishWrite(stream, goal: 0, timeout)
}

extension HostCall {
  func requireWritable(_ stream: ScriptStream) throws {
    guard stream.bytes.canWrite else { throw mistake("\(stream.label) is for reading only") }
    if stream.state.isShut {
      throw mistake("\(stream.label): its write side was shut down", hint: "write before shutdown")
    }
    if stream.bytes.isShakingHands, stream.state.writeFailure == nil {
      throw mistake("\(stream.label) is in its TLS handshake", hint: "wait for starttls")
    }
    try requireFreeWriter(stream)
  }

  /// How many bytes the strings have together.
  fileprivate func bytes(from first: Int32, through last: Int32) -> Int {
    first > last ? 0 : (first...last).reduce(0) { $0 + (stack.bytes($1)?.count ?? 0) }
  }

  /// The arguments must be strings, or numbers, which are converted.
  func checkWritable(from first: Int32, through last: Int32) throws(ScriptMistake) {
    var index = first
    while index <= last {
      switch stack.type(index) {
      case .string: break
      case .number: stack.makeString(index)
      default: throw mistake("argument \(index - 1) must be a string, got \(given(index))")
      }
      index += 1
    }
  }

  /// Passes the second argument, the only one, to the stream.
  @inline(__always)
  fileprivate func sendOne(_ stream: ScriptStream) throws(SystemError) {
    guard let bytes = stack.bytes(2) else { return }
    if let failure = withLoop({ stream.bytes.send(by: $0, bytes) }) { throw failure }
  }

  /// Passes the arguments from 2 on to the stream: small ones together, in one system call.
  fileprivate func send(_ stream: ScriptStream, _ last: Int32) throws(SystemError) {
    let scratch = runtime.loop.scratch
    let kernel = loop.kernel
    var gathered = 0
    for index in stride(from: Int32(2), through: last, by: 1) {
      var failure: SystemError?
      _ = stack.withBytes(index) { bytes in
        do throws(SystemError) {
          if bytes.count > scratch.count - gathered || index == last && gathered == 0 {
            try stream.bytes.send(kernel, UnsafeRawBufferPointer(rebasing: scratch[0..<gathered]))
            gathered = 0
          }
          if bytes.count > scratch.count || index == last && gathered == 0 {
            try stream.bytes.send(kernel, bytes)
          } else {
            scratch[gathered...].copyBytes(from: bytes)
            gathered += bytes.count
          }
        } catch { failure = error }
      }
      if let failure { throw failure }
      if stream.state.output.isEmpty { continue }
      stream.chargeQueue()
      if state.mustStop { return }  // one long string may be each of the arguments
    }
    if gathered > 0 {
      try stream.bytes.send(kernel, UnsafeRawBufferPointer(rebasing: scratch[0..<gathered]))
    }
  }

  /// Bytes are queued: the loop holds the stream, and the running code waits if they are too many.
  func finishWrite(_ stream: ScriptStream, goal: Int, _ timeout: Int64?) throws -> Int32 {
    stream.chargeQueue()
    if !stream.state.output.isEmpty {
      runtime.hold(stream, 1, on: stack)
      try stream.settle()
    }
    stack.pushValue(1)
    if stream.state.output.count <= goal { return 1 }
    if goal > 0, state.waitObstacle(stack.L) != nil { return 1 }  // the next write says so
    let writer = stream.makeWriter()
    writer.goal = goal
    writer.handle = LuaReference(popping: stack)
    return try wait(writer, stream, timeout)
  }
}

// MARK: The end

/// `stream:shutdown([what])`: ends writing; what is queued goes out first.
func streamShutdown(_ call: HostCall) throws -> Int32 {
  let stream = try call.selfStream()
  if call.count >= 2, call.stack.type(2) != .nil, call.stack.string(2) != "write" {
    throw call.mistake("the side must be \"write\", got \(call.given(2))")
  }
  guard stream.bytes.canWrite else { throw call.mistake("\(stream.label) is for reading only") }
  stream.bytes.finishTLS(call.loop.kernel)
  stream.state.isShut = true
  stream.finishShutdown()
  if stream.bytes.tls != nil, stream.source.isValid, !stream.state.output.isEmpty {
    call.runtime.hold(stream, 1, on: call.stack)
    try stream.settle()
  }
  call.stack.setCount(1)
  return 1
}

/// `stream:close()`: at once if nothing is queued; otherwise once that is written, without waiting
/// here.
let streamClose: LuaRawFunction = { L, context in
  hostAction(L, context, "stream:close") { call in
    let handle = try call.selfHandle(call.kinds.stream)
    guard handle.word == 0, handle.item.isValid, let stream = ScriptStream.of(handle) else {
      return
    }
    handle.endedAt = call.stack.position
    call.runtime.close(stream)
  }
}
