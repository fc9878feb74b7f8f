// What the handles of all items have in common: ending, validity, names, modes (D2, D4, D6, D8).

internal import LuaEmbed
internal import MoonloopCore

/// What a handle of a source, descriptor, observer or port offers in addition to its own entries.
let itemEntries: [LuaEntry] = [
  .method("invalidate", itemInvalidate),
  .method("is_valid") { hostValue($0, $1, "item:is_valid") { try $0.selfItem().item.isValid } },
  .method("modes", itemModes),
  .method("keep_alive") { host($0, $1, "item:keep_alive", itemKeepAlive) },
  .field("name", itemName),
  .field("fires", itemFires),
  .field("on_error", itemOnError, set: itemSetOnError),
  .metamethod("__close", itemInvalidate),
  .metamethod("__tostring", itemToString),
]

// MARK: Finding

extension LuaHandle {
  /// Holds an object until it is collected, or drops it.
  @inline(__always)
  func hold(_ object: AnyObject) { pointer = Unmanaged.passRetained(object).toOpaque() }

  /// The object that it holds, of the class that its kind is for; nil once it was dropped.
  @inline(__always)
  func object<Object: AnyObject>(as type: Object.Type) -> Object? {
    guard let pointer else { return nil }
    return Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Gives the object up; nil: it has done so before.
  @inline(__always)
  func take<Object: AnyObject>(_ type: Object.Type) -> Object? {
    guard let pointer else { return nil }
    self.pointer = nil
    return Unmanaged<Object>.fromOpaque(pointer).takeRetainedValue()
  }

  /// The handle was collected, or its object is not needed any more.
  func drop() { _ = take(AnyObject.self) }

  /// The item of a handle; the handle holds it.
  @inline(__always)
  var item: Loop.Item {
    Unmanaged<Loop.Item>.fromOpaque(pointer!).takeUnretainedValue()
  }

  /// Runs a body on the item without counting a reference: the handle must hold it meanwhile.
  @inline(__always)
  func withItem<Item: Loop.Item, Result>(
    as type: Item.Type, _ body: (Item) throws -> Result
  ) rethrows -> Result {
    try Unmanaged<Item>.fromOpaque(pointer!)._withUnsafeGuaranteedRef(body)
  }

  /// The same with the class of the handle's kind.
  @inline(__always)
  func item<Item: Loop.Item>(as type: Item.Type) -> Item {
    Unmanaged<Item>.fromOpaque(pointer!).takeUnretainedValue()
  }

  /// Where the script invalidated it, if it did.
  var endedAt: LuaPosition? {
    get {
      word == 0
        ? nil : LuaPosition(source: Int32(bitPattern: index), line: Int32(bitPattern: generation))
    }
    nonmutating set {
      guard let newValue else { return }
      index = UInt32(bitPattern: newValue.source)
      generation = UInt32(bitPattern: newValue.line)
      word = 1
    }
  }
}

extension HostCall {
  func selfItem() throws(ScriptMistake) -> LuaHandle {
    guard let handle = itemHandle(1) else { throw notSelf("handle") }
    return handle
  }

  /// The first argument must be a handle of this kind.
  @inline(__always)
  func selfHandle(_ kind: LuaHandleKind) throws(ScriptMistake) -> LuaHandle {
    if let handle = kind.handle(stack.L, 1) { return handle }
    throw notSelf(kind.name)
  }

  /// An error if the item has ended: it names the item, where it was made, and where it ended.
  @inline(__always)
  func requireValid(_ handle: LuaHandle) throws(ScriptMistake) {
    if !handle.withItem(as: Loop.Item.self, \.isValid) { throw invalid(handle) }
  }

  @inline(never)
  func invalid(_ handle: LuaHandle) -> ScriptMistake {
    let label = runtime.label(of: .item(handle.item))
    let end = handle.endedAt.map { "was invalidated at \(state.text(of: $0))" } ?? "has ended"
    return mistake("\(label) \(end)", hint: "make a new one")
  }
}

// MARK: Life

extension HostCall {
  /// Makes a handle for an item; it holds the item. Call `requireOpen` first. [-0, +1]
  func push<Kind: ItemKind>(_ kind: Kind, _ item: Kind.Item) {
    kind.seat.handles!.push(stack.L).hold(item)
    runtime.handles.note(
      item, of: kind, madeAt: stack.position, generation: runtime.generations.making)
  }

