// The time that passes outside of all loops: for limits and durations of tests.

internal import CLinuxShims

/// The system's own time, whatever the clock of a loop says. Any thread.
package enum RealTime {
  /// Nanoseconds of the monotonic clock.
  package static var monotonic: Int64 { cmx_monotonic() }
}
