// The modes of timers beyond those that a record has a bit for.

/// By the slots of timers, the indices of their modes from the 64th on. Loop thread only.
struct FarModes {
  private var modes: [Int32: Set<Int>] = [:]

  mutating func insert(_ slot: Int, _ mode: Int) { modes[Int32(slot), default: []].insert(mode) }

  /// - Returns: Whether it was the last.
  mutating func remove(_ slot: Int, _ mode: Int) -> Bool {
    modes[Int32(slot)]?.remove(mode)
    guard modes[Int32(slot)]?.isEmpty ?? true else { return false }
    modes[Int32(slot)] = nil
    return true
  }

  /// Unordered: work in one mode does not depend on the others.
  func modes(of slot: Int) -> Set<Int> { modes[Int32(slot)] ?? [] }
}
