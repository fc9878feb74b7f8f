// The end of the whole program: every run of every loop ends as if it had been stopped.

internal import CLinuxShims

/// Asks all loops of the process to end, from a signal or by the program itself. Any thread.
///
/// Once asked for it cannot be taken back: runs that begin later end at once.
package enum Ending {
  /// The program asked for it by itself, not a signal.
  package static let byProgram: Int32 = -1

  /// The signal that asked for it, `byProgram`, or 0.
  @inline(__always)
  package static var reason: Int32 { cmx_ending() }

  @inline(__always)
  package static var isAskedFor: Bool { cmx_ending() != 0 }

  /// Whether an interruption is not worth a report: `os.exit` asked, or the reader of
  /// the standard output has gone.
  package static var isQuiet: Bool { reason == byProgram || reason == brokenOutput }

  /// The reason when the reader of the standard output is gone: SIGPIPE.
  package static let brokenOutput: Int32 = 13

  /// The reason when a loop cannot wait any more: the system refused, or took its descriptors away.
  static let brokenWait: Int32 = -2

  private static let brokenWaitText = Guarded<String?>(nil)

  /// What broke a loop's wait, as text.
  package static var explanation: String? { brokenWaitText.withLock { $0 } }

  /// Asks for it because a loop cannot wait.
  static func begin(because text: String) {
    brokenWaitText.withLock { $0 = $0 ?? text }
    begin(brokenWait)
  }

  /// Asks for it; has no effect if it was asked for already.
  package static func begin(_ reason: Int32 = byProgram) { cmx_ending_begin(reason) }

  /// Takes back what SIGINT or SIGTERM asked for: runs go on, and the program ends in its own time,
  /// by `begin`. A second signal kills all the same. Loop thread only.
  /// - Returns: The signal that was noticed, now or before; 0: none.
  package static func hear() -> Int32 { cmx_ending_hear() }

  /// Stops the call-out that runs now.
  package static func stopCallout() { cmx_ending_stop_callout() }

  /// Has SIGINT, SIGTERM and a standard output without a reader ask for the end.
  ///
  /// The loop is woken. A call-out that goes on for 0.3 s, or for 1 ms once two were stopped, is
  /// stopped by the functions given, which are called in a signal handler with the context. A
  /// second SIGINT or SIGTERM kills the process; so does the first, if the same call-out is not
  /// over after 3 s, as it is outside Lua.
  /// - Parameter visit: Has the host called in the middle of the call-out: see `Attention`.
  package static func catchSignals(
    waking kernel: LinuxKernel,
    callout: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UInt64,
    stop: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Bool,
    visit: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Bool,
    context: UnsafeMutableRawPointer?
  ) {
    cmx_ending_catch(
      cmx_callouts(number: callout, stop: stop, visit: visit, context: context),
      kernel.wakeUpDescriptor)
  }

  /// Has SIGHUP ask for the end as well, unless the program was started to ignore it.
  package static func catchHangUp() { cmx_ending_catch_hang_up() }

  /// Runs a shell's command and waits for it, like `system` of the C library; but that ignores
  /// SIGINT meanwhile.
  package static let execute: @convention(c) (UnsafePointer<CChar>?) -> Int32 = {
    cmx_command_run($0)
  }

  /// Whether `catchSignals` was called.
  package static var isCaught: Bool { cmx_ending_is_caught() }

  /// From now on another loop is woken: the one that runs now.
  /// - Returns: What to hand back when that is over.
  package static func wake(_ descriptor: Int32) -> Int32 { cmx_ending_wake(descriptor) }

  /// Must be called before the context of `catchSignals` is gone.
  package static func forgetCallouts() { cmx_ending_forget_callouts() }
}
