// Timers with a date of the wall clock: they follow its steps (R86 speaks of the others).

/// Timers with a date of the wall clock. Loop thread only.
struct WallClockDates {
  /// Nanoseconds since 1970, by timer.
  var dates: [TimerID: Int64] = [:]
  /// How many steps of the clock the dates have followed.
  var steps = 0
}

extension Loop {
  /// Gives a timer a date of the wall clock; it fires when that clock shows it, also after a step.
  /// - Parameters:
  ///   - epoch: Nanoseconds since 1970.
  ///   - rearms: Whether it fires then even if it is a one-shot timer in its own callback.
  /// - Throws: `SystemError` if the system cannot report steps of the clock; nothing is changed.
  package func setWallDate(
    of id: TimerID, to epoch: Int64, rearms: Bool = false
  ) throws(SystemError) {
    guard let slot = timers.slot(of: id) else { return }
    if timerState.wallClock.dates.isEmpty { try kernel.watchWallClock(true) }
    timers.records[slot].flags.remove(.wallClock)  // the date there is replaced below
    setDate(slot, to: loopDate(ofWall: epoch), also: rearms ? .rearmed : [])
    timers.records[slot].flags.insert(.wallClock)
    timerState.wallClock.dates[id] = epoch
  }

  /// The date of the wall clock that a timer has; nil: it has none.
  package func wallDate(of id: TimerID) -> Int64? { timerState.wallClock.dates[id] }

  /// The loop's date of one of the wall clock; one that was more than 146 years ago counts as that,
  /// so that its lateness fits into 64 bits.
  private func loopDate(ofWall epoch: Int64) -> Int64 {
    let distance = epoch.subtractingSaturated(kernel.wallTime())
    if distance == .max { return .max }
    return saturatingDate(clock.now(), after: max(distance, -(.max / 2)))
  }

  func forgetWallDate(of id: TimerID) {
    timers.records[id.slot].flags.remove(.wallClock)
    timerState.wallClock.dates[id] = nil
    if timerState.wallClock.dates.isEmpty { try? kernel.watchWallClock(false) }
  }

  /// The wall clock was stepped: dates on it are elsewhere on the loop's clock now.
  func followWallClock() {
    timerState.wallClock.steps = kernel.wallClockSteps
    for (id, epoch) in timerState.wallClock.dates {
      guard let slot = timers.slot(of: id) else { continue }
      timers.records[slot].date = loopDate(ofWall: epoch)
      moveQueued(slot, to: timers.records[slot].date)
    }
  }

  /// The loop's clock has reached the date, the wall clock may not have (it was slowed meanwhile).
  /// - Returns: Whether the timer was given a later date.
  func postponeByWallClock(_ slot: Int) -> Bool {
    let record = timers.records[slot]
    let id = TimerID(slot: slot, generation: record.generation)
    guard let epoch = timerState.wallClock.dates[id], kernel.wallTime() < epoch else {
      forgetWallDate(of: id)
      return false
    }
    timers.records[slot].date = loopDate(ofWall: epoch)
    moveQueued(slot, to: timers.records[slot].date)
    return true
  }
}
