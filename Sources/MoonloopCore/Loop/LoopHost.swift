// A loop that is served in the runs of another run loop, which sleeps in its place and says when
// each step of a pass has come. `Loop+Run` is not asked meanwhile: the order is the host's.

internal import Synchronization

/// Another run loop of the same thread: each run of the loop is one of its runs.
package protocol LoopHost: AnyObject, Sendable {
  /// Ends its sleep, or the one that it is about to begin. Any thread.
  func wakeUp()
  /// Ends its innermost run. Loop thread only.
  func stop()
  /// Runs it in the mode of that name. Loop thread only.
  func run(_ name: ModeName, for timeout: Duration?, returnAfterSource: Bool) -> RunResult
}

/// What waits in a mode for the next step of a host. Loop thread only.
package struct HostedWork {
  /// Whether blocks wait.
  package let hasBlocks: Bool
  /// Whether signalled sources or perform requests wait.
  package let hasSignals: Bool
  /// Whether a port or descriptor is ready.
  package let hasReady: Bool
  /// When timers or tasks are due, and the time now; nil: there are none.
  package let due: (date: Int64, now: Int64)?
  /// Whether nothing in the mode keeps a run going.
  package let isEmpty: Bool
  /// Whether the mode has sources, and whether it has ports or descriptors.
  package let hasSources: Bool
  package let hasPorts: Bool
  /// Readable when a descriptor of the mode is ready; nil if it has none.
  package let descriptor: Int32?
}

extension Loop {
  // MARK: Beginning and end

  /// Whether the runs of another run loop serve this one. Any thread.
  package var isHosted: Bool { shared.isHosted.load(ordering: .acquiring) }

  /// Whether the time of the loop is that of the machine, as a host's is. Any thread.
  package var hasMachineTime: Bool { clock.mode == .real }

  /// From now on the runs of the loop are those of a host, which also serves the main queue.
  package func beginHosting(by host: any LoopHost) {
    hooks.host = host
    shared.host.withLock { $0 = host }
    shared.isHosted.store(true, ordering: .sequentiallyConsistent)
    mainQueue.isElsewhere = true
    silenceMainQueue()
  }

  package func endHosting() {
    shared.isHosted.store(false, ordering: .sequentiallyConsistent)
    shared.host.withLock { $0 = nil }
    hooks.host = nil
    hostWakes()
    mainQueue.isElsewhere = false
    if mainQueue.isSilent && !mainQueue.isHidden { setMainQueueInterest(.read) }
    while let frame = runs.frames.last, frame.isHosted { end(frame) }
  }

  /// Wakes the host, if it sleeps in the loop's place. Any thread.
  func wakeHost() -> Bool {
    if !shared.isHostAsleep.load(ordering: .sequentiallyConsistent) { return false }
    shared.host.withLock { $0 }?.wakeUp()
    return true
  }

  // MARK: Runs

  /// A run of the loop that is one of its host's.
  func run(
    in host: any LoopHost, _ name: ModeName, for timeout: Duration?, returnAfterSource: Bool
  ) -> RunResult {
    if runs.frames.count >= runs.nestingLimit { nestedTooDeep() }
    drainInbox()
    if mustEnd { stops.metLastRun = true }
    guard !hasEnded, !mustEnd, name != .common else { return .finished }
    let serial = runs.lastSerial
    let result = host.run(name, for: timeout, returnAfterSource: returnAfterSource)
    if runs.lastSerial == serial { stops.metLastRun = false }
    if result == .stopped { stops.metLastRun = true }
    return result
  }

  /// The host has begun a run in a mode. To be ended by `endHostedRun`.
  package func beginHostedRun(_ mode: Mode, returnAfterSource: Bool) -> RunFrame {
    drainInbox()
    stops.takePending()
    let frame = RunFrame(
      mode: mode, serial: takeSerial(), limit: .max, returnAfterSource: returnAfterSource)
    frame.isHosted = true
    if stops.metLastRun { frame.stop(stops.value) }
    begin(frame)
    seeWakes(frame)
    return frame
  }

  /// The host's run of that frame is over. Runs inside it have ended before.
  package func endHostedRun(_ frame: RunFrame) {
    if runs.frames.last === frame { end(frame) }
  }

