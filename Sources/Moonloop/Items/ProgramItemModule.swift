// Items that the program made in Swift, as scripts see them: one item may have handles in several
// states, whose loops run on several threads.
//
// The thread rule: a script may do with such an item what its own loop may do, and no more. A
// source or port may be on many loops, and itself defines what happens on which. Everything else is
// for the loop that it is on: it is claimed, atomically, before it is touched.

public import LuaEmbed
public import MoonloopCore

/// What a handle of a program's item offers.
let programItemEntries: [LuaEntry] = [
  .method("signal") { hostAction($0, $1, "item:signal", programItemSignal) },
  .method("invalidate", programItemInvalidate),
  .method("is_valid") { hostValue($0, $1, "item:is_valid") { try $0.programItem().isValid } },
  .method("modes") { host($0, $1, "item:modes", programItemModes) },
  .field("name") { hostValue($0, $1, "item.name") { try $0.programItem().name } },
  .field("signalled") { hostValue($0, $1, "item.signalled", programItemSignalled) },
  .field("next_fire", programItemNextFire, set: programItemSetNextFire),
  .metamethod("__close", programItemInvalidate),
  .metamethod("__tostring") { hostValue($0, $1, "tostring", programItemToString) },
]

extension Loop.Item: LuaPushable {
  /// Pushes a handle, the same one while a script holds it. The item remains the program's:
  /// dropping the handle ends nothing. Needs a state that is on a loop.
  public func push(to seat: inout LuaSeat) {
    let stack = seat.take()
    guard let runtime = stack.state.runtime else {
      fatalError("\(label) is handed to a Lua state that is on no loop")
    }
    let pointer = Unmanaged.passUnretained(self).toOpaque()
    if stack.pushKnown(pointer) { return }
    runtime.kinds.programItem.push(stack.L).hold(self)
    stack.makeKnown(pointer)
  }
}

extension LuaState {
  /// Gives scripts an item of the program as a global: they may schedule, signal and end it.
  /// Several states may get the same one.
  public func set(_ name: String, _ item: Loop.Item) {
    guard isUsable("set") else { return }
    item.push(on: stack)
    setGlobal(name, on: stack)
  }
}

extension HostCall {
  func programItem() throws(ScriptMistake) -> Loop.Item {
    try selfHandle(kinds.programItem).item
  }

  /// The item, of the class that this call needs.
  fileprivate func programItem<Kind: Loop.Item>(
    as type: Kind.Type, _ word: String
  ) throws(ScriptMistake) -> Kind {
    let item = try programItem()
    guard let found = item as? Kind else { throw mistake("\(item.label) is not a \(word)") }
    return found
  }

  /// - Throws: `LoopError` if the item was made for another thread.
  fileprivate func atHome(_ item: Loop.Item) throws(LoopError) {
    if !item.isAtHome { throw .madeForAnotherThread(item.label) }
  }

  /// Runs a body while the item is on this loop or on none.
  /// - Throws: `LoopError` if it is on another loop.
  fileprivate func claiming<Result>(_ item: Loop.Item, _ body: () -> Result) throws -> Result {
    try atHome(item)
    if item.isOwned(by: loop) { return body() }
    guard item.claim(for: loop) else { throw LoopError.onAnotherLoop(item.label) }
    defer { item.release() }
    return body()
  }
}

// MARK: Methods

func programItemSignal(_ call: HostCall) throws {
  let source = try call.programItem(as: Loop.Source.self, "source, and cannot be signalled")
  if !source.isValid { throw LoopError.invalidItem(source.label) }
  source.signal()
}

let programItemInvalidate: LuaRawFunction = { L, context in
  hostAction(L, context, "item:invalidate") { call in
    let item = try call.programItem()
    if item.canBeShared {
      try call.atHome(item)
      item.invalidate()
    } else if item.isValid {
      try call.claiming(item) { item.invalidate() }
    }
  }
}

func programItemModes(_ call: HostCall) throws -> Int32 {
  call.pushNames(call.loop.modes(of: try call.programItem()))
  return 1
}

func programItemToString(_ call: HostCall) throws -> some LuaPushable {
  let item = try call.programItem()
  return item.label + (item.isValid ? ", of the program" : ", of the program, ended")
}

// MARK: Fields

func programItemSignalled(_ call: HostCall) throws -> some LuaPushable {
  let source = try call.programItem(as: Loop.Source.self, "source, and is never signalled")
  return source.isValid && source.isSignalled
}

let programItemNextFire: LuaRawFunction = { L, context in
  host(L, context, "item.next_fire") { call in
    let timer = try call.programItem(as: Loop.Timer.self, "timer, and has no date")
    let date = try call.claiming(timer) { timer.nextFire }
    call.stack.push(date: date?.nanoseconds)
    return 1
  }
}

let programItemSetNextFire: LuaRawFunction = { L, context in
  hostAction(L, context, "item.next_fire") { call in
    let timer = try call.programItem(as: Loop.Timer.self, "timer, and has no date")
    let date = try call.seconds(2, "the date", .any)
    if !timer.isValid { throw LoopError.invalidItem(timer.label) }
    try call.claiming(timer) { timer.nextFire = LoopTime(nanoseconds: date) }
  }
}
