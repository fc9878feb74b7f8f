// The everyday forms: a timer or an observer made and added in one call.

extension Loop {
  /// Makes a timer and adds it.
  /// - Parameters:
  ///   - delay: From now to the first fire.
  ///   - interval: The distance of the fires; nil: it fires once.
  ///   - tolerance: How much later it may fire.
  ///   - modes: The modes that it is in.
  ///   - name: Its name in reports.
  ///   - handler: Called on the thread of the loop.
  /// - Returns: The timer; the loop holds it, dropping it does not stop it.
  /// - Note: Loop thread only. Stops the program if the loop holds 16 million timers. On a loop
  ///   that has ended the timer is invalid.
  @discardableResult
  public func schedule(
    after delay: Duration, every interval: Duration = .zero, tolerance: Duration = .zero,
    modes: [ModeName] = [.default], name: String = "", _ handler: @escaping Timer.Handler
  ) -> Timer {
    requireThread("schedule")
    let due = dueDate(after: delay.loopNanoseconds, repeats: interval > .zero)
    let date = LoopTime(nanoseconds: due)
    let timer = Timer(
      at: date, every: interval, tolerance: tolerance, name: name, handler: handler)
    addNow(timer, modes, "schedule")
    return timer
  }

  /// Makes an observer and adds it.
  /// - Returns: The observer; the loop holds it.
  /// - Note: Loop thread only. On a loop that has ended the observer is invalid.
  @discardableResult
  public func observe(
    _ activities: Activity = .all, order: Int = 0, repeats: Bool = true,
    modes: [ModeName] = [.default], name: String = "", _ handler: @escaping Observer.Handler
  ) -> Observer {
    let observer = Observer(
      activities, repeats: repeats, order: order, name: name, handler: handler)
    addNow(observer, modes, "observe")
    return observer
  }

  /// Adds an item that was just made; on a loop that has ended it is invalid at once.
  private func addNow(_ item: Item, _ modes: [ModeName], _ what: StaticString) {
    requireThread(what)
    item.bindToThread()
    if hasEnded { return item.invalidate() }
    do { try add(item, modes: modes) } catch { fatalError("\(what): \(error)") }
  }

  // MARK: NSRunLoop's words

  /// Whether anything was in the mode: runs it once, until a source was served or the date has
  /// come. Counterpart: `runMode:beforeDate:` (R128).
  @available(*, noasync)
  public func run(mode: ModeName, before date: LoopTime) -> Bool {
    requireThread("run")
    let timeout: Duration? = date == .distantFuture ? nil : now.duration(to: date)
    drainInbox()
    guard let found = findMode(mode), !isEmpty(found) else { return false }
    run(mode: mode, for: timeout, returnAfterSource: true)
    return true
  }

  /// Runs a mode once, until a source was served or the date has come, whatever was in it (R128).
  /// Counterpart: `acceptInputForMode:beforeDate:`.
  @available(*, noasync)
  public func acceptInput(mode: ModeName, before date: LoopTime) {
    _ = run(mode: mode, before: date)
  }

  /// Runs the default mode until a date, at least once; sources do not end it (R128).
  /// - Returns: `timedOut`, or why it ended before.
  @available(*, noasync)
  @discardableResult
  public func run(until date: LoopTime) -> RunResult {
    while true {
      let timeout: Duration? = date == .distantFuture ? nil : now.duration(to: date)
      let result = run(mode: .default, for: timeout, returnAfterSource: true)
      if wasStopped { return .stopped }
      if result != .handledSource { return result }
      if clock.hasReached(date.nanoseconds) { return .timedOut }
    }
  }

  /// Polls a mode once, for one source, and says when its next timer is due (R129).
  /// - Returns: nil if the mode is empty, the distant future if there are only sources.
  /// - SeeAlso: Counterpart `limitDateForMode:`.
  @available(*, noasync)
  public func limitDate(mode: ModeName) -> LoopTime? {
    run(mode: mode, for: .zero, returnAfterSource: true)
    guard let found = findMode(mode), !isEmpty(found) else { return nil }
    return nextTimerDate(mode: mode) ?? .distantFuture
  }
}
