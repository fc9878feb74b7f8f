// Ends a hold whose deadline has passed in real time: otherwise a deadline could never come,
// because its clock stands still as long as the hold lasts.

internal import MoonloopCore

extension Hold {
  /// Releases the hold on the clock of a loop after a length of real time: then the clock may
  /// jump to the deadline, and the wait ends.
  /// - Parameter nanoseconds: The deadline from now; nil or `Int64.max`: none.
  func release(after nanoseconds: Int64?, on loop: Loop) {
    guard let nanoseconds, nanoseconds != .max, loop.kernel.clock.jumpsWhenIdle,
      !Intake.isReplayed, let hub = Intake.outside({ try? PortHub.loop() })
    else { return }
    hub.change { [weak self] hub in
      if self == nil { return }
      hub.schedule(after: .nanoseconds(nanoseconds)) { [weak self] _ in self?.release() }
    }
  }
}

extension Int64 {
  /// The sum, or the largest number.
  func addingSaturated(_ other: Int64) -> Int64 {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? .max : sum
  }
}
