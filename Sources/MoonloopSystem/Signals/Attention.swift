// Asking another process for attention, by a signal. Any thread.

internal import CLinuxShims
package import MoonloopCore

extension Attention {
  /// From now on the end of a console's socket is a request, even within a busy call-out.
  package static func watchEnd(of fd: Int32) { cmx_attention_watch(fd) }

  /// Whether a process would receive it. Do not ask one that would not.
  package static func isHeard(by pid: Int32) -> Bool { cmx_attention_is_caught(pid) }

  /// How long the visited call-out is known to have been running.
  package static var busyTime: Duration { .nanoseconds(cmx_attention_busy_ns()) }

  /// Asks a process for a console, or to stop its call-out. A call-out that is still the same as at
  /// the last request is visited, or stopped. What happens is up to that process.
  /// - Throws: `SystemError` if there is no such process (ESRCH), it belongs to another user
  ///   (EPERM), or it would not receive this (EOPNOTSUPP); nothing was sent then.
  package static func ask(_ pid: Int32, interrupts: Bool = false) throws(SystemError) {
    let result = cmx_attention_ask(pid, interrupts)
    if result < 0 { throw SystemError(call: "pidfd_send_signal", code: -result) }
  }
}
