// What must hold in a queue of timers after each pass.

extension TimerQueue {
  /// Whether heap order and positions hold; for `Loop.checkInvariants`.
  package func isConsistent() -> Bool {
    for index in 0..<heap.count {
      if positions[heap[index].number] != Int32(index) { return false }
      if index > 0 && heap[index].precedes(heap[(index - 1) / 4]) { return false }
    }
    return (0..<ring.count).filter { isLive(ring[$0]) }.count == state.pointee.ringLive
  }
}
