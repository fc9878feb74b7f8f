// A limit in real time, whatever the loop's clock says: a thread that waits, then stops a loop and
// what it is calling.

internal import LuaEmbed
internal import MoonloopCore

/// Stops a loop and the script that it is calling when a time is up, again and again until this
/// limit is ended. Made and ended on the loop's thread.
final class RealTimeLimit: Sendable {
  private struct State {
    var isOver = false
    var hasStruck = false
    var strikes = 0
    var callout: UInt64 = 0
    var sameCallout = 0
    /// Breakpoints under way: they take a person's time, not the script's.
    var holds = 0
    /// Whether the time starts again, because there was a breakpoint.
    var startsAnew = false
  }

  private let state = Guarded(State())
  private let gate: any Gate
  private let loop: Loop
  private let script: InterruptHandle

  /// How long a call-out may go on after the limit before it is stopped, in strikes.
  private static let patience = 4
  /// How long a script may chain call-outs, or nest runs, before it is stopped.
  private static let lastPatience = 16
  private static let strikeDistance: Int64 = 50_000_000
  private static let slice: Int64 = 500_000_000

  /// - Parameter nanoseconds: How long, from now.
  init(_ nanoseconds: Int64, _ loop: Loop, _ script: InterruptHandle) {
    gate = loop.kernel.makeGate()
    self.loop = loop
    self.script = script
    // If the system refuses a thread, there is no limit.
    try? startThread(stackSize: 256 << 10) { [self] in
      var left = nanoseconds
      // Slices, so that time in which the process did not run, as on a machine that was paused, is
      // not counted.
      while !gate.wait(atMost: min(left, Self.slice)) {
        left -= min(left, Self.slice)
        if left == 0 { left = strike() ? Self.strikeDistance : nanoseconds }
      }
    }
  }

  /// Under the lock, so that a run that begins after the end is not stopped.
  /// - Returns: false if the time starts again.
  private func strike() -> Bool {
    state.withLock { state in
      if state.isOver || state.holds > 0 { return true }
      if state.startsAnew {
        state.startsAnew = false
        return false
      }
      state.hasStruck = true
      state.strikes += 1
      loop.stop()
      let callout = script.callout
      if callout != state.callout {
        state.callout = callout
        state.sameCallout = 0
      }
      state.sameCallout += 1
      if state.sameCallout > Self.patience || state.strikes > Self.lastPatience {
        script.interrupt()
      }
      return true
    }
  }

  /// A nested run has ended: a script that has chained runs for too long is stopped here, because
  /// an interrupt during a run has no effect. Loop thread only.
  func endRunner() {
    let isUp = state.withLock { !$0.isOver && $0.strikes > Self.lastPatience }
    if isUp { script.interrupt() }
  }

  /// Stops nothing until `release` was called as often; then the time starts again.
  func hold() { state.withLock { $0.holds += 1 } }

  func release() {
    state.withLock { state in
      state.holds -= 1
      state.startsAnew = !state.hasStruck
    }
  }

  var hasStruck: Bool { state.withLock { $0.hasStruck } }

  /// Ends the limit. Idempotent.
  func end() {
    state.withLock { $0.isOver = true }
    gate.open()
  }
}
