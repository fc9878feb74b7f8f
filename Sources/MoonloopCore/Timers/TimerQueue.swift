// The timers of one mode in the order in which they fire: by date, equal dates by order of adding.
//
// A 4-ary heap of 16-byte entries; what is due at once goes to a ring instead, which is in order by
// itself. During a batch (the timers that fire in one pass) everything that becomes due goes to the
// ring's far end, so the batch is "the heap's first while due, and the ring up to here" (R74).

/// The timers of one mode, identified by their slots in the loop's `TimerStore`. Loop thread only.
package struct TimerQueue {
  /// One queued timer. `key` holds the order of adding in its upper 40 bits, its number below.
  struct Entry: BitwiseCopyable {
    var date: Int64
    var key: UInt64

    @inline(__always) var number: Int { Int(key & TimerQueue.slotMask) }
    @inline(__always) func precedes(_ other: Entry) -> Bool {
      date != other.date ? date < other.date : key < other.key
    }
  }

  struct State: BitwiseCopyable {
    var ringHead = 0  // number of the first entry of the ring; only grows
    var ringFirst = 0  // no live entry of the ring has a lower index
    var nextSequence: UInt64 = 1
    var lateDate = Int64.min  // no date up to this one enters the heap
    var ringLast = Entry(date: .min, key: 0)  // the one that was appended last
    var ringSortedEnd = Int.max  // entries of the ring with lower numbers are in order
    var batchEnd = 0  // entries of the ring with lower numbers belong to the batch under way
    var hasTolerance = false
    var ringLive = 0
    var members = 0
    var postponed = 0  // how many entries of the heap have an earlier date than their timers
  }

  /// Slots are below this.
  package static let slotLimit = (1 << 24) - 1
  static let slotMask: UInt64 = (1 << 24) - 1
  private static let noSlot: UInt64 = slotMask
  private static let absent: Int32 = -1
  private static let parked: Int32 = -2
  private static let numberMask = (1 << 30) - 1

  /// Four siblings share a cache line: the first of all is at the end of its own.
  let heap = Table<Entry>(lead: 3)
  let ring = Table<Entry>()
  /// The keys of the parked, which keep their places among equal dates; few at a time.
  let parkedKeys = Table<UInt64>()
  /// Timers with slots below this are numbered by them, others as they come: then a mode of few
  /// timers is small in a loop of many.
  private let directLimit: Int
  /// That limit in modes that do not hold most timers.
  private static let farLimit = 64
  /// Held by hand: a queue is plain words.
  private let numbers = Unmanaged.passRetained(SlotNumbers())
  /// By number: the index in the heap, `absent`, `parked`, or -3 minus the ring number's low bits.
  let positions = Table<Int32>()
  /// By number: the date of a timer whose entry in the heap has an earlier one, `notPostponed`
  /// for others. An idle timeout that is put off again and again is moved in the heap only when its
  /// old date comes.
  private let laterDates = Table<Int64>(minimumCapacity: 1)
  private static let notPostponed = Int64.min
  let state: UnsafeMutablePointer<State>

  /// - Parameter holdsMost: Whether most timers of the loop are in it.
  package init(holdsMost: Bool = true) {
    directLimit = holdsMost ? .max : Self.farLimit
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  package func deallocate() {
    heap.deallocate()
    ring.deallocate()
    parkedKeys.deallocate()
    positions.deallocate()
    laterDates.deallocate()
    numbers.release()
    state.deallocate()
  }

  /// How many timers are in the mode, parked ones included.
  package var count: Int { state.pointee.members }

  /// Whether a timer is in the mode, queued or parked.
  @inline(__always)
  func contains(_ slot: Int) -> Bool { position(of: slot) != TimerQueue.absent }

  /// Where the timer in a slot stands; see `positions`.
  @inline(__always)
  private func position(of slot: Int) -> Int32 {
    let number = number(slot)
    return number < positions.count ? positions[number] : TimerQueue.absent
  }

  /// The number of the timer in a slot; `Int.max` if it has none.
  @inline(__always)
  func number(_ slot: Int) -> Int {
    slot < directLimit ? slot : Self.number(ofFar: slot, numbers) ?? .max
  }

  @inline(__always)
  func slot(_ number: Int) -> Int {
    number < directLimit ? number : Self.slot(ofFar: number, numbers)
  }

  // Static: a call on an instance would copy the queue to memory first.

  @inline(never)
  private static func number(ofFar slot: Int, _ numbers: Unmanaged<SlotNumbers>) -> Int? {
    numbers._withUnsafeGuaranteedRef { $0.number(slot) }.map { $0 + farLimit }
  }

  @inline(never)
  private static func slot(ofFar number: Int, _ numbers: Unmanaged<SlotNumbers>) -> Int {
    numbers._withUnsafeGuaranteedRef { $0.slot(number - farLimit) }
  }

  @inline(never)
  private static func makeNumber(_ slot: Int, _ numbers: Unmanaged<SlotNumbers>) -> Int {
    numbers._withUnsafeGuaranteedRef { $0.makeNumber(slot) } + farLimit
  }

  /// The earliest date, `Int64.max` if there is none.
  package var firstDate: Int64 {
    var earliest = Int64.max
    if state.pointee.ringLive > 0 {
      for index in state.pointee.ringFirst..<ring.count where isLive(ring[index]) {
        earliest = min(earliest, ring[index].date)
        if state.pointee.ringSortedEnd == .max { break }
      }
    }
    if heap.isEmpty || heap[0].date >= earliest { return earliest }
    settleFirst()
    return min(earliest, heap[0].date)
  }

  /// Puts a timer into the queue: after those of the same date, or, if it was parked, back to its
  /// place among them.
  /// - Parameter isDue: Whether the date has come already, by what the loop knows of the time.
  @inline(__always)
  package func insert(_ slot: Int, date: Int64, isDue: Bool) {
    let number = slot < directLimit ? slot : Self.makeNumber(slot, numbers)
    if number >= positions.count {
      positions.extend(to: number + 1, with: TimerQueue.absent)
    }
    let isNew = positions[number] == TimerQueue.absent
    if isNew { state.pointee.members += 1 }
    let key = isNew ? takeSequence() << 24 | UInt64(number) : takeParkedKey(number)
    let entry = Entry(date: date, key: key)
    if isDue || date <= state.pointee.lateDate {
      appendToRing(entry)
    } else {
      heap.append(entry)
      siftUp(heap.count - 1, entry)
    }
  }

  /// Removes a timer from the mode.
  /// - Returns: false if it was not there.
  @discardableResult
  @inline(__always)
  package func remove(_ slot: Int) -> Bool {
    let number = number(slot)
    guard number < positions.count, positions[number] != TimerQueue.absent else { return false }
    if positions[number] == TimerQueue.parked { _ = takeParkedKey(number) } else { unqueue(number) }
    positions[number] = TimerQueue.absent
    if slot >= directLimit { numbers._withUnsafeGuaranteedRef { $0.forget(slot) } }
    state.pointee.members -= 1
    return true
  }

  /// Removes a timer from the order of dates; it stays in the mode, and waits for `insert`.
  @inline(__always)
  package func park(_ slot: Int) {
    if !isQueued(slot) { return }
    let number = number(slot)
    parkedKeys.append(key(at: positions[number]))
    unqueue(number)
    positions[number] = TimerQueue.parked
  }

  /// The key of a timer that was parked: nearly always the last.
  @inline(__always)
  private func takeParkedKey(_ number: Int) -> UInt64 {
    var index = parkedKeys.count - 1
    while parkedKeys[index] & TimerQueue.slotMask != UInt64(number) { index -= 1 }
    let key = parkedKeys[index]
    parkedKeys[index] = parkedKeys[parkedKeys.count - 1]
    parkedKeys.removeLast()
    return key
  }

  @inline(__always)
  func key(at position: Int32) -> UInt64 {
    position >= 0 ? heap[Int(position)].key : ring[ringIndex(position)].key
  }

  @inline(__always)
  func isQueued(_ slot: Int) -> Bool {
    let position = position(of: slot)
    return position != TimerQueue.absent && position != TimerQueue.parked
  }

  @inline(__always)
  func unqueue(_ number: Int) {
    let position = positions[number]
    if position >= 0 {
      forgetLater(number)
      removeFromHeap(Int(position))
    } else {
      removeFromRing(ringIndex(position))
    }
  }

  /// Gives a queued timer (not a parked one) another date; its place among equal dates stays that
  /// of its adding, and if it is due in the batch under way and still due, it stays in that (R74).
  @inline(__always)
  package func move(_ slot: Int, to date: Int64) {
    let number = number(slot)
    let position = positions[number]
    if position >= 0 && date > state.pointee.lateDate {
      forgetLater(number)
      let index = Int(position)
      let old = heap[index]
      let entry = Entry(date: date, key: old.key)
      if entry.precedes(old) { siftUp(index, entry) } else { siftDown(index, entry) }
      return
    }
    moveAcross(number, position: position, to: date)
  }

  @inline(never)
  private func moveAcross(_ number: Int, position: Int32, to date: Int64) {
    let key = key(at: position)
    let isInBatch = isInBatch(at: position)
    unqueue(number)
    let entry = Entry(date: date, key: key)
    if date <= state.pointee.lateDate && !isInBatch {
      appendToRing(entry)
    } else {
      heap.append(entry)
      siftUp(heap.count - 1, entry)
    }
  }

  /// Whether a queued timer is one of the batch under way.
  func isInBatch(at position: Int32) -> Bool {
    position >= 0
      ? date(of: heap[Int(position)]) <= state.pointee.lateDate
      : state.pointee.ringHead + ringIndex(position) < state.pointee.batchEnd
  }

  /// The same, cheaper if the date is later than it was, and may be so again before it comes.
  @inline(__always)
  package func postpone(_ slot: Int, to date: Int64) {
    let number = number(slot)
    let position = positions[number]
    if position >= 0 && date > state.pointee.lateDate && date > heap[Int(position)].date {
      noteLater(number, date)
    } else {
      move(slot, to: date)
    }
  }

  @inline(__always)
  private func noteLater(_ number: Int, _ date: Int64) {
    if number >= laterDates.count {
      laterDates.extend(to: number + 1, with: TimerQueue.notPostponed)
    }
    if laterDates[number] == TimerQueue.notPostponed { state.pointee.postponed += 1 }
    laterDates[number] = date
  }

  @inline(__always)
  private func forgetLater(_ number: Int) {
    if state.pointee.postponed > 0 { forgetKnownLater(number) }
  }

  private func forgetKnownLater(_ number: Int) {
    guard number < laterDates.count, laterDates[number] != TimerQueue.notPostponed else { return }
    laterDates[number] = TimerQueue.notPostponed
    state.pointee.postponed -= 1
  }

  /// The date of the timer of an entry.
  private func date(of entry: Entry) -> Int64 {
    guard state.pointee.postponed > 0, entry.number < laterDates.count,
      laterDates[entry.number] != TimerQueue.notPostponed
    else { return entry.date }
    return laterDates[entry.number]
  }

  /// Moves postponed timers to where they belong until the first of the heap is not one of them.
  @inline(__always)
  private func settleFirst() {
    if state.pointee.postponed > 0 { settlePostponed() }
  }

  @inline(never)
  private func settlePostponed() {
    while !heap.isEmpty {
      let first = heap[0]
      let date = date(of: first)
      if date == first.date { return }
      forgetKnownLater(first.number)
      siftDown(0, Entry(date: date, key: first.key))
    }
  }

  // MARK: Batches

  /// A batch under way: what was due when it began.
  package struct Batch {
    let now: Int64
    fileprivate let ringEnd: Int
    fileprivate let outerLateDate: Int64
    fileprivate let outerEnd: Int
  }

  /// Begins to fire what is due at a moment; timers that become due from now on are not part of it.
  package func beginBatch(at now: Int64) -> Batch {
    if state.pointee.ringSortedEnd != .max && state.pointee.lateDate == .min { flushRing() }
    let batch = Batch(
      now: now, ringEnd: state.pointee.ringHead + ring.count,
      outerLateDate: state.pointee.lateDate, outerEnd: state.pointee.batchEnd)
    state.pointee.lateDate = max(now, batch.outerLateDate)
    state.pointee.batchEnd = batch.ringEnd
    return batch
  }

  package func endBatch(_ batch: Batch) {
    state.pointee.lateDate = batch.outerLateDate
    state.pointee.batchEnd = batch.outerEnd
  }

  /// The next timer of the batch, by date; it stays in the queue, and the caller takes it out or
  /// moves it later. nil when the batch is over.
  @inline(__always)
  package func nextDue(in batch: Batch) -> Int? { firstDue(in: batch).map { slot($0.number) } }

  /// The same, and where it stands.
  @inline(__always)
  func firstDue(in batch: Batch) -> Entry? {
    let heapIsDue = isDue(at: batch.now)
    guard state.pointee.ringLive > 0, let first = firstOfRing(before: batch.ringEnd) else {
      return heapIsDue ? heap[0] : nil
    }
    return heapIsDue && heap[0].precedes(first) ? heap[0] : first
  }

  /// The place after all with the same date.
  func takeKey() -> UInt64 { takeSequence() << 24 }

  /// Whether anything is in the ring, and due whatever the time is.
  @inline(__always)
  var hasRing: Bool { state.pointee.ringLive > 0 }

  /// A date before which nothing in the heap is due; `Int64.max` if that is empty.
  @inline(__always)
  var firstOfHeap: Int64 { heap.isEmpty ? .max : heap[0].date }

  /// Whether anything is due at a moment.
  @inline(__always)
  package func hasDue(at now: Int64) -> Bool {
    state.pointee.ringLive > 0 || isDue(at: now)
  }

  /// Whether the first of the heap is due.
  @inline(__always)
  private func isDue(at now: Int64) -> Bool {
    if heap.isEmpty || heap[0].date > now { return false }
    settleFirst()
    return heap[0].date <= now
  }

  // MARK: Tolerance

  /// How many tolerances a sleep looks at.
  private static let tolerancesLookedAt = 256

  /// A moment to wake at which no timer is later than its tolerance allows: the latest one, unless
  /// there are so many that it would take long to find it.
  /// - Parameter tolerance: The tolerance of the timer in a slot, >= 0.
  package func wakeDate(tolerance: (Int) -> Int64) -> Int64 {
    if state.pointee.ringLive > 0 || heap.isEmpty || !state.pointee.hasTolerance {
      return firstDate
    }
    // The first of the heap's array and all that may follow them at once; no others are earlier.
    let looked = min(heap.count, Self.tolerancesLookedAt)
    var bound = Int64.max
    for index in 0..<looked where heap[index].date < bound {
      let entry = heap[index]
      bound = min(bound, saturatingDate(date(of: entry), after: tolerance(slot(entry.number))))
    }
    for index in looked..<min(heap.count, 4 * looked + 1) { bound = min(bound, heap[index].date) }
    return bound
  }

  /// Says that some timer of the queue may be late on purpose.
  package func noteTolerance() { state.pointee.hasTolerance = true }

  // MARK: The ring

  @inline(__always)
  func isLive(_ entry: Entry) -> Bool {
    entry.key & TimerQueue.slotMask != TimerQueue.noSlot
  }

  private func appendToRing(_ entry: Entry) {
    if state.pointee.ringLive == 0 { clearRing() }
    let number = state.pointee.ringHead + ring.count
    if state.pointee.ringSortedEnd == .max && entry.precedes(state.pointee.ringLast) {
      state.pointee.ringSortedEnd = number
    }
    state.pointee.ringLast = entry
    positions[entry.number] = Int32(truncatingIfNeeded: -3 - (number & TimerQueue.numberMask))
    ring.append(entry)
    state.pointee.ringLive += 1
  }

  func ringIndex(_ position: Int32) -> Int {
    (-3 - Int(position) - state.pointee.ringHead) & TimerQueue.numberMask
  }

  private func removeFromRing(_ index: Int) {
    ring[index].key |= TimerQueue.noSlot
    state.pointee.ringLive -= 1
    if state.pointee.ringLive == 0 { clearRing() }
  }

  private func clearRing() {
    state.pointee.ringHead += ring.count
    state.pointee.ringFirst = 0
    state.pointee.ringSortedEnd = .max
    state.pointee.ringLast = Entry(date: .min, key: 0)
    ring.removeAll()
  }

  /// The first in order of the live entries with numbers below `end`; forgets the dead ones at the
  /// front.
  @inline(__always)
  private func firstOfRing(before end: Int) -> Entry? {
    var index = state.pointee.ringFirst
    while index < ring.count && !isLive(ring[index]) { index += 1 }
    state.pointee.ringFirst = index
    if index > 256 && index > ring.count / 2 { compactRing() }
    index = state.pointee.ringFirst
    guard index < ring.count, state.pointee.ringHead + index < end else { return nil }
    return end <= state.pointee.ringSortedEnd ? ring[index] : leastOfRing(from: index, before: end)
  }

  /// The same when the entries are out of order: only in a batch inside another, which must not
  /// sort the outer one's entries.
  @inline(never)
  private func leastOfRing(from first: Int, before end: Int) -> Entry {
    var least = ring[first]
    for index in first..<min(ring.count, end - state.pointee.ringHead)
    where isLive(ring[index]) && ring[index].precedes(least) {
      least = ring[index]
    }
    return least
  }

  @inline(never)
  private func compactRing() {
    let dead = state.pointee.ringFirst
    for index in dead..<ring.count { ring[index - dead] = ring[index] }
    for _ in 0..<dead { ring.removeLast() }
    state.pointee.ringHead += dead
    state.pointee.ringFirst = 0
  }

  private func flushRing() {
    for index in 0..<ring.count where isLive(ring[index]) {
      let entry = ring[index]
      heap.append(entry)
      siftUp(heap.count - 1, entry)
    }
    state.pointee.ringLive = 0
    clearRing()
  }

  /// The order of adding; after 2^40 additions the queue is numbered again.
  @inline(__always)
  private func takeSequence() -> UInt64 {
    let sequence = state.pointee.nextSequence
    if sequence >= (1 << 40) - 1 { return renumber() }
    state.pointee.nextSequence = sequence + 1
    return sequence
  }
}
