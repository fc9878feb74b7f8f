// One mode of a loop: what is in it, and what of that is ready.

/// Something that is ready and waits for its turn, one a pass (R29, R54).
package enum ReadyItem {
  case descriptor(Loop.DescriptorSource)
  case port(Loop.Port)
  case mainQueue
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
  @exclusivity(unchecked) private var ready: [ReadyItem?] = []  // as `Loop.modes`
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

  deinit { timers.deallocate() }

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
      source.placeMode = index
      source.place = descriptors.count
    }
    descriptors.append(source)
  }

  /// Takes a source out; the last one takes its place.
  func remove(_ source: Loop.DescriptorSource) {
    let isKnown = source.placeMode == index
    let found = isKnown ? source.place : descriptors.firstIndex { $0 === source }
    guard let place = found, place < descriptors.count else { return }
    let last = descriptors.removeLast()
    if last !== source {
      descriptors[place] = last
      if last.placeMode == index { last.place = place }
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
    ready[readyHead] = nil
    readyHead += 1
    if readyHead == ready.count {
      ready.removeAll(keepingCapacity: true)
      readyHead = 0
    } else if readyHead >= 1024 && readyHead * 2 > ready.count {
      ready.removeFirst(readyHead)
      readyHead = 0
    }
    return item
  }

  /// Lets one of the ready have its turn before the others; the first goes to its place.
  func bringForward(_ offset: Int) { ready.swapAt(readyHead, readyHead + offset) }

  /// Takes a port out of the ring: added again, it stands at the end.
  package func forgetReady(_ port: Loop.Port) {
    if !containsReady(port) { return }
    ready.removeAll { if case .port(let other)? = $0 { other === port } else { false } }
    round = min(round, readyCount)
  }

  package func containsReady(_ port: Loop.Port) -> Bool {
    for case .port(let other)? in ready[readyHead...] where other === port { return true }
    return false
  }

  package func containsReady(_ source: Loop.DescriptorSource) -> Bool {
    for case .descriptor(let other)? in ready[readyHead...] where other === source { return true }
    return false
  }
}
