// Every handle of a state: kind, name, and the file:line that made it.

internal import LuaEmbed
package import MoonloopCore

/// Where a timer was made, and by which generation of the file.
private struct TimerPlace: BitwiseCopyable {
  var position: LuaPosition
  var generation: Int32

  static let nowhere = TimerPlace(position: .nowhere, generation: 0)
}

/// The handles of one state. Loop thread only.
package final class Handles {
  /// What a timer takes outside of Lua's memory. Its room stays when it has ended.
  private static let timerBytes = 128

  private unowned(unsafe) let state: LuaState  // it holds what holds the handles
  /// Timers by slot: plain words, since there may be a million.
  private let timerPlaces = Table<TimerPlace>()
  private var timerNames: [TimerID: String] = [:]
  /// Those of the last timers that have ended, for `loop:why`.
  private var endedNames: [(id: TimerID, name: String)] = []
  private static let keptNames = 16
  /// A longer name, in bytes, is forgotten.
  private static let keptName = 256
  /// Counts the names as script memory.
  private var namesCharge: MemoryCharge?
  private var namesSize = 0 {
    didSet { if namesSize != oldValue { state.charge(namesSize, to: &namesCharge) } }
  }
  private var timerErrors: [TimerID: LuaReference] = [:]
  /// The valid items; each is held by its handle, and knows its place here.
  private var itemList: ContiguousArray<Unmanaged<Loop.Item>> = []
  private var itemErrors: [ObjectIdentifier: LuaReference] = [:]
  /// References of collected handles: freed later, because a collector may run at any moment.
  private var orphans: [LuaReference] = []

  /// Limits for the handles of each group; see `HandleGroup`.
  var limit = Int.max
  /// The channels and semaphores that scripts have.
  let channels = HandleTally()
  /// Handles of `ml.fs`, which are objects in Lua.
  let files = HandleTally()
  /// Handles of modules written in Lua, which no item of the loop needs to stand for.
  let others = HandleTally()
  let notifications = HandleTally()

  init(_ state: LuaState) { self.state = state }

  /// How many items there are, not counting timers.
  var itemCount: Int { itemList.count }

  deinit { timerPlaces.deallocate() }

  // MARK: Timers

  /// - Parameter generation: The generation of the file that makes it; 0 if the file is not
  ///   loading.
  @inline(__always)
  func note(timer id: TimerID, madeAt place: LuaPosition, generation: Int32) {
    if id.slot >= timerPlaces.count { makeRoom(forTimers: id.slot + 1) }
    timerPlaces[id.slot] = TimerPlace(position: place, generation: generation)
  }

  @inline(never)
  private func makeRoom(forTimers count: Int) {
    let growth = count - timerPlaces.count
    timerPlaces.extend(to: count, with: .nowhere)
    state.addNative(growth * Self.timerBytes)
  }

  func setPlace(ofTimer id: TimerID, _ place: LuaPosition) {
    timerPlaces[id.slot].position = place
  }

  func setGeneration(ofTimer id: TimerID, _ generation: Int32) {
    timerPlaces[id.slot].generation = generation
  }

  func generation(ofTimer id: TimerID) -> Int32 {
    id.slot < timerPlaces.count ? timerPlaces[id.slot].generation : 0
  }

  func setName(ofTimer id: TimerID, _ name: String) {
    let old = timerNames.updateValue(name, forKey: id)
    namesSize += name.utf8.count - (old?.utf8.count ?? 0)
  }
  func name(ofTimer id: TimerID) -> String {
    timerNames[id] ?? endedNames.last { $0.id == id }?.name ?? ""
  }
  /// Where a timer was made; no place if no script made it.
  func place(ofTimer id: TimerID) -> LuaPosition {
    id.slot < timerPlaces.count ? timerPlaces[id.slot].position : .nowhere
  }

  func setOnError(ofTimer id: TimerID, _ handler: LuaReference?) {
    timerErrors[id] = handler
  }
  func onError(ofTimer id: TimerID) -> LuaReference? { timerErrors[id] }

  func forget(timer id: TimerID) {
    timerErrors[id] = nil
    guard let name = timerNames.removeValue(forKey: id) else { return }
    namesSize -= name.utf8.count
    if name.utf8.count > Self.keptName { return }
    if endedNames.count == Self.keptNames { endedNames.removeFirst() }
    endedNames.append((id, name))
  }

  // MARK: Items

  /// Remembers an item that has a handle, with its kind and where it was made.
  func note<Kind: ItemKind>(
    _ item: Kind.Item, of kind: Kind, madeAt place: LuaPosition, generation: Int32 = 0
  ) {
    if !orphans.isEmpty { orphans = [] }
    item.maker.kind = kind.seat.number
    item.maker.generation = generation
    item.maker.source = place.source
    item.maker.line = place.line
    item.maker.index = Int32(itemList.count)
    if item.hasLongName { namesSize += item.name.utf8.count }
    itemList.append(Unmanaged.passUnretained(item))
  }

  func setPlace(of item: Loop.Item, _ place: LuaPosition) {
    item.maker.source = place.source
    item.maker.line = place.line
  }

  func place(of item: Loop.Item) -> LuaPosition {
    LuaPosition(source: item.maker.source, line: item.maker.line)
  }

  func setOnError(of item: Loop.Item, _ handler: LuaReference?) {
    itemErrors[ObjectIdentifier(item)] = handler
  }

  func onError(of item: Loop.Item) -> LuaReference? {
    itemErrors.isEmpty ? nil : itemErrors[ObjectIdentifier(item)]
  }

  /// An item has ended: removes it from the list.
  /// - Parameter isCollected: Whether the collector asks, so that Lua must not be touched.
  func forget(_ item: Loop.Item, isCollected: Bool = false) {
    let index = Int(item.maker.index)
    if index < 0 { return }
    item.maker.index = -1
    if item.hasLongName { namesSize -= item.name.utf8.count }
    let last = itemList.removeLast()
    if index < itemList.count {
      itemList[index] = last
      last._withUnsafeGuaranteedRef { $0.maker.index = Int32(index) }
    }
    if itemErrors.isEmpty { return }
    if let handler = itemErrors.removeValue(forKey: ObjectIdentifier(item)), isCollected {
      orphans.append(handler)
    }
  }

  /// The valid items, in no particular order.
  package var items: [Loop.Item] {
    Steps.note(itemList.count)
    return itemList.map { $0.takeUnretainedValue() }
  }

  /// The valid timers of scripts, by slot.
  package func timers(
    of loop: Loop, madeBy context: UnsafeMutableRawPointer
  ) -> [TimerID] {
    let records = loop.timers.records
    return (0..<records.count).compactMap { slot in
      let record = records[slot]
      guard record.flags.contains(.valid), !record.flags.contains(.object),
        record.callout.context == context
      else { return nil }
      return TimerID(slot: slot, generation: record.generation)
    }
  }
}

extension Loop.Item {
  /// Whether its name takes more than its handle counts as.
  @inline(__always)
  fileprivate var hasLongName: Bool { name.utf8.count > HandleName.free }
}
