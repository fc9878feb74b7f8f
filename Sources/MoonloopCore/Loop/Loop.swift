// The loop: one for each thread, its modes and its state. What it does is in `Loop+Run`.

internal import CLinuxShims
internal import Synchronization

/// A run loop: sleeps until something happens in the mode it runs in, and calls its handlers.
///
/// A loop belongs to one thread. Other threads may use `perform`, `performAndWait`, `stop`,
/// `stopWhenNextLooking`, `wakeUp`, a source's `signal` and a port's `post`; anything else is asked
/// for by `change`. Counterpart: `CFRunLoop`.
// Sendable: everything is touched on the loop's thread only, but for `shared`.
public final class Loop: @unchecked Sendable {
  /// What the loop is called in reports.
  public let name: String
  /// The loop's view of the operating system.
  package let kernel: any Kernel
  /// That of the kernel, to be asked without a call through the protocol.
  package let clock: Clock
  /// Changed only when the loop has ended; see `LateJobs`.
  private let thread: Atomic<Int32>

  package let shared = SharedState()

  // Loop thread only.
  //
  // What each pass looks at is `@exclusivity(unchecked)`: a check costs 4 ns, and there would be a
  // dozen in a pass. No access to them spans a call: they are loads, stores and array operations
  // that call no other code and release no last reference.
  @exclusivity(unchecked) var modes: ModeList
  /// The first of the modes, where most items are: apart, so that no use of it counts a reference.
  let defaultMode = Mode(name: .default, index: 0)
  @exclusivity(unchecked) var items = LoopItems()
  @exclusivity(unchecked) package internal(set) var runs = RunState()
  var stops = StopRecord()
  @exclusivity(unchecked) var time = PassTime()
  @exclusivity(unchecked) var listening = Listening()
  package let timers = TimerStore()
  @exclusivity(unchecked) var timerState = TimerState()
  @exclusivity(unchecked) var signals = SignalList()
  @exclusivity(unchecked) var pending = PendingBlocks()
  @exclusivity(unchecked) var descriptors: DescriptorTable
  @exclusivity(unchecked) package var arrivals = ArrivalState()
  var mainQueue = MainQueueState()
  @exclusivity(unchecked) var tracing = Tracing()
  @exclusivity(unchecked) package var hooks = LoopHooks()

  /// - Parameter room: How many descriptors the kernel reports at once.
  /// - Throws: `SystemError` if the kernel cannot make a poll set.
  package init(
    name: String, kernel: any Kernel, thread: Int32, room: Int = 256
  ) throws(SystemError) {
    self.name = name
    self.kernel = kernel
    clock = kernel.clock
    self.thread = Atomic(thread)
    do {
      descriptors = DescriptorTable(bareSet: try kernel.makePollSet(), room: room)
    } catch {
      // No deinit runs for an object that was never complete.
      timers.deallocate()
      signals.deallocate()
      throw error
    }
    modes = ModeList(defaultMode)
    if arrivals.hasIntake { shared.inbox.pin() }
  }

  deinit {
    timers.deallocate()
    forgetSignalled()
    signals.deallocate()
    descriptors.deallocate()
  }

  // MARK: Threads

  /// Whether the calling thread is the one that the loop belongs to. Any thread.
  public var isOnThread: Bool {
    @inline(__always) get { cmx_thread_id() == threadID }
  }

  /// The thread that the loop belongs to. Any thread.
  var threadID: Int32 { @inline(__always) get { thread.load(ordering: .relaxed) } }

