// Ports in Lua: queues of messages inside one process, with request and reply (D33, D34, R58, R59).

internal import LuaEmbed
internal import MoonloopCore

/// One message: a value, and the port that waits for the answer.
struct PortMessage: Sendable {
  var value: StructuredClone
  var replyPort: Loop.Port?
}

/// How a port calls its handler: `port:on` takes one that wants no handle (D33).
final class PortShape {
  /// It has no handler yet: its messages wait.
  var waitsForHandler = false
  var givesHandle = true
}

private let portOptions: [StaticString] = ["name", "capacity", "modes", "keep_alive", "on_error"]

/// `loop:port { name, capacity, modes, keep_alive, on_error, handler }`
let loopPort: LuaRawFunction = { L, context in
  host(L, context, "port") { call in
    try call.requireLoop()
    return try makePort(call, options: 2, isAdded: true)
  }
}

/// `ml.port { … }`: made, in no mode yet.
let modulePort: LuaRawFunction = { L, context in
  host(L, context, "port") { call in try makePort(call, options: 1, isAdded: false) }
}

private func makePort(_ call: HostCall, options index: Int32, isAdded: Bool) throws -> Int32 {
  let options = try call.options(
    index, portOptions, example: "{ name = \"jobs\", function(port, message, reply) … end }")
  let name = try options.string("name") ?? ""
  let capacity = try options.integer("capacity", in: 1...(1 << 24)) ?? 1 << 16
  let modes = try call.modesOption(options, isAdded: isAdded)
  let hasHandler = try options.pushHandlerOrNil("[1]")
  let port = Loop.Port(name: name, capacity: capacity, handler: call.runtime.doors.message)
  _ = call.push(call.runtime.kinds.port, port)
  call.stack.rotate(-2, 1)
  call.stack.popSlot(1, of: -2)
  let shape = PortShape()
  shape.waitsForHandler = !hasHandler
  port.maker.state = shape
  if !hasHandler { port.setSuspended(true) }  // Messages wait for it.
  try call.applyCommonOptions(options, to: port)
  if isAdded { try call.addNew(port, to: modes) }
  return 1
}

// MARK: Calling out

extension Runtime {
  /// A message has come: the handler gets the port, the message, and a function for the reply.
  func deliver(_ port: Loop.Port, _ message: any Sendable) {
    guard let message = message as? PortMessage else { return }
    let givesHandle = (port.maker.state as? PortShape)?.givesHandle ?? true
    callOut(port) { ref in
      if givesHandle {
        return state.dispatch(ref: ref, slot: 1) { stack in
          push(message, on: stack)
          return 2
        }
      }
      return state.start(push: { stack in
        stack.push(ref: ref)
        stack.pushSlot(1, of: 1)
        stack.rotate(1, -1)
        stack.pop()
        push(message, on: stack)
        return 2
      })
    }
  }

  /// Pushes the message and its reply. [-0, +2]
  private func push(_ message: PortMessage, on stack: LuaStack) {
    message.value.push(on: stack)
    let handle = kinds.reply.push(stack.L)
    handle.pointer = message.replyPort.map { Unmanaged.passRetained($0).toOpaque() }
  }
}

/// The reply of a message was collected.
func releaseReply(_ handle: LuaHandle) {
  guard let pointer = handle.pointer else { return }
  handle.pointer = nil
  Unmanaged<Loop.Port>.fromOpaque(pointer).release()
}

/// `reply(value)`: true; or nil, message, "EPIPE" if nobody waits for it (any more).
let replyCall: LuaRawFunction = { L, context in
  host(L, context, "reply") { call in
    guard let handle = call.runtime.kinds.reply.handle(call.stack.L, 1) else {
      throw call.notSelf("reply")
    }
    let value = try call.clone(2)
    let nobody = OperatingFailure("reply: nobody waits for the reply", "EPIPE")
    guard let pointer = handle.pointer else { throw nobody }
    let port = Unmanaged<Loop.Port>.fromOpaque(pointer).takeUnretainedValue()
    do throws(LoopError) { try port.post(PortMessage(value: value)) } catch { throw nobody }
    call.stack.push(true)
    return 1
  }
}

let replyToString: LuaRawFunction = { L, context in
  host(L, context, "tostring") { call in
    let handle = call.runtime.kinds.reply.handle(call.stack.L, 1)
    call.stack.push(handle?.pointer == nil ? "reply (nobody waits)" : "reply")
    return 1
  }
}

// MARK: Methods

extension HostCall {
  func selfPort() throws(ScriptMistake) -> (LuaHandle, Loop.Port) {
    let handle = try selfHandle(runtime.kinds.port)
    return (handle, handle.item(as: Loop.Port.self))
  }

  /// The value at an index as a message; nil if nothing is there.
  func clone(_ index: Int32) throws(ScriptMistake) -> StructuredClone {
    if count < index { stack.setCount(index) }
    do throws(StructuredClone.Obstacle) { return try StructuredClone(stack, index) } catch {
      if error.isTooLarge {
        throw mistake("the message is larger than \(StructuredClone.sizeLimit) bytes")
      }
      throw mistake("\(error.path) is \(error.what), which cannot be sent")
    }
  }

