// One mode of a loop: its contents, and which of them are ready.

/// One mode of one loop. Loop thread only.
package final class Mode {
  /// Approximate bytes of an empty mode, without its name.
  package static let footprint = 1024

  package let name: ModeName
  package let index: Int
  let bit: UInt64
  var isCommon = false

  let timers: TimerQueue
  /// Due at once without being a timer, in order.
  @exclusivity(unchecked) private(set) var turns = Queue<Turn>()
  /// Turns with numbers up to this one wait for an outer run (R135).
  var keptTurns: UInt64 = 0
  // As `Loop.modes`.
  /// Marked with their places in `signals`, counted from 1; 0: they do not wait there.
  @exclusivity(unchecked) var sources = ItemList<Loop.Source>()
  /// The signalled sources, a heap: see `Loop+Signals`.
  let signals = Table<SignalledSource>()
  /// Marked, like the descriptors, with their turns in `ready`; 0: none.
  @exclusivity(unchecked) var ports = ItemList<Loop.Port>()
  @exclusivity(unchecked) var descriptors = ItemList<Loop.DescriptorSource>()
  /// The descriptors that cannot be polled: ready in every pass.
  @exclusivity(unchecked) var files = ItemList<Loop.DescriptorSource>()
  /// The same by their descriptors.
  var fileSources: [Int32: Loop.DescriptorSource] = [:]
  @exclusivity(unchecked) var observers = ObserverList()

  /// The blocks that wait for it by its name, and the perform requests.
  @exclusivity(unchecked) var blocks = BlockList()
  @exclusivity(unchecked) var requests = BlockList()

  /// How many items of the mode hold a run (R8); blocks are counted apart.
  var holders = 0
  /// The kernel's set for the descriptors of the mode; nil while it never had one.
  var pollSet: PollSetID?
  /// How many descriptors are in the kernel's set, the main queue's included.
  var polled = 0
  var servesMainQueue = false
  /// When a busy run last asked the kernel for them, by its clock.
  @exclusivity(unchecked) var lastLook: Int64 = 0
  /// How many times it could have asked since the run began, slept, or found something.
  @exclusivity(unchecked) var busyLooks = 0
  /// Whether the last pass of a pump served a port: timers go first in the next one (R31).
  var pumpServedPort = false

  /// What is ready, in the order of becoming ready. Each remembers its number in it, the turn, so
  /// that nothing waits twice, and what leaves the mode leaves the queue in one step.
  @exclusivity(unchecked) var ready = Queue<ReadyItem>()
  /// Those with earlier turns are served before the kernel is asked again, so that no port that is
  /// always ready keeps descriptors from their turn (R31).
  @exclusivity(unchecked) private var roundEnd: UInt64 = 0
  /// `RunState.strangers` when the kernel said so; and the descriptor that was asked about again
  /// since, with that number then.
  @exclusivity(unchecked) var strangersAtRound: UInt64 = 0
  @exclusivity(unchecked) var confirmed: (token: UInt64, strangers: UInt64) = (0, 0)
  /// The turn of the main queue in it; 0: none. And how often the queue had been served then.
  var mainQueueTurn: UInt64 = 0
  var mainQueueBatch: UInt64 = 0

  init(name: ModeName, index: Int) {
    self.name = name
    self.index = index
    bit = ModeMask.bit(index)
    timers = TimerQueue(holdsMost: index == 0)
  }

  deinit {
    timers.deallocate()
    signals.deallocate()
  }

  // MARK: What is due

  /// Whether anything is, or will be, due.
  @inline(__always)
  var hasTimers: Bool { timers.count > 0 || !turns.isEmpty }

  /// The turn to be served next.
  var nextTurn: Turn? { keptTurns == 0 ? turns.first : turns.first(after: keptTurns) }
  @inline(__always)
  var hasTurn: Bool { !turns.isEmpty && (keptTurns == 0 || nextTurn != nil) }

  /// Whether anything is due whatever the time is.
  @inline(__always)
  var hasDue: Bool { timers.hasRing || hasTurn }

  /// Lets a turn wait here too, among what is due, after everything with the same date.
  func add(_ turn: Turn) {
    if turns[turn.number] != nil { return }
    var turn = turn
    turn.place.key = timers.takeKey()
    turns.insert(turn, number: turn.number)
    holders += 1
  }

  /// - Returns: Whether it was here.
  @discardableResult
  func removeTurn(_ number: UInt64) -> Bool {
    if turns.remove(number) == nil { return false }
    holders -= 1
    return true
  }

  // MARK: What is ready

  /// Whether the next in turn belongs to the round under way.
  @inline(__always)
  var isInRound: Bool { !ready.isEmpty && ready.firstNumber < roundEnd }

  /// All that wait now are a round.
  @inline(__always)
  func beginRound(strangers: UInt64) {
    roundEnd = ready.nextNumber
    strangersAtRound = strangers
  }

  /// The turn of a descriptor that waits for it; 0: it does not wait.
  @inline(__always)
  func turn(of source: Loop.DescriptorSource, at place: Int) -> UInt64 {
    source.isAlwaysReady ? files.mark(at: place) : descriptors.mark(at: place)
  }

  func giveUp(turn: UInt64) {
    if turn > 0 { ready.remove(turn) }
  }

  /// Whether the sleep has an observer.
  @inline(__always)
  var sleepIsWatched: Bool {
    !observers.watched.isDisjoint(with: [.beforeWaiting, .afterWaiting])
  }

  /// In order of joining, those that cannot be polled last.
  var allDescriptors: [Loop.DescriptorSource] { Array(descriptors) + Array(files) }
}
