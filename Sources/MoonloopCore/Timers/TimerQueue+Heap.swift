// The heap of a timer queue: four children per node, with prefetching of what is needed soon.

internal import CLinuxShims

extension TimerQueue {
  /// A heap with more entries has most of them, and of what belongs to them, outside of the
  /// processor's nearer caches.
  private static let largeHeap = 2000

  /// Prefetches the memory of those that may fire soon, if there are so many that it is far away.
  /// - Parameter next: Gets the first of the heap, whose record was prefetched before.
  /// - Parameter second: Gets the one that follows it; the same holds.
  @inline(__always)
  func prefetchSoon(
    _ records: Table<TimerRecord>, next: (TimerCallout) -> Void, second: (TimerCallout) -> Void
  ) {
    let count = heap.count
    if count <= Self.largeHeap { return }
    let entries = heap.base
    for child in 1..<5 { cmx_prefetch(records.base + slot(entries[child].number)) }
    second(records[slot(entries[leastChild(entries, 1, count)].number)].callout)
    next(records[slot(entries[0].number)].callout)
  }

  func removeFromHeap(_ index: Int) {
    let last = heap[heap.count - 1]
    heap.removeLast()
    if index == heap.count { return }
    if index > 0 && last.precedes(heap[(index - 1) / 4]) {
      siftUp(index, last)
    } else {
      siftDown(index, last)
    }
  }

  // The two sifts run on bare memory: they call no handlers, and every index is below `heap.count`.

  func siftUp(_ start: Int, _ entry: Entry) {
    let entries = heap.base
    let places = positions.base
    var index = start
    while index > 0 {
      let parent = (index - 1) / 4
      if !entry.precedes(entries[parent]) { break }
      entries[index] = entries[parent]
      places[entries[index].number] = Int32(truncatingIfNeeded: index)
      index = parent
    }
    entries[index] = entry
    places[entry.number] = Int32(truncatingIfNeeded: index)
  }

  func siftDown(_ start: Int, _ entry: Entry) {
    let entries = heap.base
    let places = positions.base
    let count = heap.count
    var index = start
    while true {
      let firstChild = 4 &* index &+ 1
      if firstChild >= count { break }
      if count > Self.largeHeap { prefetchChildren(entries, of: firstChild, count) }
      let least = leastChild(entries, firstChild, count)
      if !entries[least].precedes(entry) { break }
      entries[index] = entries[least]
      places[entries[index].number] = Int32(truncatingIfNeeded: index)
      index = least
    }
    entries[index] = entry
    places[entry.number] = Int32(truncatingIfNeeded: index)
  }

  /// Asks for the children of four siblings, one of which is the next on the way down.
  @inline(__always)
  private func prefetchChildren(
    _ entries: UnsafeMutablePointer<Entry>, of sibling: Int, _ count: Int
  ) {
    let first = 4 &* sibling &+ 1
    if first >= count { return }
    for line in 0..<4 { cmx_prefetch(entries + (first &+ 4 &* line)) }
  }

  @inline(__always)
  private func leastChild(
    _ entries: UnsafeMutablePointer<Entry>, _ first: Int, _ count: Int
  ) -> Int {
    if first &+ 4 <= count {
      let left = entries[first &+ 1].precedes(entries[first]) ? first &+ 1 : first
      let right = entries[first &+ 3].precedes(entries[first &+ 2]) ? first &+ 3 : first &+ 2
      return entries[right].precedes(entries[left]) ? right : left
    }
    var least = first
    var child = first &+ 1
    while child < count {
      if entries[child].precedes(entries[least]) { least = child }
      child &+= 1
    }
    return least
  }

  /// Gives a queued timer a date that has come: a timer of the batch under way stays in that,
  /// though the date is later than the batch's begin, behind what was due then and what was moved
  /// before (R136).
  /// - Returns: Whether it is one of the batch.
  func moveWhereDue(_ slot: Int, to date: Int64) -> Bool {
    let number = number(slot)
    guard isInBatch(at: positions[number]) else {
      move(slot, to: date)
      return false
    }
    let place = takeKey()  // may number all of them again
    let key = place | key(at: positions[number]) & Self.slotMask
    unqueue(number)
    let entry = Entry(date: min(date, state.pointee.lateDate), key: key)
    heap.append(entry)
    siftUp(heap.count - 1, entry)
    return true
  }

  /// Gives such a timer its date.
  func moveOutOfBatch(_ slot: Int, to date: Int64) {
    let number = number(slot)
    let entry = Entry(date: date, key: key(at: positions[number]))
    unqueue(number)
    heap.append(entry)
    siftUp(heap.count - 1, entry)
  }
}