  /// Runs a body as if on the thread of this loop, which has ended.
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
      "\(what): \(name) belongs to thread \(threadID), "
        + "called on thread \(cmx_thread_id()); "
        + "use perform or change to get there")
  }

  /// Whether the loop's thread has ended, or the isolated loop is over. Any thread.
  public var hasEnded: Bool { shared.hasEnded.load(ordering: .acquiring) }

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
  public var isRunning: Bool { shared.activation.load(ordering: .acquiring) != 0 }

  /// Whether the loop sleeps (R5). Any thread. Counterpart: `CFRunLoopIsWaiting`.
  public var isWaiting: Bool { shared.isWaiting.load(ordering: .acquiring) }

  /// The mode of the innermost run; nil while the loop does not run (R4). Loop thread only.
  public var currentMode: ModeName? {
    requireThread("currentMode")
    return runs.frames.last?.mode.name
  }

  /// Keeps the clock from jumping, in runs that serve an item, until the hold is released. Loop
  /// thread only.
  package func holdClock(_ name: String, for item: Item) -> Hold {
    kernel.clock.holds.open(name) { [weak self, weak item] in
      guard let self, let item, let mode = runs.frames.last?.mode.name else { return true }
      return contains(item, mode: mode)
    }
  }

  /// Whether the innermost run is in one of these modes. Loop thread only; not checked.
  package func isRunning(inOneOf names: [ModeName]) -> Bool {
    guard let mode = runs.frames.last?.mode else { return false }
    for name in names where name == mode.name || mode.isCommon && name == .common { return true }
    return false
  }

  /// How many runs are active, one inside the other. Loop thread only.
  public var depth: Int {
    requireThread("depth")
    return runs.frames.count
  }

  /// How many passes the loop made, in all runs. Loop thread only.
  public var passes: UInt64 {
    requireThread("passes")
    return runs.passes
  }

  /// How late the system may end a sleep of the loop, so that it wakes for several at once.
  ///
  /// By default what its thread has, 50 µs; zero is the least that there is, 1 ns; a second is the
  /// most. Loop thread only.
  public var timerSlack: Duration {
    get {
      requireThread("timerSlack")
      let own = kernel.timerSlack
      return .nanoseconds(own > 0 ? own : Int64(max(0, cmx_timer_slack())))
    }
    set {
      requireThread("timerSlack")
      kernel.timerSlack = min(max(1, newValue.loopNanoseconds), 1_000_000_000)
    }
  }

  /// How long before the date of a timer the loop ends its sleep, to look again and again.
  ///
  /// The processor is busy for that time before each timer, which then is late by no more than a
  /// look at the clock. Zero, the default: the loop sleeps until the date; a second is the most.
  /// Has no effect where time jumps, or while what enters the loop is recorded. Loop thread only.
  public var spin: Duration {
    get {
      requireThread("spin")
      return .nanoseconds(kernel.spin)
    }
    set {
      requireThread("spin")
      kernel.spin = min(max(0, newValue.loopNanoseconds), 1_000_000_000)
    }
  }

  /// How deep runs may be nested; a run beyond stops the program: ask `canRun`. Loop thread only.
  public var nestingLimit: Int {
    get {
      requireThread("nestingLimit")
      return runs.nestingLimit
    }
    set {
      requireThread("nestingLimit")
      runs.nestingLimit = newValue
    }
  }

  /// Whether a run may begin: not nested deeper than the limit. Loop thread only.
  public var canRun: Bool {
    requireThread("canRun")
    return runs.frames.count < runs.nestingLimit && !hasEnded
  }

  /// Whether runs must end: the program, or this loop, was asked to end. Any thread.
  @inline(__always)
  package var mustEnd: Bool {
    Ending.isAskedFor && !shared.outlastsScripts.load(ordering: .relaxed)
      || shared.endsRuns.load(ordering: .relaxed)
  }

  /// Ends all runs under way as if they had been stopped, and every later one at once. Any thread.
  package func endRuns() {
    shared.endsRuns.store(true, ordering: .sequentiallyConsistent)
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

  /// Releases everything when the thread ends: sources get their cancel calls (R1).
  package func end() {
    while !hooks.whenEnds.isEmpty { hooks.whenEnds.removeFirst().body() }
    guard !shared.hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
    shared.inbox.close()
    for mode in modes {
      for source in mode.sources { leaveAllModes(source) }
      for port in mode.ports { leaveAllModes(port) }
      for observer in mode.observers { leaveAllModes(observer) }
      for descriptor in mode.descriptors { leaveAllModes(descriptor) }
      for descriptor in mode.files { leaveAllModes(descriptor) }
    }
    for item in items.common { leaveAllModes(item) }
    for slot in 0..<timers.records.count where timers.records[slot].flags.contains(.valid) {
      invalidate(TimerID(slot: slot, generation: timers.records[slot].generation))
    }
    let jobs = cancelBlocks()
    forgetSignalled()
    arrivals.crossings = nil
    endTracing()
    hooks.whenIdle = []
    hooks.whenModeIsMade = []
    hooks.whenPlacesChange = []
    for mode in modes { if let set = mode.pollSet { kernel.closePollSet(set) } }
    kernel.closePollSet(descriptors.bareSet)
    modes.removeOthers()
    shared.lateJobs.begin(with: jobs, of: self)
  }

  /// Cancels what waits to be performed.
  /// - Returns: The jobs of actors among it, which cannot be cancelled.
  private func cancelBlocks() -> [UnownedJob] {
    var left = pending.takeAll(modes)
    var posts = shared.inbox.takeAll()
    while let post = posts.takeFirst() {
      if case .perform(let block) = post { left.append(block) }
    }
    for block in left { block.request.cancel() }
    return left.compactMap(\.job)
  }
}
