// The loop: one for each thread, its modes and its state. What it does is in `Loop+Run`.

internal import CLinuxShims
package import Synchronization

/// A run loop: sleeps until something happens in the mode it runs in, and calls who waits for it.
///
/// A loop belongs to one thread. From other threads `perform`, `stop`, `wakeUp` and a source's
/// `signal` work; anything else is asked for by `change`. Counterpart: `CFRunLoop`.
// Sendable: everything is touched on the loop's thread only, but for the inbox and the atomics,
// which say so at their declaration.
public final class Loop: @unchecked Sendable {
  /// What the loop is called in reports.
  public let name: String
  /// The loop's view of the operating system.
  package let kernel: any Kernel
  /// That of the kernel, to be asked without a call through the protocol.
  package let clock: Clock
  /// Changed only when the loop has ended; see `LateJobs`.
  private let thread: Atomic<Int32>

  // Any thread.
  package let inbox = Inbox<Post>()
  /// How many wake-ups were asked for, ever: a pass compares it with that at its begin (R117).
  package let wakes = Atomic<UInt64>(0)
  /// Whether the loop's thread may be in the kernel's wait: whoever takes it off wakes the kernel.
  package let isAsleep = Atomic<Bool>(false)
  package let waitingFlag = Atomic<Bool>(false)
  /// The serial number of the innermost run; 0: the loop does not run.
  package let activation = Atomic<UInt64>(0)
  private let ended = Atomic<Bool>(false)
  /// Every run under way, and every later one, ends at once.
  private let endsRuns = Atomic<Bool>(false)
  /// The jobs of actors that come after the end.
  let lateJobs = LateJobs()

  // Loop thread only.
  //
  // What each pass looks at is `@exclusivity(unchecked)`: a check costs 4 ns, and there would be a
  // dozen in a pass. No access to them spans a call: they are loads, stores and array operations
  // that neither call anybody nor let go of the last reference to anything.
  @exclusivity(unchecked) var modes: [Mode]
  /// The first of the modes, where most items are.
  let defaultMode = Mode(name: .default, index: 0)
  /// In order of their indices.
  @exclusivity(unchecked) var commonModes: [Mode]
  var modeIndices: [ModeName: Int] = [:]
  @exclusivity(unchecked) var commonItems = ItemList<Item>()
  @exclusivity(unchecked) var frames: [RunFrame] = []
  var lastSerial: UInt64 = 0
  package let timers = TimerStore()
  let farModes = FarModes()
  /// How many timers there may be; a test lowers it.
  package var timerLimit = TimerQueue.slotLimit
  /// The slots of the timers whose callbacks are under way.
  package let firing = Table<Int32>()
  /// A nested run has parked timers whose callbacks were under way.
  var wasParked = false
  @exclusivity(unchecked) var wallClock = WallClockDates()
  @exclusivity(unchecked) var signals = SignalList()
  @exclusivity(unchecked) var blocks = BlockQueue()
  @exclusivity(unchecked) var requests = BlockQueue()
  /// A job of an actor is under way: no other is performed, also in nested runs.
  @exclusivity(unchecked) var holdsJobs = false
  /// Sources and ports that belong to another loop as well.
  var guests: [ObjectIdentifier: Guest] = [:]
  let descriptors = Table<DescriptorSlot>()
  var freeDescriptors: [Int] = []
  /// The set for modes without descriptors: only the wake-up is in it.
  package let barePollSet: PollSetID
  package let events = UnsafeMutableBufferPointer<ReadyEvent>.allocate(capacity: 256)
  /// What the clock said when the loop last looked; dates up to it are due.
  @exclusivity(unchecked) var passNow: Int64 = .min
  /// In this pass it has not looked: see `lookAtClock`.
  @exclusivity(unchecked) var isTimeOld = false
  /// How many sleeps were left out because a timer was due already.
  var omittedSleeps = 0
  var isApplyingPosts = false
  /// Whether what enters the loop is kept, or replayed.
  let hasIntake = !Intake.isPlain
  /// Where messages of other threads arrive then, by number.
  var arrivals: [Int: Arrivals] = [:]
  var lastArrival = 0
  /// How it is kept, or replayed.
  package var crossings: (any Crossings)?
  var mainQueue = MainQueueState()
  var stops = StopRecord()
  /// It serves the loops of scripts to their last word: the end of the program is not for it.
  @exclusivity(unchecked) package var outlastsScripts = false
  /// How many passes the loop made, in all runs. Loop thread only.
  public var passes: UInt64 {
    requireThread("passes")
    return passCount
  }
  var passCount: UInt64 = 0
  var depthLimit = 64
  @exclusivity(unchecked) var tracing = Tracing()
  /// What a timer without an object is called in traces.
  package var timerName: ((TimerID, TimerCallout) -> String)?
  /// In which order events that are ready at once are served; nil: as they became so.
  @exclusivity(unchecked) package var eventOrder: EventOrder?
  /// When descriptors were last looked at.
  @exclusivity(unchecked) var inspection = DescriptorInspection()
  @exclusivity(unchecked) var hooks = LoopHooks()

