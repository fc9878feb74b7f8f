// Attention: another process of the same user has something to ask, and sends a signal for it.

internal import CLinuxShims

/// Whether another process wants something of this one. Any thread.
///
/// For a console that is opened on demand: until then nothing exists for it.
package enum Attention {
  @inline(__always)
  static var isAskedFor: Bool { cmx_attention() }
}
