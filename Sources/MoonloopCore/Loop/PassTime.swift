// What time it is in a pass: the clock is read no more often than it makes a difference.

internal import CLinuxShims

/// The time as a loop saw it last. Loop thread only.
struct PassTime {
  /// What the clock said; dates up to it are due.
  var now: Int64 = .min
  /// The clock was not read in this pass: see `lookAtClock`.
  var isOld = false
  /// How many sleeps were left out because a timer was due already.
  var omittedSleeps = 0
  /// The time that was last given to a handler, and in which pass.
  var told: (now: Int64, pass: UInt64) = (0, .max)
}

extension Loop {
  /// The time of the pass, the same for every caller.
  ///
  /// It is read from the clock when it is first asked for in a pass, or after its sleep. Outside of
  /// runs, in runs of a host's loop and where the clock does not run by itself it is `now`. Loop
  /// thread only.
  public var timeOfPass: LoopTime {
    requireThread("timeOfPass")
    return LoopTime(nanoseconds: toldTime())
  }

  @inline(__always)
  package func toldTime() -> Int64 {
    time.told.pass == runs.passes ? time.told.now : tellTime()
  }

  @inline(never)
  private func tellTime() -> Int64 {
    let now = clock.now()
    let isInPass = !runs.frames.isEmpty && !runs.frames.contains { $0.isHosted }
    if isInPass && clock.isMachines { time.told = (now, runs.passes) }
    return now
  }

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

  /// Whether a sleep that would end at once can be left out: a wake-up counts without the kernel,
  /// and descriptors are not in the mode, or were looked at a moment ago. Sometimes a busy loop
  /// asks anyway, so that idle work is not put off forever.
  func canOmitSleep(_ mode: Mode) -> Bool {
    guard mode.files.isEmpty, timerState.wallClock.dates.isEmpty else { return false }
    if mode.polled > 0 { return hasJustLooked(mode) }
    time.omittedSleeps &+= 1
    return time.omittedSleeps & 63 != 0
  }

  /// Whether the kernel was asked for a mode's descriptors less than 20 µs ago: a loop that its
  /// handlers have kept busy for long asks no more often (R153).
  func hasJustLooked(_ mode: Mode) -> Bool {
    guard clock.mode == .real && clock.runsByItself && !arrivals.hasIntake else { return false }
    mode.busyLooks &+= 1
    if mode.busyLooks < 32 { return false }
    let now = cmx_monotonic()
    if now &- mode.lastLook < 20_000 { return true }
    mode.lastLook = now
    return false
  }
}

// MARK: Due dates

extension Loop {
  /// The date this many nanoseconds from now. Without a delay, in the callback of a timer, no clock
  /// is read for a timer that fires once: the date is the last one that was read, that at which the
  /// callback's batch began or a later one.
  /// A timer that repeats needs the exact time, because its grid begins there.
  @inline(__always)
  package func dueDate(after delay: Int64, repeats: Bool = false) -> Int64 {
    if delay == 0 && !repeats {
      // What is due now need not be put into the order of dates.
      if timers.served == 0 { time.now = max(time.now, clock.now()) }
      return time.now
    }
    return saturatingDate(exactNow(), after: delay)
  }

  /// The moment of the call. What is then made without a delay is no earlier.
  @inline(__always)
  private func exactNow() -> Int64 {
    let now = clock.now()
    time.now = max(time.now, now)
    return now
  }

  /// A date, or now if that is later.
  func notPast(_ date: Int64) -> Int64 { clock.hasReached(date) ? exactNow() : date }
}

// MARK: Stopping the clock: at a breakpoint, no timer may become late

extension Loop {
  /// Whether the time of the loop stands. Loop thread only.
  package var clockIsStopped: Bool { clock.isStopped }

  /// Stops the time of the loop, so that nothing becomes due; counted, because breakpoints may
  /// nest. Loop thread only.
  ///
  /// What is due at this moment stays due: the mode of the run keeps out timers that must not be
  /// called.
  package func stopClock() {
    requireThread("stopClock")
    clock.stop()
  }

  /// Lets it go on from where it was, when it was called as often. All dates of timers and ends of
  /// runs are as far away as before; those on the wall clock, which went on, are nearer (R86).
  package func startClock() {
    requireThread("startClock")
    clock.go()
    if !clock.isStopped && !timerState.wallClock.dates.isEmpty { followWallClock() }
  }
}
