// What of a mode is ready: each waits for its turn, one a pass.

/// Something that is ready and waits for its turn (R29, R54): a plain word, so that who passes it
/// on counts no reference. It holds nothing: a descriptor is known by its token, and a port is in
/// the mode as long as it is in the queue.
package struct ReadyItem: BitwiseCopyable, Equatable {
  private static let portBit: UInt64 = 1 << 63
  private let bits: UInt64

  /// The token of the main queue; those of descriptors are above it.
  static let mainQueueToken: UInt64 = 1
  static let mainQueue = ReadyItem(token: mainQueueToken)
  /// The place of one that does not wait any more.
  fileprivate static let gone = ReadyItem(token: 0)

  /// The main queue, or a descriptor by the token of its registrations.
  @inline(__always)
  init(token: UInt64) { bits = token }

  init(_ port: Loop.Port) {
    let address = UInt(bitPattern: Unmanaged.passUnretained(port).toOpaque())
    bits = UInt64(address) | Self.portBit  // user addresses are below that
  }

  var token: UInt64 { bits }
  var port: Unmanaged<Loop.Port>? {
    if bits & Self.portBit == 0 { return nil }
    return UnsafeRawPointer(bitPattern: UInt(bits & ~Self.portBit)).map { .fromOpaque($0) }
  }
}

/// What of a mode is ready, in order of becoming so.
///
/// Each that waits has a turn, a number that the mode remembers with it: so nothing waits twice,
/// and what leaves the mode leaves the queue in one step.
struct ReadyQueue {
  private let items = Table<ReadyItem>()
  /// Where the first that waits is; all before it are gone.
  private var head = 0
  /// The turn of what lies first in the memory.
  private var firstTurn: UInt64 = 1
  /// How many wait.
  private(set) var count = 0
  /// Those with earlier turns are served before the kernel is asked again, so that no port that is
  /// always ready keeps descriptors from their turn (R31).
  private var roundEnd: UInt64 = 0

  func deallocate() { items.deallocate() }

  @inline(__always) var isEmpty: Bool { count == 0 }

  /// The next in turn.
  @inline(__always)
  var first: ReadyItem? { count > 0 ? items[head] : nil }

  /// Whether the next in turn belongs to the round under way.
  @inline(__always)
  var isInRound: Bool { count > 0 && firstTurn &+ UInt64(head) < roundEnd }

  /// All that wait now are a round.
  @inline(__always)
  mutating func beginRound() { roundEnd = firstTurn &+ UInt64(items.count) }

  /// - Returns: The turn.
  @inline(__always)
  mutating func append(_ item: ReadyItem) -> UInt64 {
    items.append(item)
    count &+= 1
    return firstTurn &+ UInt64(items.count &- 1)
  }

  /// Takes the first out.
  @inline(__always)
  mutating func takeFirst() -> ReadyItem? {
    guard count > 0 else { return nil }
    let item = items[head]
    count &-= 1
    head &+= 1
    settle()
    return item
  }

  /// Takes out what has a turn.
  mutating func remove(_ turn: UInt64) {
    items[Int(turn - firstTurn)] = .gone
    count -= 1
    settle()
  }

  /// Has the first that waits lie at `head`, or nothing lie there at all.
  @inline(__always)
  private mutating func settle() {
    if count == 0 {
      firstTurn &+= UInt64(items.count)
      head = 0
      items.removeAll()
    } else {
      while items[head] == .gone { head &+= 1 }
    }
  }

  /// Whether more memory is held by those that are gone than by those that wait.
  @inline(__always)
  var hasManyGaps: Bool { items.count > 1024 && items.count > 2 * count }
  var hasGaps: Bool { items.count > count }

  /// Closes the gaps.
  /// - Parameter moved: Called for all that wait, with their new turns.
  mutating func close(_ moved: (ReadyItem, UInt64) -> Void) {
    let inRound = (head..<items.count).count {
      items[$0] != .gone && firstTurn + UInt64($0) < roundEnd
    }
    let end = firstTurn + UInt64(items.count)
    var kept = 0
    for index in head..<items.count where items[index] != .gone {
      items[kept] = items[index]
      kept += 1
    }
    while items.count > kept { items.removeLast() }
    head = 0
    firstTurn = end
    roundEnd = end + UInt64(inRound)
    for index in 0..<kept { moved(items[index], firstTurn + UInt64(index)) }
  }

  /// Lets one have its turn before the others, and the first have its: there must be no gaps.
  /// - Parameter moved: Called for the two, with their new turns.
  mutating func bringForward(_ offset: Int, _ moved: (ReadyItem, UInt64) -> Void) {
    (items[head], items[head + offset]) = (items[head + offset], items[head])
    for place in [head, head + offset] { moved(items[place], firstTurn + UInt64(place)) }
  }
}
