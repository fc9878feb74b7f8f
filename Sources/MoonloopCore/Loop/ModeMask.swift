// A set of modes as bits, exact for the first 63 modes of a loop.

/// Which modes something is in, by the modes' indices in their loop.
///
/// Modes from the 64th on share the last bit, which then says "perhaps": a caller that finds it set
/// looks into the mode itself. Programs have a handful of modes, so that is never seen in practice.
struct ModeMask: Hashable, BitwiseCopyable, Sendable {
  var bits: UInt64 = 0
  init() {}

  /// The bit of a mode; the shared one from index 63 on.
  @inline(__always)
  static func bit(_ index: Int) -> UInt64 { 1 << UInt64(min(index, 63)) }

  var isEmpty: Bool { @inline(__always) get { bits == 0 } }

  @inline(__always)
  func mayContain(_ index: Int) -> Bool { bits & ModeMask.bit(index) != 0 }

  @inline(__always)
  mutating func insert(_ index: Int) { bits |= ModeMask.bit(index) }
}
