// The sequence of a run. This file alone decides the order; the stages do one thing each.
// Rule numbers (R…) are those of docs/sequence.md, which says where each comes from.

internal import Synchronization

extension Loop {
  /// Runs the loop in one mode and says why it ended (R6). Nests in any callback (R96).
  ///
  /// An unknown or empty mode is `finished` at once (R7), and so is the common pseudo-mode (R22).
  /// `wasStopped` is whether a stop met the run, even if the result is another (R19).
  /// - Parameters:
  ///   - name: The mode; only its items take part (R87).
  ///   - timeout: The time limit, looked at after each pass (R11); zero or less: exactly one pass,
  ///     which does not sleep (R12); nil: none (R21).
  ///   - returnAfterSource: Whether to return after the first pass that served a source (R13).
  ///   - performsJobs: Whether a run that a job of an actor begins performs other jobs, in its
  ///     middle; else they wait for its end, as the blocks of the main queue do (R124).
  /// - Note: Loop thread only. Stops the program beyond `nestingLimit`; see `canRun`. A loop that
  ///   has ended is `finished`.
  /// - SeeAlso: counterpart `CFRunLoopRunInMode`.
  @available(*, noasync)
  @discardableResult
  public func run(
    mode name: ModeName = .default, for timeout: Duration? = nil, returnAfterSource: Bool = false,
    performsJobs: Bool = false
  ) -> RunResult {
    requireThread("run")
    let heldJobs = pending.holdsJobs
    if performsJobs { pending.holdsJobs = false }
    defer { pending.holdsJobs = heldJobs }
    if let host = hooks.host {
      return run(in: host, name, for: timeout, returnAfterSource: returnAfterSource)
    }
    guard let mode = beginRun(in: name) else { return .finished }
    let frame = RunFrame(
      mode: mode, serial: takeSerial(), limit: timeout?.loopNanoseconds ?? .max,
      returnAfterSource: returnAfterSource)
    if stops.metLastRun { frame.stop(stops.value) }
    return run(frame)
  }

  /// The checks before each run (R7, R22).
  /// - Returns: The mode; nil if the run is `finished` at once.
  @inline(__always)
  func beginRun(in name: ModeName) -> Mode? {
    if runs.frames.count >= runs.nestingLimit { nestedTooDeep() }
    drainInbox()
    stops.takePending()
    if mustEnd { stops.metLastRun = true }
    guard !hasEnded, name != .common, let mode = findMode(name), !isEmpty(mode) else { return nil }
    return mode
  }

  @inline(never)
  func nestedTooDeep() -> Never {
    let (depth, limit) = (runs.frames.count, runs.nestingLimit)
    fatalError("run: \(name) is in \(depth) runs, at most \(limit) may be nested; ask canRun")
  }

  /// Runs the default mode until it is stopped or has nothing left (R20).
  /// - SeeAlso: counterpart `CFRunLoopRun`.
  @available(*, noasync)
  @discardableResult
  public func run() -> RunResult {
    while true {
      let result = run(mode: .default)
      if result == .stopped || result == .finished { return result }
    }
  }

  private func run(_ frame: RunFrame) -> RunResult {
    begin(frame)
    seeWakes(frame)
    notify(.entry, frame.mode)
    if frame.limit != .max {
      frame.deadline = min(frame.deadline, saturatingDate(clock.now(), after: frame.limit))
    }
    var result: RunResult? = frame.isStopped ? .stopped : nil  // R17
    while result == nil {
      result = pass(frame)
      if result == nil { seeWakes(frame) }
    }
    frame.isExiting = true
    notify(.exit, frame.mode)
    end(frame)
    return result ?? .finished
  }

  /// Passes that do not sleep, until nothing is ready (R152).
  func pump(_ frame: RunFrame, _ limit: Int) -> RunResult {
    let mode = frame.mode
    begin(frame)
    seeWakes(frame)
    notify(.entry, mode)
    runs.pumped.begin()
    var result: RunResult?
    var left = limit
    while result == nil && !frame.isStopped {
      _ = pass(frame)
      runs.pumped.endPass()
      seeWakes(frame)
      left -= 1
      if isEmpty(mode) {
        result = .finished
      } else if !hasWork(mode) {
        result = .timedOut
      } else if left == 0 || hooks.mustYield?() == true {
        result = .handledSource
      }
    }
    if frame.isStopped { result = .stopped }
    frame.isExiting = true
    notify(.exit, mode)
    end(frame)
    return result ?? .stopped
  }

  /// One pass (R24).
  private func pass(_ frame: RunFrame) -> RunResult? {
    let mode = frame.mode
    frame.openEvents = .all
    runs.passes &+= 1
    drainInbox()
    notify(.beforeTimers, mode)
    notify(.beforeSources, mode)
    performBlocks(mode)
    let performed = performSources(mode, onlyOne: frame.returnAfterSource)
    if performed { performBlocks(mode) }

    // What happens next: one event (R29). Looked for without a sleep if a source was performed, in
    // a polling run (R26), and if a port is ready already (R27); else the loop sleeps for it. Where
    // there is no visible difference, the sleep itself finds what is ready.
    let mayWait = !performed && !frame.polls
    let mustLook = mode.sleepIsWatched || frame.isStopped
    let isReady = mayWait ? mustLook && hasReadyPort(frame) : true
    if !isReady {
      notify(.beforeWaiting, mode)
      sleep(frame)
      time.told.pass = .max
      noteEventOfSleep(frame)
      notify(.afterWaiting, mode)
    }
    let asks = mode.polled == 0 || !performed || mustLook || frame.polls || !hasJustLooked(mode)
    let servedPort = serveEvent(frame, wasAsleep: !isReady, asksKernel: asks)
    performBlocks(mode)
    if !hooks.afterPass.isEmpty { performAfterPass() }
    return result(frame, handled: performed || servedPort)
  }

