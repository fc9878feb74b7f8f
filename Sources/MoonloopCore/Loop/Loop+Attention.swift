// What a loop does when another process asks for attention.

internal import CLinuxShims

extension Loop {
  /// From now on a body is called in a pass of this loop when another process asked for attention,
  /// in whatever mode the loop runs. One loop of a process; loop thread only.
  package func onAttention(_ kernel: LinuxKernel, _ body: @escaping () -> Void) {
    hooks.attention = body
    kernel.hearsAttention = true
    cmx_attention_catch(kernel.wakeUpDescriptor)
  }

  /// Whether other processes may ask this loop for attention.
  package var hearsAttention: Bool { hooks.attention != nil }

  /// Before a sleep: a block of the mode does what was requested, not this call (R30).
  @inline(never)
  func hearAttention(_ mode: Mode) {
    guard cmx_attention_take(), let attention = hooks.attention else { return }
    performHere(modes: [mode.name], attention)
  }
}
