// The numbers that keep timers of equal dates in order of adding, written again when they run out.

extension TimerQueue {
  /// Numbers all timers from 1 again, in their order. Happens once in 2^40 additions; turns that
  /// wait then keep late numbers, so that they come after what has their date.
  @inline(never)
  func renumber() -> UInt64 {
    let keys = (0..<heap.count).map { heap[$0].key } + (0..<ring.count).map { ring[$0].key }
    let all = (keys + (0..<parkedKeys.count).map { parkedKeys[$0] }).sorted()
    var sequence: UInt64 = 0
    var renumbered: [UInt64: UInt64] = [:]
    for key in all {
      sequence += 1
      renumbered[key] = sequence << 24 | key & TimerQueue.slotMask
    }
    for index in 0..<heap.count { heap[index].key = renumbered[heap[index].key]! }
    for index in 0..<ring.count { ring[index].key = renumbered[ring[index].key]! }
    for index in 0..<parkedKeys.count { parkedKeys[index] = renumbered[parkedKeys[index]]! }
    state.pointee.nextSequence = sequence + 2
    return sequence + 1
  }
}
