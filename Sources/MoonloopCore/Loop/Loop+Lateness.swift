// How late a loop ends its sleep for a timer, and what it pays to be on time.

internal import CLinuxShims

extension Loop {
  /// How late the system may end a sleep of this thread, so that it wakes for several at once.
  ///
  /// By default 50 µs; zero is the least that there is, 1 ns. It is a property of the thread
  /// (`PR_SET_TIMERSLACK`), for whatever sleeps on it. Loop thread only.
  public var timerSlack: Duration {
    get {
      requireThread("timerSlack")
      return .nanoseconds(max(0, cmx_timer_slack()))
    }
    set {
      requireThread("timerSlack")
      _ = cmx_set_timer_slack(max(1, newValue.loopNanoseconds))
    }
  }

  /// How long before the date of a timer the loop ends its sleep, to look again and again.
  ///
  /// The processor is busy for that time before each timer, which then is late by no more than a
  /// look at the clock. Zero, the default: the loop sleeps until the date. Loop thread only. Has no
  /// effect where time jumps, or while what enters the loop is recorded.
  public var spin: Duration {
    get {
      requireThread("spin")
      return .nanoseconds(kernel.spin)
    }
    set {
      requireThread("spin")
      kernel.spin = max(0, newValue.loopNanoseconds)
    }
  }
}
