// The loop's clock made to stand: at a breakpoint, no timer may become late.

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
