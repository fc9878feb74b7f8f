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
  ///
  /// - Parameter epoch: Nanoseconds since 1970.
  /// - Throws: `SystemError` if the system cannot tell of steps of the clock; nothing is changed.
  package func setWallDate(of id: TimerID, to epoch: Int64) throws(SystemError) {
    guard let slot = timers.slot(of: id) else { return }
    if timers.records[slot].flags.contains(.wallClock) { forgetWallDate(of: id) }
    if timerState.wallClock.dates.isEmpty { try kernel.watchWallClock(true) }
    setDate(of: id, to: loopDate(ofWall: epoch))
    timers.records[slot].flags.insert(.wallClock)
    timerState.wallClock.dates[id] = epoch
  }

  private func loopDate(ofWall epoch: Int64) -> Int64 {
    let (distance, overflow) = epoch.subtractingReportingOverflow(kernel.wallTime())
    return overflow ? (epoch > 0 ? .max : .min) : saturatingDate(clock.now(), after: distance)
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
