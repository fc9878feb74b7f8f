// The records of all timers of a loop, in slots used again: the memory that firing touches.

internal import Synchronization

/// Names a timer of one loop: its slot and the generation of the slot, so that a stale name is
/// harmless. Zero names none.
@usableFromInline
package struct TimerID: Hashable, Sendable, BitwiseCopyable {
  @usableFromInline package let rawValue: UInt64
  @inlinable
  package init(rawValue: UInt64) { self.rawValue = rawValue }
  @inlinable
  package init(slot: Int, generation: UInt32) {
    rawValue = UInt64(generation) << 32 | UInt64(truncatingIfNeeded: slot)
  }
  /// Names a turn, which has no slot.
  init(turn number: UInt64) { rawValue = (number >> 31) << 32 | 1 << 31 | number & 0x7fff_ffff }
  package var isTurn: Bool { rawValue & 1 << 31 != 0 }
  /// The number of the turn, if it is one.
  var turn: UInt64? { isTurn ? (rawValue >> 32) << 31 | rawValue & 0x7fff_ffff : nil }
  @inlinable package var slot: Int { Int(truncatingIfNeeded: rawValue & 0xffff_ffff) }
  @inlinable package var generation: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }
}

/// What the loop calls when a timer fires and when it ends.
package struct TimerActions: BitwiseCopyable {
  /// Called on each fire with how many fires were coalesced into it.
  package typealias Fire =
    @convention(c) (
      _ context: UnsafeMutableRawPointer, _ payload: Int32, _ id: UInt64, _ missed: Int64
    ) -> Void
  /// Called once when the timer is invalid and no callback of it is under way: releases what the
  /// two words stand for. `isNoted` is its flag `noted`.
  package typealias Release =
    @convention(c) (
      _ context: UnsafeMutableRawPointer, _ payload: Int32, _ id: UInt64, _ isNoted: Bool
    ) -> Void

  /// Called when the timer may fire soon, to ask the processor for what that will need.
  package typealias Prefetch =
    @convention(c) (
      _ context: UnsafeMutableRawPointer, _ payload: Int32, _ isNext: Bool
    ) -> Void

  let fire: Fire
  let release: Release
  let prefetch: Prefetch?

  /// Makes the actions of one sort of timers. The memory is never freed: there is one of each sort
  /// in a program.
  package static func make(
    fire: Fire, release: Release = { _, _, _, _ in }, prefetch: Prefetch? = nil
  ) -> UnsafePointer<TimerActions> {
    let pointer = UnsafeMutablePointer<TimerActions>.allocate(capacity: 1)
    pointer.initialize(to: TimerActions(fire: fire, release: release, prefetch: prefetch))
    return UnsafePointer(pointer)
  }
}

/// Plain functions and two words for them, so that a record holds no reference and a fire counts
/// none.
package struct TimerCallout: BitwiseCopyable {
  /// Behind a pointer, so that the record fits into a cache line.
  package var actions: UnsafePointer<TimerActions>
  package var context: UnsafeMutableRawPointer
  package var payload: Int32

  package init(
    _ actions: UnsafePointer<TimerActions>, context: UnsafeMutableRawPointer, payload: Int32 = 0
  ) {
    self.actions = actions
    self.context = context
    self.payload = payload
  }
}

package struct TimerFlags: OptionSet, BitwiseCopyable {
  package let rawValue: UInt16
  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package static let valid = TimerFlags(rawValue: 1 << 0)
  /// Its callback is under way (R75).
  package static let firing = TimerFlags(rawValue: 1 << 1)
  /// Its date was set while its callback was under way (R76).
  static let moved = TimerFlags(rawValue: 1 << 2)
  /// It does not hold a run.
  package static let idle = TimerFlags(rawValue: 1 << 3)
  /// It is a common item (R91).
  package static let common = TimerFlags(rawValue: 1 << 4)
  /// A handler of it is suspended: fires are coalesced (D59).
  package static let suspended = TimerFlags(rawValue: 1 << 5)
  /// Its date is one of the wall clock.
  package static let wallClock = TimerFlags(rawValue: 1 << 6)
  /// It fires again, although its callback is under way and it is one-shot.
  static let rearmed = TimerFlags(rawValue: 1 << 7)
  /// Its owner remembers more of it elsewhere, and is called at its end.
  package static let noted = TimerFlags(rawValue: 1 << 9)
  /// It is the record of a `Loop.Timer`.
  package static let object = TimerFlags(rawValue: 1 << 8)
}

