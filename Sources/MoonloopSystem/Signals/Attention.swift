// Asking another process for attention, by a signal. Any thread.

internal import CLinuxShims
package import MoonloopCore

extension Attention {
  /// Whether a process would hear of it. One that would not must not be asked.
  package static func isHeard(by pid: Int32) -> Bool { cmx_attention_is_caught(pid) }

  /// How long the call-out that is visited is known to go on.
  package static var busyTime: Duration { .nanoseconds(cmx_attention_busy_ns()) }

  /// Asks a process for a console, or to stop its call-out. A call-out that is the same as at the
  /// last such wish is visited, or stopped. The process may have been asked for nothing: what comes
  /// of it is up to that process.
  /// - Throws: `SystemError` if there is no such process (ESRCH), it belongs to somebody else
  ///   (EPERM), or it would not hear (EOPNOTSUPP); then nothing was sent.
  package static func ask(_ pid: Int32, interrupts: Bool = false) throws(SystemError) {
    let result = cmx_attention_ask(pid, interrupts)
    if result < 0 { throw SystemError(call: "pidfd_send_signal", code: -result) }
  }
}
