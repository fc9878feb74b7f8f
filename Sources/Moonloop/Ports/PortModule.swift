// Ports in Lua: queues of messages between states of one process (D33, D34). Sending and requests
// are in `RequestModule`.

internal import LuaEmbed
internal import MoonloopCore

/// What a port handle offers.
let portEntries: [LuaEntry] =
  [
    .method("send") { host($0, $1, "port:send", portSend) },
    .method("request") { host($0, $1, "port:request", portRequest) },
    .method("on") { host($0, $1, "port:on", portOn) },
    .method("receive") { host($0, $1, "port:receive", portReceive) },
    .field("waiting") { hostValue($0, $1, "port.waiting") { try $0.selfPort().1.waiting } },
    .field("capacity") { hostValue($0, $1, "port.capacity") { try $0.selfPort().1.capacity } },
  ] + itemEntries

/// What the reply of a message offers: it is called.
let replyEntries: [LuaEntry] = [
  .metamethod("__call") { hostValue($0, $1, "reply", replyCall) },
  .metamethod("__tostring") { hostValue($0, $1, "tostring", replyToString) },
]

/// One message: a value, and the right to answer it if it is a request.
final class PortMessage: Parcel {
  let value: StructuredClone
  let reply: ReplyTicket?
  /// The sender's own port, if there can be several senders: the clients of a named port.
  let from: PortRight?

  init(value: StructuredClone, reply: ReplyTicket? = nil, from: PortRight? = nil) {
    (self.value, self.reply, self.from) = (value, reply, from)
  }
}

/// How a port calls its handler: one set by `port:on` does not get the handle (D33).
final class PortShape {
  /// Whether it has no handler: then its messages wait.
  var waitsForHandler = false
  var givesHandle = true
  /// Whether it keeps a run going only while it has a receiver.
  var holdsByHandler = false
  /// Where it sends, if not to itself: the other end of a worker's port.
  var peer: PortRight?
  /// Whether the other end has gone: then it ends after its last message.
  var endsWhenEmpty = false
  /// The task that takes the next message.
  var receiver: ReceiveWait?
  /// What a named port needs; releasing it closes the port.
  var link: PortLink?

  /// The port of a script's item; nil once it has ended.
  static func of(_ port: Loop.Port) -> PortShape? { port.state(as: PortShape.self) }
}

private let portOptions: [StaticString] = [
  "name", "capacity", "modes", "keep_alive", "on_error", "handler",
]

/// `loop:port { name, capacity, modes, keep_alive, on_error, handler }`
let loopPort: LuaRawFunction = { hostLoop($0, $1, "loop:port") { try makePort($0, .loop) } }

/// `ml.port { … }`: made, in no mode yet; with 'over', a port over a broker, written in Lua.
let modulePort: LuaRawFunction = { L, context in
  // `ml.port` is a table that can be called, and is the first argument itself.
  host(L, context, "ml.port") { call in
    guard call.isOverBroker else { return try makePort(call, .module) }
    try call.requireGrant(of: .net)
    return try call.callSource("return require('moonloop.broker')(select(2, ...))")
  }
}

extension HostCall {
  /// Whether the options name a broker.
  fileprivate var isOverBroker: Bool {
    guard stack.type(2) == .table else { return false }
    stack.push("over" as StaticString)
    defer { stack.pop() }
    return stack.rawGet(2) != .nil
  }
}

