// Every handle of a state, from its making on: kind, name, and the file:line that made it.

package import LuaEmbed
package import MoonloopCore

/// What is remembered of a handle besides what the core knows.
package struct HandleInfo {
  package var kind: StaticString
  package var name: String
  /// Where the script made it.
  package var madeAt: LuaPosition
  /// The registry reference of its userdata; 0 while the script alone holds it.
  package var ref: Int32 = 0
  /// The handler of its errors, if it has one of its own (D24).
  package var onError: LuaReference?
  /// Where it was invalidated, if it was.
  package var endedAt: LuaPosition?
}

/// The handles of one state. Loop thread only.
package final class Handles {
  /// Timers by slot: plain words, since there may be a million.
  private let timerPlaces = Table<LuaPosition>()
  private var timerNames: [TimerID: String] = [:]
  private var timerErrors: [TimerID: LuaReference] = [:]
  package private(set) var items: [ObjectIdentifier: (item: Loop.Item, info: HandleInfo)] = [:]

  package init() {}

  deinit { timerPlaces.deallocate() }

  // MARK: Timers

  @inline(__always)
  package func note(timer id: TimerID, madeAt place: LuaPosition) {
    if id.slot >= timerPlaces.count { timerPlaces.extend(to: id.slot + 1, with: .nowhere) }
    timerPlaces[id.slot] = place
  }

  package func setName(ofTimer id: TimerID, _ name: String) { timerNames[id] = name }
  package func name(ofTimer id: TimerID) -> String { timerNames[id] ?? "" }
  package func place(ofTimer id: TimerID) -> LuaPosition { timerPlaces[id.slot] }

  package func setOnError(ofTimer id: TimerID, _ handler: LuaReference?) {
    timerErrors[id] = handler
  }
  package func onError(ofTimer id: TimerID) -> LuaReference? { timerErrors[id] }

  package func forget(timer id: TimerID) {
    timerNames[id] = nil
    timerErrors[id] = nil
  }

  // MARK: Items

  package func note(_ item: Loop.Item, _ info: HandleInfo) {
    items[ObjectIdentifier(item)] = (item, info)
  }

  package func info(of item: Loop.Item) -> HandleInfo? { items[ObjectIdentifier(item)]?.info }

  package func update(_ item: Loop.Item, _ change: (inout HandleInfo) -> Void) {
    guard var entry = items[ObjectIdentifier(item)] else { return }
    change(&entry.info)
    items[ObjectIdentifier(item)] = entry
  }

  package func forget(_ item: Loop.Item) { items[ObjectIdentifier(item)] = nil }

  /// Invalidates every item and every timer of the loop that a script made.
  package func invalidateAll(on loop: Loop) {
    for (item, _) in items.values { invalidate(item) }
    items = [:]
    for slot in 0..<loop.timers.records.count {
      let record = loop.timers.records[slot]
      if record.flags.contains(.valid) && !record.flags.contains(.object) {
        loop.invalidate(TimerID(slot: slot, generation: record.generation))
      }
    }
  }
}

/// Ends an item whatever it is.
package func invalidate(_ item: Loop.Item) {
  switch item {
  case let source as Loop.Source: source.invalidate()
  case let port as Loop.Port: port.invalidate()
  case let descriptor as Loop.DescriptorSource: descriptor.invalidate()
  case let observer as Loop.Observer: observer.invalidate()
  case let timer as Loop.Timer: timer.invalidate()
  default: break
  }
}
