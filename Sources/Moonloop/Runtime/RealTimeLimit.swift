// A limit in real time, whatever the loop's clock says: a thread that waits, and stops a loop and
// what it calls.

internal import LuaEmbed
internal import MoonloopCore

/// Stops a loop and the script that it calls when a time is over, again and again until it is told
/// that this is over. Made and ended on the loop's thread.
final class RealTimeLimit: Sendable {
  private struct State {
    var isOver = false
    var hasStruck = false
    var strikes = 0
    var callout: UInt64 = 0
    var sameCallout = 0
    /// Breakpoints under way: they take a person's time, not the script's.
    var holds = 0
    /// Whether the time begins anew, since there was a breakpoint.
    var startsAnew = false
  }

  private let state = Guarded(State())
  private let gate: any Gate
  private let loop: Loop
  private let script: InterruptHandle

  /// How long a call-out may go on after the limit before it is stopped, in strikes.
  private static let patience = 4
  /// How long a script may make call-outs one after the other, or nest runs, before it is stopped.
  private static let lastPatience = 16
  private static let strikeDistance: Int64 = 50_000_000

  /// - Parameter nanoseconds: How long, from now.
  init(_ nanoseconds: Int64, _ loop: Loop, _ script: InterruptHandle) {
    gate = loop.kernel.makeGate()
    self.loop = loop
    self.script = script
    // A system that refuses a thread leaves the limit out.
    try? startThread(stackSize: 256 << 10) { [self] in
      var distance = nanoseconds
      while !gate.wait(atMost: distance) {
        distance = strike() ? Self.strikeDistance : nanoseconds
      }
    }
  }

  /// Under the lock, so that a run that begins after the end is not stopped.
  /// - Returns: false if the time begins anew.
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

  /// Stops nothing until as many calls of `release`; then the time begins anew.
  func hold() { state.withLock { $0.holds += 1 } }

  func release() {
    state.withLock { state in
      state.holds -= 1
      state.startsAnew = !state.hasStruck
    }
  }

  var hasStruck: Bool { state.withLock { $0.hasStruck } }

  /// Nothing is stopped any more. Idempotent.
  func end() {
    state.withLock { $0.isOver = true }
    gate.open()
  }
}
