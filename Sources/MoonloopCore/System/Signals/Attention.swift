// Attention: another process of the same user has something to ask, and sends a signal for it.

internal import CLinuxShims

/// Asks a process for attention, and hears of such a wish. Any thread.
///
/// Meant for a console that is opened when somebody wants it: until then nothing is there.
package enum Attention {
  /// Whether somebody asked.
  @inline(__always)
  static var isAskedFor: Bool { cmx_attention() }

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

extension Loop {
  /// From now on a body is called in a pass of this loop when another process asked for attention,
  /// in whatever mode the loop runs. One loop of a process; loop thread only.
  package func onAttention(_ kernel: LinuxKernel, _ body: @escaping () -> Void) {
    attention = body
    kernel.hearsAttention = true
    cmx_attention_catch(kernel.wakeUpDescriptor)
  }

  /// Whether other processes may ask this loop for attention.
  package var hearsAttention: Bool { attention != nil }

  /// Before a sleep: what was asked for is done by a block of the mode, not here (R30).
  @inline(never)
  func hearAttention(_ mode: Mode) {
    guard cmx_attention_take(), let attention else { return }
    performHere(modes: [mode.name], attention)
  }
}
