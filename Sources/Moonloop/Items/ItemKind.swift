// What differs between the kinds of items that scripts make: each kind defines it in one type, in
// the folder of its subject. `ItemKinds` lists them.

internal import LuaEmbed
internal import MoonloopCore

/// A kind of item, such as custom sources or streams. One object per runtime; loop thread only.
///
/// A kind also makes the handlers that the core calls, once for all its items: a closure for each
/// item would cost more than the item.
protocol ItemKind: AnyObject {
  /// The class of its items in the core.
  associatedtype Item: Loop.Item

  /// Its name in messages and in `loop:dump`.
  static var word: String { get }
  /// Its handles; nil if its items are reached through other handles.
  static var handles: ItemHandles? { get }
  /// What makes its items: methods of the loop, and functions of the module.
  static var loopEntries: [LuaEntry] { get }
  static var moduleEntries: [LuaEntry] { get }
  /// Whether its items keep a run going.
  static var holdsRuns: Bool { get }
  /// Whether its items themselves keep a run going at some times only, such as while they are read.
  static var holdsAtTimes: Bool { get }
  /// Whether an item counts as left behind by a test even if the loop does not hold it.
  static var isLeftUnheld: Bool { get }
  /// Whether the state of an item can still be queried after its end.
  static var keepsState: Bool { get }

  var seat: KindSeat { get }
  init(_ seat: KindSeat)

  // MARK: As text

  /// What an item is doing now, in a few words, for `loop:dump`.
  func stateText(of item: Item) -> String
  /// Why an item is not called, for `loop:why`: the first thing in its way.
  func reason(for item: Item) -> String
  /// The same if the loop runs in one of its modes, and none of its handlers waits.
  func obstacle(to item: Item) -> String
  /// What else is waiting behind another obstacle, to be added to that; "" if nothing is.
  func pending(in item: Item) -> String
  /// Why an item has ended, if no script ended it.
  func endText(of item: Item) -> String

  // MARK: The end

  /// An item has ended: drops what it had, and answers the tasks that wait for it.
  func ended(_ item: Item)
  /// The handle of an item was collected, which ends the item. Lua must not be touched.
  func collected(_ item: Item)

  // MARK: Reloading

  /// The name under which its file can make an item again; "" if it cannot.
  func identity(of item: Item) -> String
  /// The file's new generation does not make it: ends it.
  /// - Returns: false if it goes on.
  func endAfterReload(_ item: Item) -> Bool
  /// The file that made it could not be loaded.
  func undo(_ item: Item)
}

/// The handles of a kind.
struct ItemHandles {
  /// How many Lua values a handle keeps, such as its handlers.
  let slots: Int32
  let entries: () -> [LuaEntry]

  init(slots: Int32, _ entries: @autoclosure @escaping () -> [LuaEntry]) {
    (self.slots, self.entries) = (slots, entries)
  }
}

/// What a kind gets from its runtime.
struct KindSeat {
  /// Distinguishes its items from those of other kinds.
  let number: UInt8
  let handles: LuaHandleKind?
  unowned(unsafe) let runtime: Runtime  // it holds the kind, and all items end before it goes

  /// The runtime for the core's handlers, which are called often: no reference is counted.
  var door: Unmanaged<Runtime> { .passUnretained(runtime) }
}

// MARK: - Defaults

extension ItemKind {
  static var loopEntries: [LuaEntry] { [] }
  static var moduleEntries: [LuaEntry] { [] }
  static var holdsRuns: Bool { true }
  static var holdsAtTimes: Bool { false }
  static var isLeftUnheld: Bool { false }
  static var keepsState: Bool { false }

  func reason(for item: Item) -> String {
    let loop = runtime.loop
    if let obstacle = runtime.explanation.obstacle(
      modes: loop.modes(of: item), isCommon: loop.contains(item, mode: .common),
      doing: "be called", state: nil)
    {
      return obstacle + pending(in: item)
    }
    if let task = runtime.explanation.waitingHandler(of: item) {
      return
        "its handler waits \(runtime.tasks.forWhat(task)); nothing is delivered until it returns"
    }
    return obstacle(to: item)
  }

  func pending(in item: Item) -> String { "" }
  func endText(of item: Item) -> String { "it has ended" }
  func ended(_ item: Item) {}
  func collected(_ item: Item) {}
  func identity(of item: Item) -> String { item.name }
  func undo(_ item: Item) { runtime.end(item) }

  func endAfterReload(_ item: Item) -> Bool {
    runtime.end(item)
    return true
  }
}

extension ItemKind {
  var runtime: Runtime { seat.runtime }
  var word: String { Self.word }
}

// MARK: - For callers that do not know the kind

extension ItemKind {
  /// Whether an item is of this kind's class.
  func fits(_ item: Loop.Item) -> Bool { item is Item }

  // Each item has the number of its kind from the start, so its class is known.
  private func own(_ item: Loop.Item) -> Item { unsafeDowncast(item, to: Item.self) }

  func stateText(of item: Loop.Item) -> String { stateText(of: own(item)) }
  func reason(for item: Loop.Item) -> String { reason(for: own(item)) }
  func endText(of item: Loop.Item) -> String { endText(of: own(item)) }
  func ended(_ item: Loop.Item) { ended(own(item)) }
  func collected(_ item: Loop.Item) { collected(own(item)) }
  func identity(of item: Loop.Item) -> String { identity(of: own(item)) }
  func endAfterReload(_ item: Loop.Item) -> Bool { endAfterReload(own(item)) }
  func undo(_ item: Loop.Item) { undo(own(item)) }
}

extension Loop.Item {
  /// What its kind keeps with it; nil once it has ended. The caller must know the kind.
  @inline(__always)
  func state<State: AnyObject>(as type: State.Type) -> State? {
    guard let state = makerState else { return nil }
    return unsafeDowncast(state, to: type)
  }
}
