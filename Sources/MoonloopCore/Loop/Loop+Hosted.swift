// A loop inside another one: a host serves it, and sleeps in its place.

internal import CLinuxShims
internal import Synchronization

extension Loop {
  /// Serves what is ready in a mode, and returns: for a host with its own loop, or with frames.
  ///
  /// A pump is a run without sleeps (R152): `entry` observers, passes until nothing is ready, and
  /// `exit` observers. What becomes ready meanwhile is served too, up to the limit. Ports and
  /// timers take turns across calls (R31), so that neither starves with a limit of 1.
  ///
  /// Nothing ready is lost between two calls. To sleep in the loop's place, wait until
  /// `pollDescriptor` is readable or `nextDate` has come, whichever is first.
  /// - Parameters:
  ///   - name: The mode; only its items take part.
  ///   - limit: How many passes are made at most, at least 1; default 100. Each serves one event of
  ///     a port or descriptor, or all timers that are due.
  /// - Returns: `timedOut` if nothing more is ready, `handledSource` if the limit came first;
  ///   `stopped`, or `finished` if the mode is empty.
  /// - Note: Loop thread only; nests as `run` does.
  @available(*, noasync)
  @discardableResult
  public func pump(mode name: ModeName = .default, limit: Int = 100) -> RunResult {
    requireThread("pump")
    if limit < 1 { fatalError("pump: a limit is at least 1, got \(limit)") }
    shared.isAsleep.store(false, ordering: .relaxed)
    guard let mode = beginRun(in: name) else { return .finished }
    let frame = RunFrame(mode: mode, serial: takeSerial(), limit: 0, returnAfterSource: false)
    frame.servedPort = mode.pumpServedPort
    if stops.metLastRun { frame.stop(stops.value) }
    let result = pump(frame, limit)
    mode.pumpServedPort = frame.servedPort
    if runs.frames.isEmpty && result == .timedOut && !announceSleep(mode) { return .handledSource }
    return result
  }

  /// A descriptor, for `poll`, epoll or libuv, that is readable when `pump` has something to do.
  ///
  /// It is so when a descriptor of the mode is ready, or another thread has asked for something. It
  /// is valid until the loop ends, and the loop's: never read it, never close it.
  /// - Parameter name: The mode that is pumped.
  /// - Throws: What the system refuses.
  /// - Note: Loop thread only. What the loop's own thread signals or adds outside of `pump` shows
  ///   in `nextDate`, not at the descriptor.
  public func pollDescriptor(mode name: ModeName = .default) throws(SystemError) -> Int32 {
    requireThread("pollDescriptor")
    let mode = mode(name)
    watchMainQueue(mode)
    guard let descriptor = kernel.descriptor(of: try pollSet(of: mode)) else {
      throw SystemError(call: "pollDescriptor", code: Errno.notSupported)
    }
    return descriptor
  }

  /// When `pump` has something to do at the latest, if the poll descriptor stays silent.
  ///
  /// The present time if something waits already, else the date of the next timer with its
  /// tolerance used (R83); nil: never.
  /// - Note: Loop thread only. Ask right before the sleep: whatever is added moves it.
  public func nextDate(mode name: ModeName = .default) -> LoopTime? {
    requireThread("nextDate")
    drainInbox()
    guard let mode = findMode(name) else { return nil }
    if waits(in: mode) || hasReady(mode) { return LoopTime(nanoseconds: clock.now()) }
    let date = wakeDate(mode)
    return date == .max ? nil : LoopTime(nanoseconds: date)
  }

  /// Moves the time of a loop whose clock is virtual or skips idle time, as a frame of a simulation
  /// does. Timers fire in the next pass or pump.
  /// - Parameter duration: At least zero: time never goes back.
  /// - Note: Loop thread only. Stops the program on a real clock, which cannot be moved.
  public func advanceClock(by duration: Duration) {
    requireThread("advanceClock")
    clock.advance(by: duration.loopNanoseconds)
  }

  // MARK: Stages

  /// Whether another pass has something to do; asks the kernel.
  func hasWork(_ mode: Mode) -> Bool {
    lookForReady(mode)
    return hasReady(mode) || waits(in: mode) || hasDueTimers(mode)
  }

  private func waits(in mode: Mode) -> Bool {
    !mode.signals.isEmpty || !mode.files.isEmpty || pending.holds(mode)
  }

  /// The host sleeps now: the next request makes the poll descriptor readable.
  /// - Returns: false if there was a request before.
  private func announceSleep(_ mode: Mode) -> Bool {
    for hook in hooks.whenIdle { hook.body(wakeDate(mode)) }
    shared.isAsleep.store(true, ordering: .sequentiallyConsistent)
    kernel.announceSleep()
    // What passes have answered already must not wake the host. A request from before the store is
    // seen here; a later one takes the word back, or makes the descriptor readable.
    askKernel(mode)
    if !hasWork(mode) && !isAskedFor && shared.isAsleep.load(ordering: .acquiring) { return true }
    shared.isAsleep.store(false, ordering: .relaxed)
    return false
  }

  /// Whether the host wants the thread back before a stage in which something is ready.
  @inline(__always)
  func yields(before stage: PassStage) -> Bool {
    guard let mustYield = hooks.mustYield else { return false }
    return runs.pumped.leavesOut(stage, mustYield: mustYield)
  }

  // MARK: A loop that lodges in this one, of the same thread

  /// Makes a loop for another one of this thread to pump; they share their time.
  /// - Parameter touched: Called when a port of the loop gets a message on this thread, of which
  ///   the poll descriptor does not tell: ask for `nextDate`.
  /// - Throws: `SystemError` if the system refuses what a loop needs.
  package func makeLodger(
    _ name: String, touched: @escaping () -> Void
  ) throws(SystemError) -> Loop {
    requireThread("makeLodger")
    // The machine's time needs no mirror, and may go on to other threads.
    let kernel =
      clock.isMachines ? try LinuxKernel() : try LinuxKernel(Clock(mirroring: clock))
    // There may be many: a page of events for each would be a twentieth of a guest.
    let lodger = try Loop(name: name, kernel: kernel, thread: cmx_thread_id(), room: 16)
    lodger.hooks.whenTouched = touched
    return lodger
  }

  /// Runs a body with this loop as the calling thread's, which goes on afterwards.
  package func inPlace<Result>(_ body: () throws -> Result) rethrows -> Result {
    requireThread("inPlace")
    let outer = cmx_thread_loop()
    cmx_set_thread_loop(Unmanaged.passUnretained(self).toOpaque())
    defer { cmx_set_thread_loop(outer) }
    return try body()
  }
}
