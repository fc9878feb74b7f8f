// The numbers that the timers of a mode have there: a mode of few timers needs little memory,
// however many timers the loop has.

/// Gives slots small numbers. A hash table with open addressing: a slot is looked up in every
/// change of a timer. Loop thread only; unchecked as `Loop.modes`.
final class SlotNumbers {
  /// Slot plus one in the upper half, number in the lower; 0: empty. A power of two of them.
  @exclusivity(unchecked) private var cells: [UInt64] = Array(repeating: 0, count: 8)
  @exclusivity(unchecked) private var slots: [Int32] = []
  @exclusivity(unchecked) private var free: [Int32] = []
  @exclusivity(unchecked) private var count = 0

  /// The slot that has a number.
  func slot(_ number: Int) -> Int { Int(slots[number]) }

  func number(_ slot: Int) -> Int? {
    let cell = cells[find(slot)]
    return cell == 0 ? nil : Int(cell & 0xffff_ffff)
  }

  /// The number of a slot, a new one if it has none yet.
  func makeNumber(_ slot: Int) -> Int {
    if let known = number(slot) { return known }
    if 2 * (count + 1) > cells.count { grow() }
    let number = free.popLast() ?? Int32(slots.count)
    if Int(number) == slots.count { slots.append(0) }
    slots[Int(number)] = Int32(slot)
    cells[find(slot)] = UInt64(slot + 1) << 32 | UInt64(number)
    count += 1
    return Int(number)
  }

  func forget(_ slot: Int) {
    var gap = find(slot)
    if cells[gap] == 0 { return }
    free.append(Int32(cells[gap] & 0xffff_ffff))
    count -= 1
    // Those after it move up, but not before the cell where a search for them begins.
    var index = gap
    while true {
      index = (index + 1) & (cells.count - 1)
      if cells[index] == 0 { break }
      let home = home(Int(cells[index] >> 32) - 1)
      if (index &- home) & (cells.count - 1) >= (index &- gap) & (cells.count - 1) {
        cells[gap] = cells[index]
        gap = index
      }
    }
    cells[gap] = 0
  }

  /// Where a search for a slot begins.
  private func home(_ slot: Int) -> Int {
    let mixed = UInt64(truncatingIfNeeded: slot) &* 0x9E37_79B9_7F4A_7C15
    return Int(mixed >> 32) & (cells.count - 1)
  }

  /// Where a slot is, or where it would be put.
  private func find(_ slot: Int) -> Int {
    var index = home(slot)
    while cells[index] != 0 && cells[index] >> 32 != UInt64(slot + 1) {
      index = (index + 1) & (cells.count - 1)
    }
    return index
  }

  private func grow() {
    let old = cells
    cells = Array(repeating: 0, count: 2 * old.count)
    for cell in old where cell != 0 { cells[find(Int(cell >> 32) - 1)] = cell }
  }
}
