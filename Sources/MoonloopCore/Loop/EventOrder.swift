// The order of events that are ready at once, drawn by a seed: what no rule promises is permuted,
// so that a test finds code that relies on it.

/// Draws the order of equally ready events: ready descriptors and ports, and signalled sources of
/// the same order. The same seed and the same events give the same order.
///
/// What is promised keeps its order: timers by date and then by creation, blocks, observers,
/// sources of different orders, messages of one port.
package struct EventOrder {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  /// SplitMix64: small, and good enough for shuffling.
  private mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }

  /// A number below a bound.
  mutating func draw(below bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }
}
