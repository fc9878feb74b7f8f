// Where the next turn begins of a loop whose host wants the thread back before a pass is over.

/// What a pass serves, in its order. Apart from ports, of which it serves one in any case.
enum PassStage: Comparable {
  case blocks, requests, sources, timers
}

/// Turns end between two call-outs. If each began with the first stage, one that takes as long as a
/// turn would keep those after it waiting forever.
struct PumpedTurns {
  /// The first stage that the turn has not come to, although something was ready there.
  private var missed = PassStage.blocks
  /// What comes before this stage is left out of the pass under way.
  private var first = PassStage.blocks

  mutating func begin() { (first, missed) = (missed, .blocks) }

  mutating func endPass() { first = .blocks }

  /// Whether a stage in which something is ready is left out.
  mutating func leavesOut(_ stage: PassStage, mustYield: () -> Bool) -> Bool {
    if stage < first { return true }
    first = .blocks
    if !mustYield() { return false }
    if missed == .blocks { missed = stage }
    return true
  }
}
