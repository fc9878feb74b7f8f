// Perform blocks: queued in order, taken together, each for the first of its modes that runs.

internal import Synchronization

/// A block that was queued on a loop, or a request that was made of it; it can be cancelled.
///
/// Counterparts: `CFRunLoopPerformBlock`, and Cocoa's perform-selector requests.
public final class PerformRequest: Sendable {
  package enum State: Int, AtomicRepresentable { case waiting, performing, performed, cancelled }
  private let state = Atomic<State>(.waiting)
  /// The timer of a delayed request; set once, before any other thread knows the request.
  nonisolated(unsafe) package var timer: Loop.Timer?

  /// Opened when it was performed or cancelled: a caller waits for that.
  private let gate: (any Gate)?

  /// Its place among others, and its target; nil for most.
  let aim: PerformAim?

  init(gate: (any Gate)? = nil, aim: PerformAim? = nil) {
    self.gate = gate
    self.aim = aim
  }

  /// Takes the request back if it was not performed yet (R115). Any thread.
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

  func begin() -> Bool {
    state.compareExchange(
      expected: .waiting, desired: .performing, ordering: .acquiringAndReleasing
    ).exchanged
  }

  func finish() {
    state.store(.performed, ordering: .releasing)
    gate?.open()
  }
}

/// One queued block: its modes, and what it does.
///
/// It waits in the lists of all its modes; the first that runs takes it (R105).
package final class QueuedBlock {
  let modes: [ModeName]
  let asSource: Bool
  let request: PerformRequest
  /// The job of an actor that the body runs, if it runs one.
  let job: UnownedJob?
  private var body: (() -> Void)?
  /// Its place in order of adding, once it waits.
  fileprivate var number: UInt64 = 0
  fileprivate var isTaken = false

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
  fileprivate var isLive: Bool { !isTaken && !request.isCancelled }

  fileprivate func precedes(_ other: QueuedBlock) -> Bool {
    order != other.order ? order < other.order : number < other.number
  }

  /// Performs the body, and releases it: lists of other modes may still hold the block.
  func perform() { body.take()?() }
}

/// The blocks that wait for one name of a mode, in their order. Loop thread only.
struct BlockList {
  private static let least = 32

  private var blocks: [QueuedBlock] = []
  /// When to remove finished blocks next.
  private var limit = Self.least
  /// Whether any of them has another order than 0.
  private var hasOrders = false

  var live: [QueuedBlock] { blocks.filter(\.isLive) }

  @inline(__always)
  func holdsLive() -> Bool { !blocks.isEmpty && findLive() }

  @inline(never)
  private func findLive() -> Bool {
    blocks.contains {
      Steps.note(1)
      return $0.isLive
    }
  }

  /// Puts a block after those of its order and of lower ones (R145), and moves blocks that are
  /// finished to a list: nothing is released here.
  /// - Returns: How many more wait.
  @inline(__always)
  fileprivate mutating func append(
    _ block: QueuedBlock, finished: inout [QueuedBlock]
  ) -> Int {
    if !hasOrders && block.request.aim == nil && blocks.count < limit {
      blocks.append(block)
      return 1
    }
    return insert(block, finished: &finished)
  }

  @inline(never)
  fileprivate mutating func insert(
    _ block: QueuedBlock, finished: inout [QueuedBlock]
  ) -> Int {
    let before = blocks.count
    if blocks.count >= limit { prune(&finished) }
    hasOrders = hasOrders || block.order != 0
    var (low, high) = (0, blocks.count)
    while low < high {
      let middle = (low + high) / 2
      if block.precedes(blocks[middle]) { high = middle } else { low = middle + 1 }
    }
    blocks.insert(block, at: low)
    return blocks.count - before
  }

  /// Removes finished blocks, once they may be half of all.
  private mutating func prune(_ finished: inout [QueuedBlock]) {
    Steps.note(blocks.count)
    var live: [QueuedBlock] = []
    for block in blocks {
      if block.isLive { live.append(block) } else { finished.append(block) }
    }
    blocks = live
    limit = max(Self.least, 2 * blocks.count)
  }

  /// Removes the blocks that are wanted; the others stay in order.
  fileprivate mutating func take(where isWanted: (QueuedBlock) -> Bool) -> [QueuedBlock] {
    Steps.note(blocks.count)
    let all = blocks
    blocks = all.filter { !isWanted($0) }
    return all.filter(isWanted)
  }

  /// Adds all to what was taken from another list, each in its place.
  fileprivate mutating func moveAll(to taken: inout [QueuedBlock]) {
    if blocks.isEmpty { return }
    let own = takeAll()
    if taken.isEmpty {
      taken = own
    } else {
      taken = (taken + own).sorted { $0.precedes($1) }
    }
  }

