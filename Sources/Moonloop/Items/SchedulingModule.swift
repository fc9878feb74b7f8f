// Items in modes, of any kind, timers too: `loop:add`, `remove`, `contains`, `modes` (D2, D9).

internal import LuaEmbed
internal import MoonloopCore

/// The argument of `loop:add` and the like: a timer, or an item that is an object.
private enum Scheduled {
  case timer(TimerID)
  case item(LuaHandle)
  /// An item that the program made.
  case programItem(Loop.Item)
}

extension HostCall {
  fileprivate func scheduled(_ index: Int32) throws(ScriptMistake) -> Scheduled {
    if let id = timerID(index) { return .timer(id) }
    if let handle = itemHandle(index) { return .item(handle) }
    if let handle = kinds.programItem.handle(stack.L, index) { return .programItem(handle.item) }
    throw mistake("takes a timer, source, fd, observer or port, got \(given(index))")
  }

  /// The modes at an index; `default` if none are given (D62).
  fileprivate func modesArgument(_ index: Int32) throws(ScriptMistake) -> [ModeName] {
    switch stack.type(index) {
    case .none, .nil: [.default]
    default: try modes(index, "the modes")
    }
  }

  /// Pushes a list of names. [-0, +1]
  func pushNames(_ names: [ModeName]) {
    stack.push(list: names) { stack.push(ref: runtime.modeRef($0)) }
  }
}

/// `loop:add(item, modes)`: returns the item.
func loopAdd(_ call: HostCall) throws -> Int32 {
  let scheduled = try call.scheduled(2)
  let modes = try call.modesArgument(3)
  call.stack.setCount(2)
  switch scheduled {
  case .timer(let id):
    if call.loop.timers.slot(of: id) == nil { throw call.invalidTimer() }
    for mode in modes { call.scheduleTimer(id, mode) }
  case .item(let handle):
    try call.requireValid(handle)
    try call.add(handle.item, 2, to: modes)
  case .programItem(let item): try call.loop.add(item, modes: modes)
  }
  return 1
}

/// `loop:remove(item, modes)`: the item stays valid.
func loopRemove(_ call: HostCall) throws -> Int32 {
  let scheduled = try call.scheduled(2)
  let modes = try call.modesArgument(3)
  call.stack.setCount(2)
  switch scheduled {
  case .timer(let id):
    call.loop.remove(id, modes)
    call.letGoOfTimerIfNowhere(id)
  case .item(let handle):
    let item = handle.item
    let equal = call.loop.standIns(for: item, modes: modes)
    call.loop.remove(item, modes: modes)
    for item in equal + [item] { call.runtime.letGoIfNowhere(item) }
  case .programItem(let item): call.loop.remove(item, modes: modes)
  }
  return 1
}

/// `loop:contains(item, mode)`; for `common`, whether it is a common item.
func loopContains(_ call: HostCall) throws -> Int32 {
  let scheduled = try call.scheduled(2)
  let mode =
    call.stack.type(3) == .none ? .default : try call.mode(3)
  switch scheduled {
  case .timer(let id): call.stack.push(call.loop.contains(id, mode))
  case .item(let handle): call.stack.push(call.loop.contains(handle.item, mode: mode))
  case .programItem(let item): call.stack.push(call.loop.contains(item, mode: mode))
  }
  return 1
}

/// `timer:modes()`
func timerModes(_ call: HostCall) throws -> Int32 {
  guard let id = call.timerID(1) else { throw call.notSelf("timer") }
  call.pushNames(call.loop.modeNames(of: id))
  return 1
}

/// `loop:modes()`: each mode that has been used, and how much is in it.
func loopModes(_ call: HostCall) throws -> Int32 {
  let stack = call.stack
  let names = call.loop.modeNames
  stack.newTable(fields: Int32(names.count))
  for name in names {
    guard let mode = call.loop.contents(of: name) else { continue }
    stack.push(ref: call.runtime.modeRef(name))
    stack.newTable(fields: 8)
    stack.setField("common", mode.isCommon)
    stack.setField("timers", mode.timers)
    stack.setField("sources", mode.sources)
    stack.setField("fds", mode.descriptors)
    stack.setField("ports", mode.ports)
    stack.setField("observers", mode.observers)
    stack.setField("blocks", mode.blocks)
    stack.setField("empty", mode.isEmpty)
    stack.rawSet(-3)
  }
  return 1
}