  /// Serves the one event of a pass: a ready port, else all due timers (R56); timers first if the
  /// last pass served a port (R31). What became ready after a stop waits (R15).
  /// - Returns: Whether a port, a descriptor or the main queue was served.
  private func serveEvent(_ frame: RunFrame, wasAsleep: Bool, asksKernel: Bool) -> Bool {
    let mode = frame.mode
    let open = frame.openEvents
    frame.openEvents = []
    if frame.keptEvent != nil && serveKeptEvent(frame) { return true }
    if mode.hasTimers { lookAtClock(mode) }
    let timersAreDue = open.contains(.timers) && isDue(mode)
    // Came due later than a port had ended the sleep: that port is the event (R135).
    let portCameFirst = wasAsleep && frame.eventOfSleep.isPort
    let timersAreFirst = frame.servedPort && timersAreDue && !portCameFirst
    if open.contains(.ports) && !timersAreFirst {
      if !wasAsleep { lookForReady(mode, asksKernel: asksKernel) }
      if servePort(mode) {
        frame.servedPort = true
        return true
      }
    }
    if timersAreDue && yields(before: .timers) { return false }
    frame.servedPort = false
    if timersAreDue { fireTimers(mode) }
    return false
  }

  /// Whether a port is ready before the sleep, and is not to wait for due timers (R27, R31).
  private func hasReadyPort(_ frame: RunFrame) -> Bool {
    if !frame.openEvents.contains(.ports) { return false }
    if frame.servedPort && hasDueTimers(frame.mode) { return false }
    lookForReady(frame.mode)
    return hasReady(frame.mode)
  }

  /// Why the run ends with this pass, if it does (R14).
  private func result(_ frame: RunFrame, handled: Bool) -> RunResult? {
    drainInbox()
    if mustEnd { frame.stop(nil) }
    if handled && frame.returnAfterSource { return .handledSource }
    if frame.polls { return .timedOut }
    if frame.deadline != .max && clock.hasReached(frame.deadline) { return .timedOut }
    if frame.isStopped { return .stopped }
    if isEmpty(frame.mode) { return .finished }
    return nil
  }

  /// Sleeps until a port is ready, a timer is due, the time is over, or the loop is woken
  /// (R30). What other threads change meanwhile takes effect without ending the sleep (R85).
  private func sleep(_ frame: RunFrame) {
    let mode = frame.mode
    // What was ready at the last look is not served yet, so the kernel is not asked (R31).
    if mode.isInRound && !isAskedFor && (timersGoFirst(frame) || hasReady(mode)) { return }
    // Over the whole sleep: a thread that changed something during it does not see the loop awake.
    shared.isWaiting.store(true, ordering: .releasing)
    defer { shared.isWaiting.store(false, ordering: .releasing) }
    var isFirst = true
    while true {
      applyPosts()
      if Attention.isAskedFor && hooks.attention != nil { hearAttention(mode) }
      if hasReady(mode) || frame.isStopped || isAwaited(frame) { return lookForReady(mode) }
      if isEmpty(mode) { return }  // R10
      let hasDue = mode.hasDue
      if hasDue && canOmitSleep(mode) { return }
      let date = min(frame.deadline, wakeDate(mode))
      if date > time.now { mode.busyLooks = 0 } else if !hasDue && canOmitSleep(mode) { return }
      if isFirst { for hook in hooks.whenIdle { hook.body(date) } }
      isFirst = false
      guard let until = inspectDescriptors(mode, before: date) else { continue }
      waitInKernel(mode, until: until) { self.isAwaited(frame) }
      if hasReady(mode) || (date != .max && clock.hasReached(date)) { return applyPosts() }
    }
  }

  /// Whether timers are served before what is ready, so that it need not be confirmed yet.
  @inline(__always)
  private func timersGoFirst(_ frame: RunFrame) -> Bool {
    frame.servedPort && frame.openEvents.contains(.timers)
      && frame.mode.strangersAtRound != runs.strangers && hasDueTimers(frame.mode)
  }

  /// Whether the sleep must not begin or go on: a wake-up was requested in this pass (R117), or the
  /// program must end.
  @inline(__always)
  private func isAwaited(_ frame: RunFrame) -> Bool {
    shared.wakes.load(ordering: .sequentiallyConsistent) != frame.wakesSeen || mustEnd
  }

  // MARK: Frames

  func takeSerial() -> UInt64 {
    runs.lastSerial += 1
    return runs.lastSerial
  }

  func begin(_ frame: RunFrame) {
    if let outer = runs.frames.last { keepEvent(of: outer) }
    parkFiringTimers()
    silenceMainQueue()
    watchMainQueue(frame.mode)
    runs.frames.append(frame)
    frame.mode.busyLooks = 0
    shared.activation.store(frame.serial, ordering: .releasing)
    traceRun(begins: true, frame)
  }

  func end(_ frame: RunFrame) {
    drainInbox()
    stops.metLastRun = frame.isStopped
    stops.value = frame.stopValue
    runs.frames.removeLast()
    if let outer = runs.frames.last { giveBackEvent(to: outer) }
    shared.activation.store(runs.frames.last?.serial ?? 0, ordering: .releasing)
    traceRun(begins: false, frame)
    checkInvariants()
  }
}
