// What time it is in a pass: the clock is read no more often than it makes a difference.

/// The time as a loop saw it last. Loop thread only.
struct PassTime {
  /// What the clock said; dates up to it are due.
  var now: Int64 = .min
  /// The clock was not read in this pass: see `lookAtClock`.
  var isOld = false
  /// How many sleeps were left out because a timer was due already.
  var omittedSleeps = 0
}

extension Loop {
  /// Finds out what time it is, unless only timers can be due that are known to be so already, all
  /// of them earlier than the first of the others: then it makes no difference.
  ///
  /// With more than one mode it does: a timer without a delay takes its place among those of
  /// another mode, which may be due for long.
  @inline(__always)
  func lookAtClock(_ mode: Mode) {
    let first = mode.timers.firstOfHeap
    time.isOld =
      clock.runsByItself && modes.count == 1 && first > time.now && !clock.hasReached(first)
    if time.isOld {
      time.now &+= 1  // at least this much has passed, and later dates are later
    } else {
      time.now = max(time.now, clock.now())
    }
  }

  /// Whether nobody could tell that a sleep which would end at once was left out: no descriptor is
  /// in the mode, and a wake-up counts without the kernel. Sometimes a busy loop asks all the same,
  /// so that what is done when it is idle is not put off for ever.
  func canOmitSleep(_ mode: Mode) -> Bool {
    guard mode.polled == 0, mode.files.isEmpty, timerState.wallClock.dates.isEmpty else {
      return false
    }
    time.omittedSleeps &+= 1
    return time.omittedSleeps & 63 != 0
  }
}
