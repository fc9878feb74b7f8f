// What must hold between passes; checked in debug builds after each run, and by tests.

extension Loop {
  /// Traps in debug builds if the loop's bookkeeping contradicts itself.
  package func checkInvariants() {
    assert(brokenInvariant() == nil, brokenInvariant() ?? "")
  }

  /// The first thing that does not hold; nil if all does. Loop thread only.
  package func brokenInvariant() -> String? {
    for mode in modes {
      if !mode.timers.isConsistent() { return "mode \(mode.name): the timers are out of order" }
      let held =
        mode.sources.filter(\.holds).count + mode.ports.filter(\.holds).count
        + mode.descriptors.filter(\.holds).count + heldTimers(mode)
      if held != mode.holders {
        return "mode \(mode.name): \(held) items hold a run, \(mode.holders) were counted"
      }
      let orders = mode.observers.map(\.order)
      if orders != orders.sorted() { return "mode \(mode.name): the observers are out of order" }
      for source in mode.descriptors where !source.isIn(mode.index) {
        return "mode \(mode.name): \(source.label) does not know that it is in it"
      }
    }
    if frames.isEmpty && firing.count > 0 { return "a timer fires while the loop does not run" }
    return nil
  }

  private func heldTimers(_ mode: Mode) -> Int {
    (0..<timers.records.count).filter {
      mode.timers.contains($0) && !timers.records[$0].flags.contains(.idle)
    }.count
  }
}
