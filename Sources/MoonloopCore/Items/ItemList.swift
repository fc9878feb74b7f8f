// The items of a mode in order of joining; one leaves in one step, and leaves a gap for a while.

/// Items in order of joining, each at a place that it remembers itself, with a mark at each place.
///
/// A mark says whatever the list's owner wants to know of the item in this mode.
struct ItemList<Item: Loop.Item>: Sequence {
  fileprivate struct Slot {
    var item: Item?
    var mark: UInt64
  }

  private var slots = CountedArray<Slot>()
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  /// How many places there are, gaps included.
  var placeCount: Int { slots.count }

  /// The item at a place; nil for a gap.
  @inline(__always)
  subscript(place: Int) -> Item? { slots[place].item }

  @inline(__always)
  func mark(at place: Int) -> UInt64 { slots[place].mark }

  @inline(__always)
  mutating func setMark(at place: Int, _ mark: UInt64) { slots[place].mark = mark }

  /// Puts an item at the end.
  /// - Returns: Its place.
  mutating func append(_ item: Item, mark: UInt64 = 0) -> Int {
    slots.append(Slot(item: item, mark: mark))
    count += 1
    return slots.count - 1
  }

  /// Takes the item at a place out.
  /// - Parameter moved: Called for those that stand elsewhere afterwards: all of them, when there
  ///   are more gaps than items, so that each removal pays for one move at most.
  mutating func remove(at place: Int, moved: (Item, Int) -> Void) {
    slots[place] = Slot(item: nil, mark: 0)
    count -= 1
    while let last = slots.last, last.item == nil { slots.removeLast() }
    if slots.count > 16 && slots.count > 2 * count { close(moved) }
  }

  var markedCount: Int { slots.reduce(0) { $0 + ($1.mark > 0 ? 1 : 0) } }

  func forEachMarked(_ body: (Item, UInt64) -> Void) {
    for slot in slots {
      if let item = slot.item { body(item, slot.mark) }
    }
  }

  /// Closes the gaps.
  private mutating func close(_ moved: (Item, Int) -> Void) {
    slots.removeAll { $0.item == nil }
    for (place, slot) in slots.enumerated() {
      if let item = slot.item { moved(item, place) }
    }
  }

  /// Goes through the items that are there now, whatever becomes of the list meanwhile.
  func makeIterator() -> Iterator { Iterator(rest: slots.makeIterator()) }

  struct Iterator: IteratorProtocol {
    fileprivate var rest: CountedArray<Slot>.Iterator

    mutating func next() -> Item? {
      while let slot = rest.next() {
        if let item = slot.item { return item }
      }
      return nil
    }
  }
}
