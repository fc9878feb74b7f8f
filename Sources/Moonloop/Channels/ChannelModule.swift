// Channels in Lua: `ml.channel`, and what its handle offers.

internal import LuaEmbed
internal import MoonloopCore

let channelEntries: [LuaEntry] = [
  .method("send") { host($0, $1, "channel:send", channelSend) },
  .method("try_send") { host($0, $1, "channel:try_send", channelTrySend) },
  .method("receive") { host($0, $1, "channel:receive", channelReceive) },
  .method("try_receive") { host($0, $1, "channel:try_receive", channelTryReceive) },
  .method("items") { host($0, $1, "channel:items", channelItems) },
  .method("close") {
    hostAction($0, $1, "channel:close") { try $0.selfChannel().close($0.runtime) }
  },
  .method("invalidate", channelInvalidate),
  .method("is_valid") {
    hostValue($0, $1, "channel:is_valid") { !(try $0.selfChannel().isClosed) }
  },
  .field("name") { hostValue($0, $1, "channel.name") { try $0.selfChannel().name } },
  .field("capacity") { hostValue($0, $1, "channel.capacity") { try $0.selfChannel().capacity } },
  .field("count", channelCount),
  .metamethod("__len", channelCount),
  .metamethod("__close", channelInvalidate),
  .metamethod("__tostring") { hostValue($0, $1, "tostring", channelToString) },
]

private let channelOptions: [StaticString] = ["capacity", "name"]

/// `ml.channel(capacity)`, `ml.channel { capacity, name }`
func moduleChannel(_ call: HostCall) throws -> Int32 {
  try call.requireRoom(for: .channels)
  var name = HandleName.none
  var capacity = 0
  let limit = 0...(1 << 24)
  switch call.stack.type(1) {
  case .none, .nil: break
  case .table:
    let options = try call.options(1, channelOptions, example: "{ capacity = 16 }")
    capacity = try options.integer("capacity", in: limit) ?? 0
    if let text = try options.name() { name = HandleName(text, call.state) }
  default: capacity = try call.stack.integer(1, "the capacity", in: limit)
  }
  let channel = ScriptChannel(
    name: name, capacity: capacity, madeAt: call.stack.position,
    HandleTally.Place(call.runtime.handles.channels))
  call.runtime.kinds.channel.push(call.stack.L).hold(channel)
  call.stack.newTable()
  call.stack.popSlot(1, of: -2)
  return 1
}

extension HostCall {
  func selfChannel() throws(ScriptMistake) -> ScriptChannel {
    let handle = try selfHandle(runtime.kinds.channel)
    return handle.object(as: ScriptChannel.self)!
  }

  /// The value at 2 is to be sent.
  fileprivate func requireValue() throws(ScriptMistake) {
    if stack.type(2) == .none || stack.type(2) == .nil {
      throw mistake("the value must not be nil: nil marks the end of a channel")
    }
  }

  /// `{ timeout }` at an index.
  func timeout(_ index: Int32) throws(ScriptMistake) -> Int64? {
    if stack.type(index) == .none || stack.type(index) == .nil { return nil }
    return try timeoutOption(index)
  }

  /// Suspends the current code until there is an answer, or its time is up.
  /// - Parameter make: Begins the wait; called once nothing can fail any more.
  func wait(
    _ coroutine: LuaCoroutine, timeout: Int64?, _ make: () -> ListedWait
  ) throws(ScriptMistake) -> Int32 {
    let timer = timeout.flatMap { $0 == .max ? nil : $0 }
    let deadline = try timer.map { time throws(ScriptMistake) in
      try self.deadline(after: time, coroutine)
    }
    return suspend(Wait(.other(make()), timer: deadline ?? TimerID(rawValue: 0)), coroutine)
  }

  func closed() -> Int32 {
    stack.pushClosed()
    return 3
  }
}

// MARK: Sending

/// `channel:send(value, { timeout })`: true; or nil, message, code.
func channelSend(_ call: HostCall) throws -> Int32 {
  let channel = try call.selfChannel()
  try call.requireValue()
  let timeout = try call.timeout(3)
  let coroutine = try call.requireWaiting()
  return try send(call, into: channel) {
    try call.wait(coroutine, timeout: timeout) { channel.waitToSend(call) }
  }
}

@inline(__always)
private func send(
  _ call: HostCall, into channel: ScriptChannel, whenFull: () throws -> Int32
) throws -> Int32 {
  call.stack.setCount(2)
  switch channel.send(call) {
  case .sent:
    call.stack.push(true)
    return 1
  case .closed: return call.closed()
  case .full: return try whenFull()
  }
}

/// `channel:try_send(value)`: the same at once, or nil, "full", "EAGAIN".
func channelTrySend(_ call: HostCall) throws -> Int32 {
  let channel = try call.selfChannel()
  try call.requireValue()
  return try send(call, into: channel) { throw OperatingFailure("full", "EAGAIN") }
}

// MARK: Receiving

/// `channel:receive { timeout }`: the next value; nil at the end; or nil, message, code.
func channelReceive(_ call: HostCall) throws -> Int32 {
  let channel = try call.selfChannel()
  return try call.receive(channel, timeout: try call.timeout(2))
}

/// The iterator of `items`: gets the channel, and the value before.
let channelNext: LuaRawFunction = { L, context in
  host(L, context, "channel:items") { call in
    try call.receive(try call.selfChannel(), timeout: nil)
  }
}

extension HostCall {
  fileprivate func receive(_ channel: ScriptChannel, timeout: Int64?) throws -> Int32 {
    let coroutine = try requireWaiting()
    switch channel.receive(self) {
    case .received: return 1
    case .ended:
      stack.pushNil()
      return 1
    case .empty: return try wait(coroutine, timeout: timeout) { channel.waitToReceive(self) }
    }
  }
}

/// `channel:try_receive()`: the same at once, or nil, "empty", "EAGAIN".
func channelTryReceive(_ call: HostCall) throws -> Int32 {
  switch try call.selfChannel().receive(call) {
  case .received: return 1
  case .ended:
    call.stack.pushNil()
    return 1
  case .empty: throw OperatingFailure("empty", "EAGAIN")
  }
}

/// `for value in channel:items() do`
func channelItems(_ call: HostCall) throws -> Int32 {
  _ = try call.selfChannel()
  call.stack.push(function: channelNext)
  call.stack.pushValue(1)
  return 2
}

// MARK: The end

let channelInvalidate: LuaRawFunction = { L, context in
  hostAction(L, context, "channel:invalidate") { call in
    let channel = try call.selfChannel()
    channel.close(call.runtime)
    channel.clear(call)
  }
}

// MARK: Fields

let channelCount: LuaRawFunction = { L, context in
  hostValue(L, context, "channel.count") { try $0.selfChannel().count }
}

func channelToString(_ call: HostCall) throws -> some LuaPushable {
  let channel = try call.selfChannel()
  let end = channel.isClosed ? ", closed" : ""
  return "\(channel.label(call.runtime)): \(channel.count) of \(channel.capacity)\(end)"
}
