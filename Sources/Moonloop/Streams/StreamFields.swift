// The smaller methods of streams: lines, the handler of events, deadlines, and queries.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

// MARK: Lines

/// What `stream:lines` returns: each call reads once.
final class StreamLines {
  let formats: StreamFormats
  init(_ formats: StreamFormats) { self.formats = formats }
}

/// `stream:lines([formats...])`: a function for `for`, which ends with the stream.
/// Also for what stands for a stream, such as a terminal.
func linesOfStream(_ call: HostCall) throws -> Int32 {
  let stream = try call.selfStream()
  guard stream.bytes.canRead else { throw call.mistake("\(stream.label) is for writing only") }
  let formats = try call.formats(2, call.count)
  call.kinds.lines.push(call.stack.L).hold(StreamLines(formats))
  call.stack.pushValue(1)
  call.stack.popSlot(1, of: -2)
  return 1
}

/// One step of `for line in stream:lines()`.
let linesNext: LuaRawFunction = { L, context in
  host(L, context, "stream:lines") { call in
    let lines = call.kinds.lines.handle(call.stack.L, 1)?.object(as: StreamLines.self)
    guard let formats = lines?.formats else { throw call.notSelf("lines") }
    call.stack.setCount(1)
    call.stack.pushSlot(1, of: 1)
    call.stack.rotate(1, 1)  // the stream is first, as for its methods
    guard let stream = try call.openStream() else {
      call.stack.pushNil()
      return 1
    }
    let status = try call.read(stream, formats, stream.readTimeout)
    return status < 0 ? status : lineResults(call.stack, count: status)
  }
}

/// The second half of the same, after a wait.
let linesSecond: LuaRawFunction = { L, _ in
  let stack = LuaStack(L: L!)
  // Below the results are the stream and what `lines` returned.
  return lineResults(stack, count: Int32(stack.count) - 2)
}

/// Raises a failure, as `io.lines` does: a loop over lines must not take it for the end. It is a
/// table with message and code.
private func lineResults(_ stack: LuaStack, count: Int32) -> Int32 {
  guard count == 3, stack.type(-3) == .nil, stack.type(-2) == .string else {
    return LuaStatus.results(count)
  }
  if stack.string(-1) == "ECANCELED" { return LuaStatus.results(count) }  // the script closed it
  stack.newTable(fields: 2)
  for (name, index) in [("message", Int32(-4)), ("code", Int32(-3))] {
    stack.push(name)
    stack.pushValue(index)
    stack.rawSet(-3)
  }
  stack.newTable(fields: 1)
  stack.push("__tostring")
  stack.push(function: failureText)
  stack.rawSet(-3)
  stack.popMetatable(of: -2)
  return LuaStatus.raise
}

/// The text of a failure that was raised: its message.
private let failureText: LuaRawFunction = { L, _ in
  let stack = LuaStack(L: L!)
  stack.setCount(1)
  stack.push("message")
  if stack.type(1) == .table { _ = stack.rawGet(1) }
  return 1
}

// MARK: Events

/// `stream:on(handler [, "end"])`: called with events, one a call (R67), or with the end alone.
/// nil: events are not reported.
func streamOn(_ call: HostCall) throws -> Int32 {
  let stream = try call.selfStream()
  if call.stack.type(2) == .nil || call.stack.type(2) == .none {
    stream.events = nil
    stream.source.hasReadAhead = false
    call.runtime.letGoIfIdle(stream)
    stream.settleOrBreak()
  } else {
    try call.function(2, "the handler")
    let isForEnd = try call.isForEnd(3)
    call.stack.setCount(2)
    call.stack.popSlot(1, of: 1)
    call.runtime.hold(stream, 1, on: call.stack)
    let events = StreamEvents(stream, isForEnd: isForEnd)
    stream.events = events
    events.update(stream)
  }
  call.stack.setCount(1)
  return 1
}

extension HostCall {
  /// Which events a handler is for.
  fileprivate func isForEnd(_ index: Int32) throws(ScriptMistake) -> Bool {
    switch stack.type(index) {
    case .none, .nil: return false
    default:
      if stack.string(index) == "end" { return true }
      throw mistake("the events must be \"end\", got \(given(index))", hint: "or leave that out")
    }
  }
}

// MARK: Deadlines

/// `stream:set_timeout(read [, write])`: seconds, or nil for none.
func streamSetTimeout(_ call: HostCall) throws -> Int32 {
  let stream = try call.selfStream()
  let read = try call.limit(2)
  stream.writeTimeout = call.count < 3 ? read : try call.limit(3)
  stream.readTimeout = read
  call.stack.setCount(1)
  return 1
}

extension HostCall {
  fileprivate func limit(_ index: Int32) throws(ScriptMistake) -> Int64? {
    switch stack.type(index) {
    case .none, .nil: return nil
    default: return try seconds(index, "the time", .positive)
    }
  }
}

let streamTimeout: LuaRawFunction = { L, context in
  hostValue(L, context, "stream.timeout") {
    try $0.selfStream().readTimeout.map { Double($0) / 1e9 }
  }
}

let streamSetTimeoutField: LuaRawFunction = { L, context in
  hostAction(L, context, "stream.timeout") { call in
    let stream = try call.selfStream()
    stream.readTimeout = try call.limit(2)
    stream.writeTimeout = stream.readTimeout
  }
}

// MARK: Fields

func streamNumber(_ call: HostCall) throws -> some LuaPushable {
  let handle = try call.selfHandle(call.kinds.stream)
  let source = handle.item(as: Loop.DescriptorSource.self)
  ScriptStream.of(source)?.connection = nil  // the number can be given away now
  return source.isValid ? Int(source.fd) : -1
}

func streamPeer(_ call: HostCall) throws -> Int32 {
  let fd = try call.selfStream().source.fd
  if Sockets.peer(of: fd) == nil { call.stack.pushNil() } else { call.stack.push(peerOf: fd) }
  return 1
}

func streamIsValid(_ call: HostCall) throws -> some LuaPushable {
  let handle = try call.selfHandle(call.kinds.stream)
  return handle.word == 0 && handle.item.isValid
}

func streamKeepAlive(_ call: HostCall) throws -> Int32 {
  let stream = try call.selfStream()
  stream.bytes.setMayHold(try call.boolean(2), call.loop)
  call.stack.setCount(1)
  return 1
}
