// The queue for inboxes, for what is ready in a mode, and for waiting tasks.

/// Elements in order of arrival. Each has a number, by which it can leave before its turn.
///
/// Elements are moved out, and the memory is not shared, so that nothing is released while the
/// queue changes, or under the lock of its owner.
@usableFromInline
package struct Queue<Element>: ~Copyable {
  @usableFromInline
  struct Entry {
    @usableFromInline let number: UInt64
    /// nil: it left before its turn.
    @usableFromInline var element: Element?
    @usableFromInline
    init(number: UInt64, element: Element?) {
      self.number = number
      self.element = element
    }
  }

  @usableFromInline var base: UnsafeMutablePointer<Entry>
  @usableFromInline var capacity: Int
  /// The entries are those from `head` up to `tail`, in order of their numbers; the first of them
  /// has an element.
  @usableFromInline var head = 0
  @usableFromInline var tail = 0
  @usableFromInline var live = 0
  /// The number of the next element.
  @usableFromInline package var nextNumber: UInt64 = 1

  @inlinable
  package init() {
    base = UnsafeMutablePointer(bitPattern: MemoryLayout<Entry>.alignment)!
    capacity = 0
  }

  @inlinable
  deinit {
    (base + head).deinitialize(count: tail - head)
    if capacity > 0 { base.deallocate() }
  }

  /// How many elements there are.
  @inlinable
  package var count: Int { @inline(__always) get { live } }
  @inlinable
  package var isEmpty: Bool { @inline(__always) get { live == 0 } }
  /// The next in turn.
  @inlinable
  package var first: Element? { @inline(__always) get { live > 0 ? base[head].element : nil } }
  /// All of them.
  var elements: [Element] { (head..<tail).compactMap { base[$0].element } }
  /// The element with a number, if it is still here.
  subscript(number: UInt64) -> Element? { index(of: number).flatMap { base[$0].element } }
  /// The number of the next in turn; that of the next to come if there is none.
  @inlinable
  package var firstNumber: UInt64 {
    @inline(__always) get { live > 0 ? base[head].number : nextNumber }
  }

  /// Adds an element at the end.
  /// - Returns: Its number, > 0, which no other element of the queue ever has.
  @inlinable
  @inline(__always)
  @discardableResult
  package mutating func append(_ element: consuming Element) -> UInt64 {
    if tail == capacity { makeRoom() }
    let number = nextNumber
    (base + tail).initialize(to: Entry(number: number, element: element))
    tail &+= 1
    live &+= 1
    nextNumber &+= 1
    return number
  }

  /// Adds an element with a number of its owner's, in its place among those that are here.
  @inline(__always)
  mutating func insert(_ element: Element, number: UInt64) {
    let next = max(nextNumber, number + 1)
    nextNumber = number
    append(element)
    nextNumber = next
    var index = tail - 1
    while index > head && base[index - 1].number > number {
      swap(&base[index - 1], &base[index])
      index -= 1
    }
  }

  @inlinable
  @inline(__always)
  package mutating func takeFirst() -> Element? {
    if live == 0 { return nil }
    let entry = (base + head).move()
    head &+= 1
    live &-= 1
    settle()
    return entry.element
  }

  /// Removes the element with a number, if it is still here.
  @discardableResult
  package mutating func remove(_ number: UInt64) -> Element? {
    guard let index = index(of: number), let element = base[index].element.take() else {
      return nil
    }
    live -= 1
    settle()
    return element
  }

  /// Lets an element have its turn first, and the first have its.
  /// - Parameters:
  ///   - offset: How many elements are before it.
  ///   - moved: Called for the two, with their new numbers.
  mutating func bringForward(_ offset: Int, _ moved: (Element, UInt64) -> Void) {
    let present = (head..<tail).filter { base[$0].element != nil }
    let (first, other) = (present[0], present[offset])
    swap(&base[first].element, &base[other].element)
    for index in [first, other] {
      if let element = base[index].element { moved(element, base[index].number) }
    }
  }

  /// Forgets the gaps before the first element.
  @inlinable
  @inline(__always)
  mutating func settle() {
    if live == 0 {
      head = 0
      tail = 0
    } else {
      while base[head].element == nil { head &+= 1 }
    }
  }

  /// The first in turn of those with later numbers.
  func first(after number: UInt64) -> Element? {
    let index = (index(from: number + 1)..<tail).first { base[$0].element != nil }
    return index.flatMap { base[$0].element }
  }

  private func index(of number: UInt64) -> Int? {
    if live == 0 || number < base[head].number || number >= nextNumber { return nil }
    // Where it is unless gaps were closed.
    let distance = number - base[head].number
    if distance < UInt64(tail - head), base[head + Int(distance)].number == number {
      return head + Int(distance)
    }
    let index = index(from: number)
    return index < tail && base[index].number == number ? index : nil
  }

  /// Where the numbers from one on begin.
  private func index(from number: UInt64) -> Int {
    var (low, high) = (head, tail)
    while low < high {
      Steps.note(1)
      let middle = (low + high) / 2
      if base[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The end of the memory is reached: closes the gaps, or takes more if there are too few.
  @usableFromInline
  @inline(never)
  mutating func makeRoom() {
    Steps.note(tail - head)
    let old = (base: base, capacity: capacity)
    if live > capacity / 2 || capacity == 0 {
      capacity = max(8, capacity * 2)
      base = .allocate(capacity: capacity)
    }
    var kept = 0
    for index in head..<tail where old.base[index].element != nil {
      (base + kept).moveInitialize(from: old.base + index, count: 1)
      kept += 1
    }
    (head, tail) = (0, kept)
    if old.capacity > 0 && old.base != base { old.base.deallocate() }
  }
}
