// A timer of the batch under way that leaves the mode and comes back before its turn is still one
// of the batch, as in CFRunLoop, which has noted the timers before it fires the first (R74).

/// The timers that have left a mode while they were in its batch. Loop thread only.
struct BatchLeavers {
  private struct Leaver {
    /// The timer as an object, which has another record when it comes back; held, so that no other
    /// one gets its address.
    let object: Loop.Timer?
    let id: TimerID
    let mode: Int
    let key: UInt64
  }
  private var leavers: [Leaver] = []
  var isEmpty: Bool { leavers.isEmpty }

  mutating func note(_ object: Loop.Timer?, _ id: TimerID, mode: Int, key: UInt64) {
    leavers.append(Leaver(object: object, id: id, mode: mode, key: key))
  }

  /// The key that a timer had in the queue of a mode when it left that; nil: it did not.
  mutating func take(_ object: Loop.Timer?, _ id: TimerID, mode: Int) -> UInt64? {
    let found = leavers.lastIndex {
      $0.mode == mode && (object == nil ? $0.id == id : $0.object === object)
    }
    return found.map { leavers.remove(at: $0).key }
  }

  /// The batch of a mode is over.
  mutating func forget(mode: Int) { leavers.removeAll { $0.mode == mode } }
}

/// The timers that were set to a date that had come while they were in a batch: they stand in it by
/// the date of its begin (R136). A batch inside it, of a nested run, has them by their own.
struct BatchMoves {
  private struct Move: Hashable {
    let slot: Int
    let mode: Int
  }
  private var moves: Set<Move> = []
  var isEmpty: Bool { moves.isEmpty }

  mutating func note(_ slot: Int, _ mode: Mode) { moves.insert(Move(slot: slot, mode: mode.index)) }

  /// Forgets those of a mode.
  mutating func take(_ mode: Mode) -> [Int] {
    let taken = moves.filter { $0.mode == mode.index }
    moves.subtract(taken)
    return taken.map(\.slot)
  }
}

extension Loop {
  /// A batch begins inside that of the same mode.
  @inline(never)
  func settleBatchMoves(_ mode: Mode) {
    for slot in timerState.batchMoves.take(mode) where mode.timers.isQueued(slot) {
      mode.timers.moveOutOfBatch(slot, to: timers.records[slot].date)
    }
  }

  /// A timer is about to leave a mode in whose batch it is.
  @inline(never)
  func noteBatchLeaver(_ slot: Int, _ mode: Mode) {
    guard let key = mode.timers.keyInBatch(slot) else { return }
    timerState.batchLeavers.note(object(inSlot: slot), id(inSlot: slot), mode: mode.index, key: key)
  }

  /// A due timer has joined a mode: if it had left its batch, it is in that again.
  @inline(never)
  func rejoinBatch(_ slot: Int, _ mode: Mode) {
    let key = timerState.batchLeavers.take(
      object(inSlot: slot), id(inSlot: slot), mode: mode.index)
    if let key { mode.timers.rejoinBatch(slot, key: key) }
  }

  private func id(inSlot slot: Int) -> TimerID {
    TimerID(slot: slot, generation: timers.records[slot].generation)
  }

  private func object(inSlot slot: Int) -> Timer? {
    let record = timers.records[slot]
    guard record.flags.contains(.object) else { return nil }
    return Unmanaged<Timer>.fromOpaque(record.callout.context).takeUnretainedValue()
  }
}

extension TimerQueue {
  /// Whether a batch is under way.
  @inline(__always)
  var isInBatch: Bool { state.pointee.lateDate != .min }

  /// The order of adding of a timer of the batch under way; nil: it is none of them.
  func keyInBatch(_ slot: Int) -> UInt64? {
    guard isQueued(slot) else { return nil }
    let position = positions[number(slot)]
    return isInBatch(at: position) ? key(at: position) : nil
  }

  /// Puts a due timer that was added again into the batch under way, where it was in that.
  func rejoinBatch(_ slot: Int, key: UInt64) {
    let number = number(slot)
    let position = positions[number]
    if isInBatch(at: position) { return }
    let date = position >= 0 ? heap[Int(position)].date : ring[ringIndex(position)].date
    unqueue(number)
    let entry = Entry(
      date: min(date, state.pointee.lateDate),
      key: key & ~TimerQueue.slotMask | UInt64(number))
    heap.append(entry)
    siftUp(heap.count - 1, entry)
  }
}
