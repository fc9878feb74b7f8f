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
  package private(set) var body: () -> Void
  /// Its place in order of adding, once it waits.
  fileprivate var number: UInt64 = 0
  /// The body, if it waits in several lists.
  fileprivate var shared: SharedBody?

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

  fileprivate var order: Int { request.aim?.order ?? 0 }
  fileprivate var isLive: Bool { !request.isCancelled && !(shared?.isTaken ?? false) }

  fileprivate func precedes(_ other: QueuedBlock) -> Bool {
    order != other.order ? order < other.order : number < other.number
  }

  /// Lets the lists of several modes hold it once.
  fileprivate mutating func share() {
    let shared = SharedBody(body)
    self.shared = shared
    body = { shared.body?() }
  }

  /// Takes the body out of all lists.
  /// - Returns: false if another mode took it before.
  fileprivate mutating func take() -> Bool {
    guard let shared else { return true }
    guard let own = shared.body.take() else { return false }
    body = own
    return true
  }
}

/// The body of a block for several modes: the first that runs takes it (R105).
private final class SharedBody {
  var body: (() -> Void)?

  init(_ body: @escaping () -> Void) { self.body = body }

  var isTaken: Bool { body == nil }
}

/// The blocks that wait for one name of a mode, in their order. Loop thread only.
struct BlockList {
  private static let least = 32

  private var blocks: [QueuedBlock] = []
  /// When to look next for those that are over.
  private var limit = Self.least

  @inline(__always) var isEmpty: Bool { blocks.isEmpty }
  var live: [QueuedBlock] { blocks.filter(\.isLive) }

  func holdsLive() -> Bool {
    blocks.contains {
      Steps.note(1)
      return $0.isLive
    }
  }

  /// Puts a block behind those of its order and of lower ones (R145).
  fileprivate mutating func append(_ block: QueuedBlock) {
    if blocks.count >= limit { prune() }
    if block.request.aim == nil && (blocks.last?.order ?? 0) <= 0 {
      blocks.append(block)
    } else {
      insert(block)
    }
  }

  @inline(never)
  private mutating func insert(_ block: QueuedBlock) {
    var (low, high) = (0, blocks.count)
    while low < high {
      let middle = (low + high) / 2
      if block.precedes(blocks[middle]) { high = middle } else { low = middle + 1 }
    }
    blocks.insert(block, at: low)
  }

  /// Lets go of those that are over, once they may be half of all.
  private mutating func prune() {
    Steps.note(blocks.count)
    // What is let go of may queue a block.
    let old = blocks
    blocks = old.filter(\.isLive)
    limit = max(Self.least, 2 * blocks.count)
  }

  /// Takes all, and the memory; nothing is let go of here.
  fileprivate mutating func takeAll() -> [QueuedBlock] {
    Steps.note(blocks.count)
    limit = Self.least
    var taken: [QueuedBlock] = []
    swap(&taken, &blocks)
    return taken
  }
}

/// The blocks, or the perform requests, that wait on a loop: those for one mode wait in it, so that
/// a pass looks at its own alone. Loop thread only.
struct PendingBlocks {
  private var commonBlocks = BlockList()
  /// Performed as sources are (R111).
  private var commonRequests = BlockList()
  /// The jobs of actors, for all common modes.
  private var jobs = BlockList()
  private var lastNumber: UInt64 = 0
  var targets = PerformTargets()
  /// A job of an actor is under way: no other is performed, also in nested runs.
  var holdsJobs = false

  /// - Parameter modes: Those that the block is for, `common` left out.
  mutating func append(_ block: QueuedBlock, _ modes: [Mode], isForCommon: Bool) {
    var block = block
    lastNumber += 1
    block.number = lastNumber
    if modes.count + (isForCommon ? 1 : 0) > 1 { block.share() }
    for mode in modes {
      if block.asSource { mode.requests.append(block) } else { mode.blocks.append(block) }
    }
    if !isForCommon { return }
    if block.job != nil {
      jobs.append(block)
    } else if block.asSource {
      commonRequests.append(block)
    } else {
      commonBlocks.append(block)
    }
  }

  func holds(_ mode: Mode) -> Bool {
    if mode.blocks.holdsLive() || mode.requests.holdsLive() { return true }
    if !mode.isCommon { return false }
    return commonBlocks.holdsLive() || commonRequests.holdsLive()
      || (!holdsJobs && jobs.holdsLive())
  }

  /// All that are for a mode.
  func live(for mode: Mode) -> [QueuedBlock] {
    let common = mode.isCommon ? commonBlocks.live + commonRequests.live + jobs.live : []
    return mode.blocks.live + mode.requests.live + common
  }

  /// Takes all blocks that wait for a mode, together (R109).
  ///
  /// Nothing is let go here, for a deinit may queue a block while this is under way.
  @inline(__always)
  mutating func takeBlocks(for mode: Mode) -> [QueuedBlock] {
    let isCommon = mode.isCommon && !(commonBlocks.isEmpty && (holdsJobs || jobs.isEmpty))
    if mode.blocks.isEmpty && !isCommon { return [] }
    var taken = mode.blocks.takeAll()
    if isCommon {
      taken = Self.merged(taken, commonBlocks.takeAll())
      if !holdsJobs { taken = Self.merged(taken, jobs.takeAll()) }
    }
    return Self.own(taken)
  }

  /// Takes all perform requests that wait for a mode, together.
  @inline(__always)
  mutating func takeRequests(for mode: Mode) -> [QueuedBlock] {
    let isCommon = mode.isCommon && !commonRequests.isEmpty
    if mode.requests.isEmpty && !isCommon { return [] }
    let own = mode.requests.takeAll()
    return Self.own(isCommon ? Self.merged(own, commonRequests.takeAll()) : own)
  }

  private static func merged(_ some: [QueuedBlock], _ others: [QueuedBlock]) -> [QueuedBlock] {
    if others.isEmpty { return some }
    if some.isEmpty { return others }
    return (some + others).sorted { $0.precedes($1) }
  }

  /// Takes the bodies out of the lists of other modes, and leaves out what another mode took.
  private static func own(_ taken: [QueuedBlock]) -> [QueuedBlock] {
    if taken.allSatisfy({ $0.shared == nil }) { return taken }
    return taken.compactMap {
      var block = $0
      return block.take() ? block : nil
    }
  }

  /// Takes everything out: the loop ends.
  mutating func takeAll(_ modes: ModeList) -> [QueuedBlock] {
    var taken = commonBlocks.takeAll() + commonRequests.takeAll() + jobs.takeAll()
    for mode in modes { taken += mode.blocks.takeAll() + mode.requests.takeAll() }
    targets = PerformTargets()
    return taken
  }
}
