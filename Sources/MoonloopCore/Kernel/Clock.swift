// The loop's clock, told by two numbers: its rate, and whether it jumps when the loop is idle.

/// How the time of a loop runs.
public enum ClockMode: Sendable {
  /// The monotonic clock of the system.
  case real
  /// Stands still while the loop works, and jumps to the next deadline when it has nothing to do.
  case virtual
  /// Runs with the system's clock, and jumps to the next deadline when the loop has nothing to do.
  case skipIdle
}

/// The clock of one loop. Loop thread only, but for holds.
package final class Clock {
  package let mode: ClockMode
  package init(_ mode: ClockMode) { self.mode = mode }
}