  /// The same for an item with handlers, which are on top of the stack in the order of their slots.
  /// [-handlers, +1]
  func push<Kind: ItemKind>(_ kind: Kind, _ item: Kind.Item, handlers: Int32) {
    push(kind, item)
    stack.rotate(-handlers - 1, 1)  // the handle below its functions
    for slot in (1...handlers).reversed() { stack.popSlot(slot, of: -slot - 1) }
  }

  /// Adds the item whose handle is at an index to modes; the loop holds the handle then (D4).
  func add(_ item: Loop.Item, _ index: Int32, to modes: [ModeName]) throws {
    if item.maker.ref == 0 {
      stack.pushValue(index)
      item.maker.ref = stack.popRef()
    }
    defer { runtime.letGoIfNowhere(item) }
    try loop.add(item, modes: modes)
  }

  /// The last step of `loop:x { … }` and `ml.x { … }`: reads the options of all items for the one
  /// whose handle is on top, and adds it to modes; nil: to none.
  func finish(_ item: Loop.Item, _ options: Options?, modes: [ModeName]?) throws -> Int32 {
    do {
      if let options { try applyCommonOptions(options, to: item) }
      if let modes { try add(item, stack.absolute(-1), to: modes) }
    } catch {
      runtime.end(item)
      throw error
    }
    return 1
  }

  /// Reads the options of all items, `on_error` and `keep_alive`, for the item whose handle is on
  /// top.
  func applyCommonOptions(_ options: Options, to item: Loop.Item) throws(ScriptMistake) {
    if try options.boolean("keep_alive") == false { loop.setKeepsAlive(item, false) }
    if let onError = try options.reference("on_error") {
      runtime.handles.setOnError(of: item, onError)
    }
  }

  /// The modes of a new item: `default` if none are given. `ml.x` takes none (D9): nil.
  func modesOption(_ options: Options, _ entry: ItemEntry) throws(ScriptMistake) -> [ModeName]? {
    let modes = try options.modes()
    if entry == .loop { return modes ?? [.default] }
    if modes == nil { return nil }
    let method = "\(name)".dropFirst(3)
    throw mistake("'modes' is for loop:\(method)", hint: "give the modes to loop:add")
  }
}

/// The entry that makes an item: `loop:x`, which adds it too, or `ml.x`.
enum ItemEntry {
  case loop, module

  /// The index of its options: a method has the loop before them.
  var options: Int32 { self == .loop ? 2 : 1 }
}

extension Runtime {
  /// Ends an item; the script may still have its handle.
  func end(_ item: Loop.Item) {
    item.invalidate()
    noteEnd(of: item)
  }

  /// The item has ended: nothing holds it any more.
  func noteEnd(of item: Loop.Item) {
    let kind = itemKinds[item]
    kind.ended(item)
    if item.maker.ref > 0 { state.stack.dropRef(item.maker.ref) }
    item.maker.ref = 0
    if !type(of: kind).keepsState { item.maker.state = nil }
    handles.forget(item)
  }

  /// Lets only the script hold an item that is in no mode any more.
  ///
  /// It may still be called in the current stage (R37, R45), so it stays known while it lives.
  func letGoIfNowhere(_ item: Loop.Item) {
    guard item.maker.ref > 0, !item.hasOwner else { return }
    let stack = state.stack
    stack.push(ref: item.maker.ref)
    stack.makeKnown(Unmanaged.passUnretained(item).toOpaque())
    stack.pop()
    stack.dropRef(item.maker.ref)
    item.maker.ref = 0
  }

  /// The reference of an item's handle for a call-out; 0 if it was collected.
  func borrowRef(of item: Loop.Item) -> Int32 {
    let stack = state.stack
    guard item.maker.ref == 0, stack.pushKnown(Unmanaged.passUnretained(item).toOpaque()) else {
      return 0
    }
    return stack.popRef()
  }

  /// A handle was collected: its item, which is in no mode, ends with it. At the end of the state
  /// items that are in modes end too, without another call-out.
  func release(_ handle: LuaHandle) {
    guard let pointer = handle.pointer else { return }
    handle.pointer = nil
    let item = Unmanaged<Loop.Item>.fromOpaque(pointer).takeRetainedValue()
    item.maker.ref = -1
    item.invalidate()
    itemKinds[item].collected(item)
    handles.forget(item, isCollected: true)
    item.maker.state = nil
  }

  /// Ends every item and timer that scripts made, and cancels all requests.
  func invalidateAll() {
    for item in handles.items { end(item) }
    for timer in handles.timers(of: loop, madeBy: context) { loop.invalidate(timer) }
    for request in requests.waiting.values { requests.cancel(request) }
  }

