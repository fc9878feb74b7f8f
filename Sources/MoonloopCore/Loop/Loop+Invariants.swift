// What must hold between passes; checked in debug builds after each run, and by tests.

extension Loop {
  /// Traps in debug builds if the loop's bookkeeping contradicts itself.
  func checkInvariants() {
    assert(Steps.uncounted { brokenInvariant() } == nil, brokenInvariant() ?? "")
  }

  /// The first thing that does not hold; nil if all does. Loop thread only.
  package func brokenInvariant() -> String? {
    for mode in modes {
      if !mode.timers.isConsistent() { return "mode \(mode.name): the timers are out of order" }
      let held =
        mode.sources.filter(\.holds).count + mode.ports.filter(\.holds).count
        + mode.allDescriptors.filter(\.holds).count + heldTimers(mode)
        + mode.turns.count
      if held != mode.holders {
        return "mode \(mode.name): \(held) items hold a run, \(mode.holders) were counted"
      }
      if let broken = brokenPlace(mode) { return "mode \(mode.name): \(broken)" }
    }
    if runs.frames.isEmpty && timers.served > timerState.firedByHand {
      return "a timer fires while the loop does not run"
    }
    return nil
  }

  /// The first item of a mode that does not know where it stands there.
  private func brokenPlace(_ mode: Mode) -> String? {
    func look<Item>(_ list: ItemList<Item>) -> String? {
      for place in 0..<list.placeCount {
        guard let item = list[place] else { continue }
        if places(of: item).place(in: mode.index) != place {
          return "\(item.label) does not know its place"
        }
      }
      return nil
    }
    let waiting =
      mode.ports.markedCount + mode.descriptors.markedCount + mode.files.markedCount
      + (mode.mainQueueTurn > 0 ? 1 : 0)
    if waiting != mode.ready.count {
      return "\(mode.ready.count) wait for their turn, \(waiting) know of it"
    }
    if mode.sources.markedCount != mode.signals.count {
      return "\(mode.signals.count) signals wait, \(mode.sources.markedCount) know of it"
    }
    return look(mode.sources) ?? look(mode.ports) ?? look(mode.descriptors) ?? look(mode.files)
  }

  private func heldTimers(_ mode: Mode) -> Int {
    (0..<timers.records.count).filter {
      mode.timers.contains($0) && !timers.records[$0].flags.contains(.idle)
    }.count
  }
}