private func makePort(_ call: HostCall, _ entry: ItemEntry) throws -> Int32 {
  try call.requireRoom()
  let options = try call.options(
    2, portOptions, example: "{ name = \"jobs\", function(port, message, reply) … end }")
  let name = try options.name() ?? ""
  let capacity = try options.integer("capacity", in: 1...(1 << 24)) ?? 1 << 16
  let modes = try call.modesOption(options, entry)
  let hasHandler = try options.pushHandlerOrNil("[1]")
  let kept = try call.remake(
    PortKind.self, name, handlers: 1, options, modes: modes
  ) { $0.capacity == capacity && PortShape.of($0)?.link == nil }
  if let kept {
    call.runtime.setHandler(of: kept, hasHandler)
    return 1
  }
  let kind = call.kind(PortKind.self)
  let port = Loop.Port(name: name, capacity: capacity, parcels: kind.parcel)
  port.arrive(at: call.loop)
  call.push(kind, port, handlers: 1)
  let shape = PortShape()
  shape.waitsForHandler = !hasHandler
  port.maker.state = shape
  if !hasHandler { port.setSuspended(true) }  // messages wait for a handler
  return try call.finish(port, options, modes: modes)
}

extension Runtime {
  /// Pushes the handle of a port whose other end belongs to another state: messages wait in it
  /// until the script listens; from then on it keeps the run going.
  ///
  /// It is in the default mode. [-0, +1]
  func push(_ port: Loop.Port, sendingTo peer: PortRight, on stack: LuaStack) {
    let kind = itemKinds[PortKind.self]
    port.listen(kind.parcel)
    kinds.port.push(stack.L).hold(port)
    handles.note(port, of: kind, madeAt: .nowhere)
    let shape = PortShape()
    shape.waitsForHandler = true
    shape.givesHandle = false
    shape.holdsByHandler = true
    shape.peer = peer
    port.maker.state = shape
    port.setSuspended(true)
    stack.pushValue(-1)
    port.maker.ref = stack.popRef()
    loop.setKeepsAlive(port, false)
    try? loop.add(port)
  }

  /// A port that is made again gains or loses a handler.
  func setHandler(of port: Loop.Port, _ hasHandler: Bool) {
    guard let shape = PortShape.of(port) else { return }
    let (waited, gaveHandle) = (shape.waitsForHandler, shape.givesHandle)
    let setWaits = { [loop] (waits: Bool) in
      if shape.waitsForHandler != waits { port.setSuspended(waits) }
      shape.waitsForHandler = waits
      loop.deliverHeld(port)
    }
    generations.load?.toUndo {
      setWaits(waited)
      shape.givesHandle = gaveHandle
    }
    setWaits(!hasHandler)
    shape.givesHandle = true
  }
}

// MARK: Calling out

extension Runtime {
  /// Something failed at the socket of a port.
  private func report(_ notice: PortNotice, _ port: Loop.Port) {
    report(LuaError(message: notice.text, code: notice.code), .item(port))
    let shape = PortShape.of(port)
    if shape?.endsWhenEmpty ?? false, port.waiting == 0, port.isValid { end(port) }
  }

  /// A message has arrived: the handler gets the port, the message, and a function for the reply.
  func deliver(_ port: Loop.Port, _ parcel: any Parcel) {
    guard let message = parcel as? PortMessage else {
      if let notice = parcel.message as? PortNotice { report(notice, port) }
      return
    }
    let shape = PortShape.of(port)
    defer { if shape?.endsWhenEmpty ?? false, port.waiting == 0 { end(port) } }
    if let receiver = shape?.receiver {
      stopReceiving(port)
      return receiver.finish(message)
    }
    var suspended: LuaCoroutine?
    callOut(port) { ref in
      let outcome = state.dispatch(ref: ref, slot: 1, givesHandle: shape?.givesHandle ?? true) {
        push(message, on: $0)
      }
      switch outcome {
      case .failed, .stopped, .nested: message.reply?.fail()
      case .suspended(let coroutine): suspended = coroutine
      case .returned: break
      }
      return outcome
    }
    if let suspended, let ticket = message.reply, let task = tasks[suspended.index] {
      // After a failure, the handler will not answer.
      task.whenEnded = { task in if task.outcome == .failed { ticket.fail() } }
    }
  }

  /// Pushes the message, its reply, and its sender if that is known. [-0, +n]
  func push(_ message: PortMessage, on stack: LuaStack) -> Int {
    message.value.push(on: stack, pushAttachment: push)
    if let ticket = message.reply {
      kinds.reply.push(stack.L).hold(ticket)
    } else {
      pushNobody(on: stack)
    }
    guard let from = message.from else { return 2 }
    push(.port(from), on: stack)
    return 3
  }

