// One mode of a loop: what is in it, and what of that is ready.

/// Something that is ready and waits for its turn, one a pass (R29, R54): a plain word, so that who
/// passes it on counts no reference. It holds nothing: a descriptor is known by its token, and a
/// port is in the mode as long as it is in the ring.
package struct ReadyItem: BitwiseCopyable, Equatable {
  private static let portBit: UInt64 = 1 << 63
  private let bits: UInt64

  /// The token of the main queue; those of descriptors are above it.
  static let mainQueueToken: UInt64 = 1
  static let mainQueue = ReadyItem(token: mainQueueToken)

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

/// One mode of one loop. Loop thread only.
package final class Mode {
  package let name: ModeName
  package let index: Int
  package let bit: UInt64
  var isCommon = false

  package let timers = TimerQueue()
  var sources: [Loop.Source] = []
  var ports: [Loop.Port] = []
  // As `Loop.modes`.
  @exclusivity(unchecked) private(set) var descriptors: [Loop.DescriptorSource] = []
  /// By order, then by adding (R32).
  private(set) var observers: [Loop.Observer] = []
  /// The activities that any observer of the mode hears of.
  private(set) var watched: Activity = []

  /// How many items of the mode hold a run (R8); blocks are counted apart.
  var holders = 0
  /// The kernel's set for the descriptors of the mode; nil while it never had one.
  var pollSet: PollSetID?
  /// How many descriptors are in the kernel's set, the main queue's included.
  var polled = 0
  /// How many descriptors of the mode count as always ready.
  var alwaysReady = 0
  var servesMainQueue = false

  /// What is ready, in order of becoming so; the first `readyHead` are gone.
  private let ready = Table<ReadyItem>()
  @exclusivity(unchecked) private var readyHead = 0
  /// How many of the ready are served before the kernel is asked again, so that no port that is
  /// always ready keeps descriptors from their turn (R31).
  var round = 0
  var mainQueueIsReady = false

  package init(name: ModeName, index: Int) {
    self.name = name
    self.index = index
    bit = ModeMask.bit(index)
  }

  deinit {
    timers.deallocate()
    ready.deallocate()
  }

  // MARK: Observers

  package func insert(_ observer: Loop.Observer) {
    let place = observers.firstIndex { $0.order > observer.order } ?? observers.endIndex
    observers.insert(observer, at: place)
    watched.formUnion(observer.activities)
  }

  package func remove(_ observer: Loop.Observer) {
    observers.removeAll { $0 === observer }
    watched = observers.reduce([]) { $0.union($1.activities) }
  }

  /// Whether anybody hears of the sleep.
  @inline(__always)
  var sleepIsWatched: Bool {
    !watched.isDisjoint(with: [.beforeWaiting, .afterWaiting])
  }

  // MARK: Descriptors

  func insert(_ source: Loop.DescriptorSource) {
    if source.placeMode < 0 {
      source.placeMode = Int32(index)
      source.place = Int32(descriptors.count)
    }
    descriptors.append(source)
  }

  /// Takes a source out; the last one takes its place.
  func remove(_ source: Loop.DescriptorSource) {
    let isKnown = source.placeMode == index
    let found = isKnown ? Int(source.place) : descriptors.firstIndex { $0 === source }
    guard let place = found, place < descriptors.count else { return }
    let last = descriptors.removeLast()
    if last !== source {
      descriptors[place] = last
      if last.placeMode == index { last.place = Int32(place) }
    }
    if isKnown { source.placeMode = -1 }
  }

  // MARK: The ready

  @inline(__always) var hasReady: Bool { readyHead < ready.count }
  var readyCount: Int { ready.count - readyHead }

  /// The next in turn.
  @inline(__always)
  package var firstReady: ReadyItem? { readyHead < ready.count ? ready[readyHead] : nil }

  package func appendReady(_ item: ReadyItem) { ready.append(item) }

  package func takeReady() -> ReadyItem? {
    guard readyHead < ready.count else { return nil }
    let item = ready[readyHead]
    readyHead += 1
    if readyHead == ready.count {
      ready.removeAll()
      readyHead = 0
    } else if readyHead >= 1024 && readyHead * 2 > ready.count {
      keepReady { _ in true }
    }
    return item
  }

  /// Moves those of the ready that a closure wants to the front of the memory.
  private func keepReady(_ isKept: (ReadyItem) -> Bool) {
    var kept = 0
    for index in readyHead..<ready.count where isKept(ready[index]) {
      ready[kept] = ready[index]
      kept += 1
    }
    while ready.count > kept { ready.removeLast() }
    readyHead = 0
  }

  /// Lets one of the ready have its turn before the others; the first goes to its place.
  func bringForward(_ offset: Int) {
    let first = ready[readyHead]
    ready[readyHead] = ready[readyHead + offset]
    ready[readyHead + offset] = first
  }

  /// Takes a port out of the ring: added again, it stands at the end.
  package func forgetReady(_ port: Loop.Port) {
    let item = ReadyItem(port)
    if !containsReady(item) { return }
    keepReady { $0 != item }
    round = min(round, readyCount)
  }

  package func containsReady(_ item: ReadyItem) -> Bool {
    for index in readyHead..<ready.count where ready[index] == item { return true }
    return false
  }
}
