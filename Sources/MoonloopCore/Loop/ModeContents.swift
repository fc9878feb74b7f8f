// The contents of a mode as counts, for display.

/// How much of each kind a mode has.
package struct ModeContents: Sendable, Equatable {
  package var isCommon = false
  package var timers = 0
  package var sources = 0
  package var descriptors = 0
  package var ports = 0
  package var observers = 0
  /// Blocks and requests that wait for it.
  package var blocks = 0
  /// Nothing in it keeps a run going.
  package var isEmpty = true
}

extension Loop {
  /// The contents of a mode now; nil if it was never used. Loop thread only.
  package func contents(of name: ModeName) -> ModeContents? {
    guard let mode = findMode(name) else { return nil }
    return ModeContents(
      isCommon: mode.isCommon, timers: mode.timers.count + mode.turns.count,
      sources: mode.sources.count, descriptors: mode.descriptors.count + mode.files.count,
      ports: mode.ports.count, observers: mode.observers.count,
      blocks: pending.live(for: mode).count,
      isEmpty: isEmpty(mode))
  }
}