  /// Takes all, and the memory; nothing is released here.
  fileprivate mutating func takeAll() -> [QueuedBlock] {
    if blocks.isEmpty { return [] }
    Steps.note(blocks.count)
    limit = Self.least
    hasOrders = false
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
  /// The number of the block that was added last.
  private(set) var lastNumber: UInt64 = 0
  /// How many are in the lists of all modes: mostly none.
  private var blockCount = 0
  private var requestCount = 0
  @inline(__always) var hasBlocks: Bool { blockCount > 0 }
  @inline(__always) var hasRequests: Bool { requestCount > 0 }
  var targets = PerformTargets()
  /// A job of an actor is under way: no other is performed, also in nested runs.
  var holdsJobs = false
  /// What has left the lists without being taken. Its release may call a `deinit` that queues a
  /// block, so it goes when the change of this is over: see `Loop.releaseFinished`.
  private var finished: [QueuedBlock] = []
  @inline(__always) var hasFinished: Bool { !finished.isEmpty }

  /// Gives a block its place in order of adding.
  mutating func number(_ block: QueuedBlock) {
    lastNumber += 1
    block.number = lastNumber
  }

  @inline(__always)
  mutating func append(_ block: QueuedBlock, to mode: Mode) {
    if block.asSource {
      requestCount += mode.requests.append(block, finished: &finished)
    } else {
      blockCount += mode.blocks.append(block, finished: &finished)
    }
  }

  mutating func appendCommon(_ block: QueuedBlock) {
    if block.job != nil {
      blockCount += jobs.append(block, finished: &finished)
    } else if block.asSource {
      requestCount += commonRequests.append(block, finished: &finished)
    } else {
      blockCount += commonBlocks.append(block, finished: &finished)
    }
  }

  @inline(__always)
  func holds(_ mode: Mode) -> Bool { blockCount + requestCount > 0 && holdsSome(mode) }

  @inline(never)
  private func holdsSome(_ mode: Mode) -> Bool {
    holdsBlocks(mode) || holdsRequests(mode)
  }

  func holdsBlocks(_ mode: Mode) -> Bool {
    if blockCount == 0 { return false }
    if mode.blocks.holdsLive() { return true }
    return mode.isCommon && (commonBlocks.holdsLive() || (!holdsJobs && jobs.holdsLive()))
  }

  func holdsRequests(_ mode: Mode) -> Bool {
    if requestCount == 0 { return false }
    return mode.requests.holdsLive() || (mode.isCommon && commonRequests.holdsLive())
  }

  /// All that are for a mode.
  func live(for mode: Mode) -> [QueuedBlock] {
    let common = mode.isCommon ? commonBlocks.live + commonRequests.live + jobs.live : []
    return mode.blocks.live + mode.requests.live + common
  }

  /// Takes all blocks that wait for a mode, together (R109).
  mutating func takeBlocks(for mode: Mode) -> [QueuedBlock] {
    var taken = mode.blocks.takeAll()
    if mode.isCommon {
      commonBlocks.moveAll(to: &taken)
      if !holdsJobs { jobs.moveAll(to: &taken) }
    }
    blockCount -= taken.count
    return own(taken)
  }

  /// Takes all perform requests that wait for a mode, together.
  mutating func takeRequests(for mode: Mode) -> [QueuedBlock] {
    var taken = mode.requests.takeAll()
    if mode.isCommon { commonRequests.moveAll(to: &taken) }
    requestCount -= taken.count
    return own(taken)
  }

  /// Takes what waits for common modes after a block of a batch.
  /// - Parameters:
  ///   - last: What was added later is not part of the batch.
  ///   - rest: The others of the batch, among which the block has its place.
  mutating func takeCommon(
    behind block: QueuedBlock, upTo last: UInt64, _ rest: ArraySlice<QueuedBlock>
  ) -> [QueuedBlock] {
    func isOfBatch(_ other: QueuedBlock) -> Bool {
      other.number <= last && block.precedes(other)
    }
    var found: [QueuedBlock]
    if block.asSource {
      found = commonRequests.take(where: isOfBatch)
      requestCount -= found.count
    } else {
      found = commonBlocks.take(where: isOfBatch)
      if !holdsJobs { found += jobs.take(where: isOfBatch) }
      blockCount -= found.count
    }
    return (rest + own(found)).sorted { $0.precedes($1) }
  }

  /// Puts the rest of a batch back in its place: the next pass performs it.
  mutating func giveBack(_ rest: ArraySlice<QueuedBlock>, to mode: Mode) {
    for block in rest {
      block.isTaken = false
      let isOwn = block.modes.contains(mode.name)
      if block.job != nil {
        blockCount += jobs.insert(block, finished: &finished)
      } else if block.asSource {
        requestCount +=
          isOwn
          ? mode.requests.insert(block, finished: &finished)
          : commonRequests.insert(block, finished: &finished)
      } else {
        blockCount +=
          isOwn
          ? mode.blocks.insert(block, finished: &finished)
          : commonBlocks.insert(block, finished: &finished)
      }
    }
  }

  /// Marks what was taken, except what another mode took before.
  private mutating func own(_ taken: [QueuedBlock]) -> [QueuedBlock] {
    var rest = taken
    if taken.contains(where: \.isTaken) {
      rest = taken.filter { !$0.isTaken }
      finished += taken.filter(\.isTaken)
    }
    for block in rest { block.isTaken = true }
    return rest
  }

  /// Never inlined: the optimiser would release the blocks before the list is empty.
  @inline(never)
  mutating func takeFinished() -> [QueuedBlock] {
    var taken: [QueuedBlock] = []
    swap(&taken, &finished)
    return taken
  }

  /// Takes everything out: the loop ends.
  mutating func takeAll(_ modes: ModeList) -> [QueuedBlock] {
    var taken = commonBlocks.takeAll() + commonRequests.takeAll() + jobs.takeAll()
    for mode in modes { taken += mode.blocks.takeAll() + mode.requests.takeAll() }
    targets = PerformTargets()
    blockCount = 0
    requestCount = 0
    return taken
  }
}
