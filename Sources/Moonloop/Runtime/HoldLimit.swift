// The end of a hold whose deadline has passed in real time: else a deadline could never come, since
// the clock that it is on stands as long as the hold lasts.

internal import MoonloopCore

extension Runtime {
  /// Releases a hold on the clock when so much real time has passed: then the clock may jump to the
  /// deadline, and whoever has waited as long as he wanted is told.
  /// - Parameter nanoseconds: The deadline from now; nil or `Int64.max`: there is none.
  func limit(_ hold: Hold?, _ nanoseconds: Int64?) {
    guard let hold, let nanoseconds, nanoseconds != .max, loop.kernel.clock.jumpsWhenIdle,
      !Intake.isReplayed, let hub = Intake.outside({ try? PortHub.loop() })
    else { return }
    hub.change { [weak hold] hub in
      if hold == nil { return }
      hub.schedule(after: .nanoseconds(nanoseconds)) { [weak hold] _ in hold?.release() }
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