  /// Pushes the reply of all messages that are not requests. [-0, +1]
  private func pushNobody(on stack: LuaStack) {
    if names.nobody == 0 {
      _ = kinds.reply.push(stack.L)
      names.nobody = stack.popRef()
    }
    stack.push(ref: names.nobody)
  }

  /// No task receives the port's messages any more: they wait again.
  func stopReceiving(_ port: Loop.Port) {
    guard let shape = PortShape.of(port), shape.receiver != nil else { return }
    shape.receiver = nil
    if !port.isValid { return }
    port.setSuspended(true)
    if shape.holdsByHandler { loop.setKeepsAlive(port, false) }
  }
}

/// `reply(value)`: true; or nil, message, "EPIPE" if no answer is awaited (any more).
func replyCall(_ call: HostCall) throws -> some LuaPushable {
  guard let handle = call.runtime.kinds.reply.handle(call.stack.L, 1) else {
    throw call.notSelf("reply")
  }
  let value = try call.clone(2)
  guard handle.object(as: ReplyTicket.self)?.answer(value) ?? false else {
    throw OperatingFailure("reply: the request is not waiting for a reply", "EPIPE")
  }
  return true
}

func replyToString(_ call: HostCall) throws -> some LuaPushable {
  let handle = call.runtime.kinds.reply.handle(call.stack.L, 1)
  return handle?.pointer == nil ? "reply (not awaited)" : "reply"
}

// MARK: Methods

extension HostCall {
  func selfPort() throws(ScriptMistake) -> (LuaHandle, Loop.Port) {
    let handle = try selfHandle(runtime.kinds.port)
    return (handle, handle.item(as: Loop.Port.self))
  }
}

/// `port:on("message", handler)`: the handler gets the message and the reply (D33); nil: none.
func portOn(_ call: HostCall) throws -> Int32 {
  let (handle, port) = try call.selfPort()
  let event = try call.string(2, "the event")
  if event != "message" {
    throw call.mistake("unknown event \"\(event)\"", hint: "use \"message\"")
  }
  let isHandler = call.stack.type(3) != .nil
  if isHandler { try call.function(3, "the handler") }
  try call.requireValid(handle)
  call.stack.setCount(3)
  call.stack.popSlot(1, of: 1)
  if let shape = PortShape.of(port) {
    shape.givesHandle = false
    if shape.receiver != nil {
      throw call.mistake("a task receives from the port: it has either that or a handler")
    }
    if shape.waitsForHandler == isHandler { port.setSuspended(!isHandler) }
    shape.waitsForHandler = !isHandler
    if shape.holdsByHandler { call.loop.setKeepsAlive(port, isHandler) }
  }
  call.loop.deliverHeld(port)
  call.stack.setCount(1)
  return 1
}

/// `port:receive { timeout }`: the next message and its reply, for a task; or nil, message, code.
func portReceive(_ call: HostCall) throws -> Int32 {
  let (handle, port) = try call.selfPort()
  let timeout = call.isAbsent(2) ? nil : try call.timeoutOption(2)
  guard port.isValid else { throw OperatingFailure(call.told(call.invalid(handle)), "EPIPE") }
  let coroutine = try call.requireWaiting()
  guard let shape = PortShape.of(port), shape.waitsForHandler else {
    throw call.mistake("the port has a handler, which gets its messages")
  }
  if shape.receiver != nil { throw call.mistake("another task receives from the port") }
  let wait = ReceiveWait(call.runtime, port)
  wait.limit(timeout)
  shape.receiver = wait
  port.setSuspended(false)
  if shape.holdsByHandler { call.loop.setKeepsAlive(port, true) }
  call.loop.deliverHeld(port)
  return try call.wait(wait, coroutine, timeout)
}