  /// The innermost run, if it is one of the host's in that mode.
  package func hostedFrame(in mode: Mode) -> RunFrame? {
    guard let frame = runs.frames.last, frame.isHosted, frame.mode === mode else { return nil }
    return frame
  }

  /// Reports that the innermost run must end, if a stop has met it; once.
  package func passStop(to host: any LoopHost, of frame: RunFrame) {
    if mustEnd { frame.stop(nil) }
    guard frame.isStopped, !frame.hostKnowsStop else { return }
    frame.hostKnowsStop = true
    host.stop()
  }

  // MARK: Steps

  /// The host begins a pass: what waits for the end of the one before is done.
  package func beginHostedPass(_ frame: RunFrame) {
    if frame.hostHasPassed { seeWakes(frame) }
    frame.hostHasPassed = true
    runs.passes &+= 1
    drainInbox()
    endHostedPass()
  }

  package func endHostedPass() { if !hooks.afterPass.isEmpty { performAfterPass() } }

  /// Calls the observers of a mode for what the host does.
  package func tellHosted(_ activity: Activity, _ mode: Mode) { notify(activity, mode) }

  /// Whether an activity has an observer.
  package func isWatched(_ activity: Activity, _ mode: Mode) -> Bool {
    tracing.isOn || mode.observers.watched.contains(activity)
  }

  /// Fires the timers of a mode that are due.
  package func fireHostedTimers(_ mode: Mode) { if hasDueTimers(mode) { fireTimers(mode) } }

  /// Serves one port or descriptor of a mode that is ready.
  package func serveHostedPort(_ mode: Mode) {
    lookForReady(mode)
    if kernel.wallClockSteps != timerState.wallClock.steps { followWallClock() }
    _ = servePort(mode)
  }

  /// What waits in a mode.
  /// - Parameter asksKernel: Whether to look also which descriptors are ready.
  package func hostedWork(_ mode: Mode, asksKernel: Bool) -> HostedWork {
    drainInbox()
    let hasPorts = !mode.ports.isEmpty || !mode.descriptors.isEmpty || !mode.files.isEmpty
    if signals.hasKept { giveBackBatches() }
    if asksKernel && hasPorts { fetchReady(mode) }
    let hasDescriptors = !mode.descriptors.isEmpty || !timerState.wallClock.dates.isEmpty
    return HostedWork(
      hasBlocks: pending.holdsBlocks(mode),
      hasSignals: !mode.signals.isEmpty || pending.holdsRequests(mode),
      hasReady: hasReady(mode), due: nextDue(mode), isEmpty: isEmpty(mode),
      hasSources: !mode.sources.isEmpty, hasPorts: hasPorts,
      descriptor: hasDescriptors ? (try? pollSet(of: mode)).flatMap(kernel.descriptor) : nil)
  }

  private func nextDue(_ mode: Mode) -> (date: Int64, now: Int64)? {
    guard mode.hasTimers else { return nil }
    let now = clock.now()
    let date = hasDueTimers(mode) ? now : wakeDate(mode)
    return date == .max ? nil : (date, now)
  }

  // MARK: The host's sleep

  /// The host is about to sleep: anything asked for from now on wakes it.
  /// - Returns: false if something was asked for before; `hostedWork` has to be looked at again.
  package func hostSleeps() -> Bool {
    shared.isWaiting.store(true, ordering: .releasing)
    shared.isHostAsleep.store(true, ordering: .sequentiallyConsistent)
    shared.isAsleep.store(true, ordering: .sequentiallyConsistent)
    if isAskedFor { hostWakes() }
    return shared.isWaiting.load(ordering: .relaxed)
  }

  /// Whether a wake-up was asked for in the pass that ends with this sleep (R117).
  package func isWoken(_ frame: RunFrame) -> Bool {
    shared.wakes.load(ordering: .sequentiallyConsistent) != frame.wakesSeen
  }

  /// Ends the pass and calls the idle hooks, before a sleep of the host.
  package func prepareHostedSleep(_ mode: Mode) {
    endHostedPass()
    for hook in hooks.whenIdle { hook.body(wakeDate(mode)) }
  }

  /// The host is awake again.
  package func hostWakes() {
    shared.isAsleep.store(false, ordering: .sequentiallyConsistent)
    shared.isHostAsleep.store(false, ordering: .sequentiallyConsistent)
    shared.isWaiting.store(false, ordering: .releasing)
  }
}
