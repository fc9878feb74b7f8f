// Perform blocks: queued in order, taken together, each for the first of its modes that runs.

internal import Synchronization

/// A block that was queued on a loop, or a request that was made of it; it can be cancelled.
///
/// Counterparts: `CFRunLoopPerformBlock`, and Cocoa's perform-selector requests.
public final class PerformRequest: Sendable {
  package enum State: Int, AtomicRepresentable { case waiting, performing, performed, cancelled }
  private let state = Atomic<State>(.waiting)
  /// The timer of a delayed request: loop thread only, set once before it can fire.
  nonisolated(unsafe) package var timer: Loop.Timer?

  /// Opened when it was performed or cancelled: somebody waits for that.
  private let gate: (any Gate)?

  /// Its place among others, and for whom it is; nil for most.
  let aim: PerformAim?

  package init(gate: (any Gate)? = nil, aim: PerformAim? = nil) {
    self.gate = gate
    self.aim = aim
  }

  /// Takes the request back if it was not performed yet (R115). Any thread.
  ///
  /// - Returns: Whether it was still waiting.
  @discardableResult
  public func cancel() -> Bool {
    let (isTaken, _) = state.compareExchange(
      expected: .waiting, desired: .cancelled, ordering: .acquiringAndReleasing)
    if isTaken { gate?.open() }
    return isTaken
  }

  /// Whether it was performed. Any thread.
  public var wasPerformed: Bool { state.load(ordering: .acquiring) == .performed }
  /// Whether it was cancelled before it was performed. Any thread.
  public var isCancelled: Bool { state.load(ordering: .acquiring) == .cancelled }

  var isWaiting: Bool { state.load(ordering: .acquiring) == .waiting }

  package func begin() -> Bool {
    state.compareExchange(
      expected: .waiting, desired: .performing, ordering: .acquiringAndReleasing
    ).exchanged
  }

  package func finish() {
    state.store(.performed, ordering: .releasing)
    gate?.open()
  }
}

/// One queued block: for whom it waits, and what it does.
package struct QueuedBlock {
  package let modes: [ModeName]
  package let asSource: Bool
  package let request: PerformRequest
  /// The job of an actor that the body runs, if it runs one.
  let job: UnownedJob?
  package let body: () -> Void

  init(
    modes: [ModeName], asSource: Bool, request: PerformRequest, job: UnownedJob? = nil,
    body: @escaping () -> Void
  ) {
    self.modes = modes
    self.asSource = asSource
    self.request = request
    self.job = job
    self.body = body
  }

  package func isFor(_ mode: Mode) -> Bool {
    modes.contains { $0 == mode.name || (mode.isCommon && $0 == .common) }
  }
}

extension QueuedBlock {
  fileprivate var order: Int { request.aim?.order ?? 0 }
}

/// The blocks and the perform requests that wait on a loop. Loop thread only.
struct PendingBlocks {
  var blocks = BlockQueue()
  /// Performed as sources are (R111).
  var requests = BlockQueue()
  var targets = PerformTargets()
  /// A job of an actor is under way: no other is performed, also in nested runs.
  var holdsJobs = false

  var all: [QueuedBlock] { blocks.blocks + requests.blocks }

  func holds(_ mode: Mode) -> Bool {
    blocks.holds(mode, jobs: !holdsJobs) || requests.holds(mode)
  }

  mutating func clear() {
    blocks = BlockQueue()
    requests = BlockQueue()
    targets = PerformTargets()
  }
}

/// The blocks of a loop that were not performed yet, in order of adding. Loop thread only.
package struct BlockQueue {
  package private(set) var blocks: [QueuedBlock] = []
  /// Whether any of them has another order than 0.
  private var hasOrders = false

  @inline(__always) package var isEmpty: Bool { blocks.isEmpty }

  /// Puts a block behind those of its order and of lower ones (R145).
  package mutating func append(_ block: QueuedBlock) {
    if hasOrders || block.request.aim != nil { return insert(block) }
    blocks.append(block)
  }

  @inline(never)
  private mutating func insert(_ block: QueuedBlock) {
    if blocks.isEmpty { hasOrders = false }
    hasOrders = hasOrders || block.order != 0
    var (low, high) = (0, blocks.count)
    while low < high {
      let middle = (low + high) / 2
      if blocks[middle].order <= block.order { low = middle + 1 } else { high = middle }
    }
    blocks.insert(block, at: low)
  }

  /// - Parameter jobs: Whether jobs of actors count.
  func holds(_ mode: Mode, jobs: Bool = true) -> Bool {
    blocks.contains { !$0.request.isCancelled && (jobs || $0.job == nil) && $0.isFor(mode) }
  }

  /// Takes all that wait for a mode, together (R109), and all that were cancelled; the others keep
  /// their places (R105).
  ///
  /// Nothing is let go here, for a deinit may queue a block while this is under way.
  /// - Parameter jobs: Whether jobs of actors are taken.
  mutating func take(for mode: Mode, jobs: Bool = true) -> [QueuedBlock] {
    var taken: [QueuedBlock] = []
    if blocks.allSatisfy({ (jobs || $0.job == nil) && $0.isFor(mode) }) {
      swap(&taken, &blocks)
      return taken
    }
    var kept: [QueuedBlock] = []
    for block in blocks {
      if block.isFor(mode) && (jobs || block.job == nil) || block.request.isCancelled {
        taken.append(block)
      } else {
        kept.append(block)
      }
    }
    if !taken.isEmpty { swap(&kept, &blocks) }
    return taken
  }
}