  /// Puts a message into a port, or says as a value why not (R57, R59).
  func post(_ message: PortMessage, to port: Loop.Port, _ handle: LuaHandle) throws {
    do throws(LoopError) { try port.post(message) } catch {
      if case .portFull = error { throw OperatingFailure("\(name): \(error)", "EAGAIN") }
      throw OperatingFailure(told(invalid(handle)), "EPIPE")
    }
  }
}

/// `port:send(message)`: true; or nil, message, "EAGAIN" if it is full, "EPIPE" if it is invalid.
let portSend: LuaRawFunction = { L, context in
  host(L, context, "port:send") { call in
    let (handle, port) = try call.selfPort()
    try call.post(PortMessage(value: try call.clone(2)), to: port, handle)
    call.stack.push(true)
    return 1
  }
}

/// `port:on("message", handler)`: the handler gets the message and the reply (D33).
let portOn: LuaRawFunction = { L, context in
  host(L, context, "port:on") { call in
    let (handle, port) = try call.selfPort()
    let event = try call.string(2, "the event")
    if event != "message" {
      throw call.mistake("unknown event \"\(event)\"", hint: "use \"message\"")
    }
    try call.function(3, "the handler")
    try call.requireValid(handle)
    call.stack.setCount(3)
    call.stack.popSlot(1, of: 1)
    if let shape = port.maker.state as? PortShape {
      shape.givesHandle = false
      if shape.waitsForHandler { port.setSuspended(false) }
      shape.waitsForHandler = false
    }
    call.loop.deliverHeld(port)
    call.stack.setCount(1)
    return 1
  }
}

let portWaiting: LuaRawFunction = { L, context in
  host(L, context, "waiting") { call in
    call.stack.push(try call.selfPort().1.waiting)
    return 1
  }
}

let portCapacity: LuaRawFunction = { L, context in
  host(L, context, "capacity") { call in
    call.stack.push(try call.selfPort().1.capacity)
    return 1
  }
}

// MARK: Request and reply

private let requestOptions: [StaticString] = ["timeout", "mode"]

/// `port:request(message, { timeout, mode })`: the reply; or nil, message, code (R58, R59).
///
/// Nests a run in a private mode, in which nothing else is served; with `mode`, in that mode.
let portRequest: LuaRawFunction = { L, context in
  host(L, context, "port:request") { call in
    let (handle, port) = try call.selfPort()
    let message = try call.clone(2)
    var timeout: Int64?
    var mode: ModeName?
    if call.stack.type(3) != .none && call.stack.type(3) != .nil {
      let options = try call.options(3, requestOptions, example: "{ timeout = 2 }")
      timeout = try options.seconds("timeout", .notNegative)
      mode = try options.string("mode").map { ModeName($0) }
    }
    if mode == .common {
      throw call.mistake("'common' is a set of modes; name one mode, such as 'default'")
    }
    try call.requireNesting()
    return try call.request(port, handle, message, timeout, mode)
  }
}

/// Where the answer to one request comes in.
private final class Answer {
  var value: StructuredClone?
}

extension HostCall {
  fileprivate func request(
    _ port: Loop.Port, _ handle: LuaHandle, _ message: StructuredClone, _ timeout: Int64?,
    _ chosen: ModeName?
  ) throws -> Int32 {
    let answer = Answer()
    let loop = loop
    let replyPort = Loop.Port(name: "reply", capacity: 1) { _, message in
      answer.value = (message as? PortMessage)?.value
      loop.stop()
    }
    defer { replyPort.invalidate() }
    let mode = chosen ?? ModeName("moonloop.request.\(loop.depth + 1)")
    try loop.add(replyPort, modes: [mode])
    try post(PortMessage(value: message, replyPort: replyPort), to: port, handle)
    // A port of this loop must be served meanwhile, or nobody could answer.
    let isGuest = chosen == nil && port.isOwned(by: loop) && !loop.contains(port, mode: mode)
    if isGuest { try loop.add(port, modes: [mode]) }
    defer { if isGuest && port.isValid { loop.remove(port, modes: [mode]) } }
    let result = runtime.runNested(mode, timeout.flatMap { $0 == .max ? nil : .nanoseconds($0) })
    if let value = answer.value {
      value.push(on: stack)
      return 1
    }
    throw noReply(result, port, handle, timeout)
  }

  private func noReply(
    _ result: RunResult, _ port: Loop.Port, _ handle: LuaHandle, _ timeout: Int64?
  ) -> OperatingFailure {
    if !port.isValid { return OperatingFailure(told(invalid(handle)), "EPIPE") }
    if result == .timedOut {
      let seconds = Double(timeout ?? 0) / 1e9
      return OperatingFailure("no reply within \(LuaText.short(seconds)) s", "ETIMEDOUT")
    }
    return OperatingFailure("no reply: the run that waited for it was stopped", "ECANCELED")
  }
}