/// What a fire reads and writes of a timer: one line of the cache, 64 bytes.
package struct TimerRecord: BitwiseCopyable {
  package var date: Int64
  package var interval: Int64  // 0: fires once
  var modes: ModeMask
  package var missed: Int64  // coalesced and not reported yet
  package var callout: TimerCallout
  package var fires: UInt32
  package var generation: UInt32
  package var flags: TimerFlags
}

/// What a loop remembers of its timers beside their records. Loop thread only.
struct TimerState {
  /// How many timers there may be.
  var limit = TimerQueue.slotLimit
  /// A nested run has parked timers whose callbacks were under way.
  var wasParked = false
  /// How many callbacks under way were fired by hand while the loop did not run.
  var firedByHand = 0
  /// The number of the turn that was made last.
  var lastTurn: UInt64 = 0
  /// The modes of the turns that do not wait in the default mode alone.
  var turnModes: [UInt64: [Int]] = [:]
  var farModes = FarModes()
  /// The slots of common items.
  var common: Set<Int32> = []
  var wallClock = WallClockDates()
  var batchLeavers = BatchLeavers()
  var batchMoves = BatchMoves()
  /// By slot; noted while the loop is traced.
  var histories: [Int: TimerHistory] = [:]
}

/// The slots of a loop's timers. Loop thread only.
package struct TimerStore {
  package let records = Table<TimerRecord>()
  private let free = Table<Int32>()
  /// The slots of the timers whose callbacks are under way.
  let firing = Table<Int32>()
  /// The turns whose callbacks are under way.
  let servedTurns = Table<Turn>()
  /// By slot, as far as any timer is or was tolerant.
  private let tolerances = Table<Int64>()
  /// Where the generations of a slot begin: elsewhere for each store, so that the name of a timer
  /// of another loop is stale here.
  private let firstGeneration: UInt32

  private static let stores = Atomic<UInt32>(0)

  init() {
    // A slot is used again 65,536 times before it meets the names of the next store's.
    firstGeneration = (Self.stores.add(1, ordering: .relaxed).oldValue &<< 16) | 1
  }

  func deallocate() {
    records.deallocate()
    free.deallocate()
    firing.deallocate()
    servedTurns.deallocate()
    tolerances.deallocate()
  }

  /// A slot for a new timer; nil when there are `limit` slots and none is free.
  @inline(__always)
  func make(
    date: Int64, interval: Int64, tolerance: Int64, callout: TimerCallout,
    limit: @autoclosure () -> Int
  ) -> TimerID? {
    var record = TimerRecord(
      date: notTooEarly(date, interval: interval), interval: max(0, interval), modes: ModeMask(),
      missed: 0,
      callout: callout,
      fires: 0, generation: firstGeneration, flags: .valid)
    let slot: Int
    if free.count > 0 {
      slot = Int(free[free.count - 1])
      free.removeLast()
      record.generation = records[slot].generation
      records[slot] = record
    } else {
      slot = records.count
      guard slot < limit() else { return nil }
      records.append(record)
    }
    if tolerance > 0 || slot < tolerances.count { setTolerance(slot, tolerance) }
    return TimerID(slot: slot, generation: record.generation)
  }

  /// Whether another timer would get a slot.
  package func hasRoom(upTo limit: Int) -> Bool { free.count > 0 || records.count < limit }

  /// Gives a slot back; the names of it are stale from now on.
  @inline(__always)
  func release(_ slot: Int) {
    records[slot].generation &+= 1
    if records[slot].generation == 0 { records[slot].generation = 1 }
    records[slot].flags = []
    free.append(Int32(slot))
  }

  /// The slot of a timer that still exists.
  @inline(__always)
  package func slot(of id: TimerID) -> Int? {
    let slot = id.slot
    guard slot < records.count, records[slot].generation == id.generation,
      records[slot].flags.contains(.valid)
    else { return nil }
    return slot
  }

  /// How many callbacks of timers and turns are under way.
  @inline(__always)
  var served: Int { firing.count + servedTurns.count }

  /// What is called for a timer, or for the turn that is served now.
  package func callout(of id: TimerID) -> TimerCallout {
    id.isTurn ? servedTurns[servedTurns.count - 1].callout : records[id.slot].callout
  }

  /// Whether more is remembered of a timer elsewhere; nil if it does not exist any more.
  package func isNoted(_ id: TimerID) -> Bool? {
    guard let slot = slot(of: id) else { return nil }
    return records[slot].flags.contains(.noted)
  }

  /// How late the timer in a slot may be on purpose.
  package func tolerance(_ slot: Int) -> Int64 { slot < tolerances.count ? tolerances[slot] : 0 }

  @inline(never)
  func setTolerance(_ slot: Int, _ tolerance: Int64) {
    tolerances.extend(to: slot + 1, with: 0)
    tolerances[slot] = tolerance
  }
}