  // MARK: Calling out

  /// Calls a handler of an item: the function in a user value of its handle.
  @inline(__always)
  func callOut(_ item: Loop.Item, _ dispatch: (_ ref: Int32) -> DispatchOutcome) {
    let outer = running
    running = Running(item: item)
    let held = item.makerRef
    // It was removed from its modes before its turn came.
    let borrowed = held > 0 ? 0 : borrowRef(of: item)
    if held + borrowed > 0 {
      let outcome = dispatch(held + borrowed)
      if case .returned = outcome {} else { tasks.settle(outcome, .item(item)) }
      if borrowed > 0 { state.stack.dropRef(borrowed) }
    }
    running = outer
  }

  /// The same for frequent calls: with the handle only, or with an interned name. There is no
  /// closure in between, which would count references.
  @inline(__always)
  func callOut(_ item: Loop.Item, slot: Int32, argument: Int32 = 0) {
    let outer = running
    running = Running(item: item)
    let ref = item.makerRef
    if ref > 0 {
      let outcome = door.dispatch(ref, slot, argument)
      if case .returned = outcome {} else { tasks.settle(outcome, .item(item)) }
    } else {
      callOutUnheld(item, slot, argument)
    }
    running = outer
  }

  @inline(never)
  private func callOutUnheld(_ item: Loop.Item, _ slot: Int32, _ argument: Int32) {
    callOutUnheld(item) { door.dispatch($0, slot, argument) }
  }

  /// The same for an item that was removed from its modes before its turn came.
  @inline(never)
  private func callOutUnheld(_ item: Loop.Item, _ dispatch: (_ ref: Int32) -> DispatchOutcome) {
    let ref = borrowRef(of: item)
    if ref == 0 { return }
    let outcome = dispatch(ref)
    if case .returned = outcome {} else { tasks.settle(outcome, .item(item)) }
    state.stack.dropRef(ref)
  }
}

extension LuaDoor {
  /// Calls a handler with the handle, and with the value of a reference if it is not 0.
  @inline(__always)
  fileprivate func dispatch(_ ref: Int32, _ slot: Int32, _ argument: Int32) -> DispatchOutcome {
    argument == 0
      ? dispatch(ref: ref, slot: slot) : dispatch(ref: ref, slot: slot, argument: argument)
  }
}

// MARK: Methods

let itemInvalidate: LuaRawFunction = { L, context in
  hostAction(L, context, "item:invalidate") { call in
    let handle = try call.selfItem()
    let item = handle.item
    if item.isValid {
      if call.runtime.generations.load?.release(item) ?? false { return }
      handle.endedAt = call.stack.position
      call.runtime.end(item)
    }
  }
}

func itemKeepAlive(_ call: HostCall) throws -> Int32 {
  let handle = try call.selfItem()
  let holds = try call.boolean(2)
  try call.requireValid(handle)
  call.loop.setKeepsAlive(handle.item, holds)
  call.stack.setCount(1)
  return 1
}

let itemModes: LuaRawFunction = { L, context in
  host(L, context, "item:modes") { call in
    call.pushNames(call.loop.modes(of: try call.selfItem().item))
    return 1
  }
}

// MARK: Fields

let itemName: LuaRawFunction = { L, context in
  hostValue(L, context, "item.name") { try $0.selfItem().item.name }
}

let itemFires: LuaRawFunction = { L, context in
  hostValue(L, context, "item.fires") { Int(try $0.selfItem().item.callouts) }
}

let itemOnError: LuaRawFunction = { L, context in
  hostValue(L, context, "item.on_error") {
    $0.runtime.handles.onError(of: try $0.selfItem().item)
  }
}

let itemSetOnError: LuaRawFunction = { L, context in
  hostAction(L, context, "item.on_error") { call in
    let handle = try call.selfItem()
    let handler = try call.handlerReference(2)
    try call.requireValid(handle)
    call.runtime.handles.setOnError(of: handle.item, handler)
  }
}

let itemToString: LuaRawFunction = { L, context in
  hostValue(L, context, "tostring") { call in
    let handle = try call.selfItem()
    let label = call.runtime.label(of: .item(handle.item))
    let end =
      handle.item.isValid
      ? "" : handle.endedAt.map { ", invalidated at \(call.state.text(of: $0))" } ?? ", ended"
    return label + end
  }
}