  /// - Throws: `SystemError` if the kernel cannot make a poll set.
  package init(name: String, kernel: any Kernel, thread: Int32) throws(SystemError) {
    self.name = name
    self.kernel = kernel
    clock = kernel.clock
    self.thread = Atomic(thread)
    do {
      barePollSet = try kernel.makePollSet()
    } catch {
      // No deinit runs for what was never whole.
      timers.deallocate()
      firing.deallocate()
      signals.deallocate()
      descriptors.deallocate()
      events.deallocate()
      throw error
    }
    modes = [defaultMode]
    commonModes = [defaultMode]
    modeIndices = [.default: 0]
    defaultMode.isCommon = true
    if hasIntake { inbox.pin() }
  }

  deinit {
    timers.deallocate()
    firing.deallocate()
    forgetSignalled()
    signals.deallocate()
    for slot in 0..<descriptors.count { descriptors[slot].source?.release() }
    descriptors.deallocate()
    events.deallocate()
  }

  // MARK: Threads

  /// Whether the calling thread is the one that the loop belongs to. Any thread.
  public var isOnThread: Bool {
    @inline(__always) get { cmx_thread_id() == thread.load(ordering: .relaxed) }
  }

  /// Has the calling thread be the loop's, which has ended, for the time of a body.
  func takeOver(_ body: () -> Void) {
    let before = thread.exchange(cmx_thread_id(), ordering: .acquiringAndReleasing)
    body()
    thread.store(before, ordering: .releasing)
  }

  /// Traps unless the caller is on the loop's thread.
  @inline(__always)
  package func requireThread(_ what: StaticString) {
    if !isOnThread { wrongThread(what) }
  }

  @inline(never)
  private func wrongThread(_ what: StaticString) -> Never {
    fatalError(
      "\(what): \(name) belongs to thread \(thread.load(ordering: .relaxed)), "
        + "called on thread \(cmx_thread_id()); "
        + "use perform or change to get there")
  }

  /// Whether the loop's thread has ended, or the isolated loop is over. Any thread.
  public var hasEnded: Bool { ended.load(ordering: .acquiring) }

  // MARK: State

  /// The time on the loop's clock, read now. Loop thread only.
  public var now: LoopTime {
    requireThread("now")
    return LoopTime(nanoseconds: clock.now())
  }

  /// Nanoseconds since 1970, by the wall clock as the loop's clock sees it. Loop thread only.
  public var wallTime: Int64 {
    requireThread("wallTime")
    return kernel.wallTime()
  }

  /// Whether the loop runs, nested or not. Any thread.
  public var isRunning: Bool { activation.load(ordering: .acquiring) != 0 }

  /// Whether the loop sleeps (R5). Any thread. Counterpart: `CFRunLoopIsWaiting`.
  public var isWaiting: Bool { waitingFlag.load(ordering: .acquiring) }

  /// The mode of the innermost run; nil while the loop does not run (R4). Loop thread only.
  public var currentMode: ModeName? {
    requireThread("currentMode")
    return frames.last?.mode.name
  }

  /// How many runs are active, one inside the other. Loop thread only.
  public var depth: Int {
    requireThread("depth")
    return frames.count
  }

  /// How deep runs may be nested; a run beyond stops the program: ask `canRun`. Loop thread only.
  public var nestingLimit: Int {
    get {
      requireThread("nestingLimit")
      return depthLimit
    }
    set {
      requireThread("nestingLimit")
      depthLimit = newValue
    }
  }

  /// Whether a run may begin: not nested deeper than the limit. Loop thread only.
  public var canRun: Bool {
    requireThread("canRun")
    return frames.count < depthLimit && !hasEnded
  }

  /// Whether no run is to go on: the program, or this loop, was asked to end. Any thread.
  @inline(__always)
  package var mustEnd: Bool {
    Ending.isAskedFor && !outlastsScripts || endsRuns.load(ordering: .relaxed)
  }

  /// Ends all runs under way as if they had been stopped, and every later one at once. Any thread.
  package func endRuns() {
    endsRuns.store(true, ordering: .sequentiallyConsistent)
    wakeUp()
  }

  /// Whether a stop met the last run that ended, whatever its result says (R19). Loop thread only.
  public var wasStopped: Bool {
    requireThread("wasStopped")
    return stops.metLastRun
  }

  /// What the stop that met the last run handed over. Loop thread only.
  public var stopValue: (any Sendable)? {
    requireThread("stopValue")
    return stops.value
  }

  /// Whether the main queue holds runs open in common modes (R8). Loop thread only.
  public var mainQueueHolds: Bool {
    get {
      requireThread("mainQueueHolds")
      return mainQueue.holds
    }
    set {
      requireThread("mainQueueHolds")
      mainQueue.holds = newValue
    }
  }

  // MARK: The end

  /// Lets go of everything, when the thread ends: sources hear of their cancelling (R1).
  package func end() {
    while !hooks.whenEnds.isEmpty { hooks.whenEnds.removeFirst().body() }
    guard !ended.exchange(true, ordering: .acquiringAndReleasing) else { return }
    inbox.close()
    for mode in modes {
      for source in mode.sources { leaveAllModes(source) }
      for port in mode.ports { leaveAllModes(port) }
      for observer in mode.observers { leaveAllModes(observer) }
      for descriptor in mode.descriptors { leaveAllModes(descriptor) }
      for descriptor in mode.files { leaveAllModes(descriptor) }
    }
    for item in commonItems { leaveAllModes(item) }
    for slot in 0..<timers.records.count where timers.records[slot].flags.contains(.valid) {
      invalidate(TimerID(slot: slot, generation: timers.records[slot].generation))
    }
    let jobs = cancelBlocks()
    blocks = BlockQueue()
    requests = BlockQueue()
    forgetSignalled()
    crossings = nil
    endTracing()
    hooks.whenIdle = []
    hooks.whenModeIsMade = []
    for mode in modes { if let set = mode.pollSet { kernel.closePollSet(set) } }
    kernel.closePollSet(barePollSet)
    modes.removeAll { $0.index > 0 }
    lateJobs.begin(with: jobs, of: self)
  }

  /// Cancels what waits to be performed.
  /// - Returns: The jobs of actors among it, which cannot be cancelled.
  private func cancelBlocks() -> [UnownedJob] {
    var left = blocks.blocks + requests.blocks
    for case .perform(let block)? in inbox.takeAll() { left.append(block) }
    for block in left { block.request.cancel() }
    return left.compactMap(\.job)
  }
}
