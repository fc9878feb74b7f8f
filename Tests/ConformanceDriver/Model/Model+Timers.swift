// Timers: which fire in step 9, and when each fires next.

import ConformanceFormat

extension Model {
  func hasDueTimers(_ mode: Mode) -> Bool {
    !dueTimers(mode).isEmpty
  }

  func dueTimers(_ mode: Mode) -> [Item] {
    mode.timers.filter { !$0.isFiring && $0.keptIn !== mode && $0.date <= now }
  }

  /// Fires all that are due, by date, each once; each is checked again before its turn (R73, R74).
  func fireTimers(_ mode: Mode) {
    let batch = dueTimers(mode)
    if batch.isEmpty { rearm(mode) }
    var rest = batch
    let postponed = batch.map(\.postponements)
    while !rest.isEmpty {
      if rules(.batchFollowsChanges) {
        for (timer, count) in zip(batch, postponed) where timer.postponements != count {
          rest.removeAll { $0 === timer }
        }
        // One that has left the mode may come back.
        let left = rest.filter { timer in !mode.timers.contains { $0 === timer } }
        rest = mode.timers.filter { timer in rest.contains { $0 === timer } } + left
        if rest.count == left.count { return }
      }
      let timer = rest.removeFirst()
      if timer.isValid && !timer.isFiring && timer.date <= now && !timer.modes.isEmpty {
        fire(timer, mode)
      }
    }
  }

  private func fire(_ timer: Item, _ mode: Mode) {
    let served = timer.date
    timer.isFiring = true
    timer.postponements += 1  // it has had its turn in the batches of outer runs too
    rearm(mode)
    if let request = timer.request { call(request) } else { call(timer) }
    if timer.interval <= 0 { invalidate(timer) }
    timer.isFiring = false
    guard timer.isValid else { return }
    if timer.date > served { return arm(mode) }  // It was moved in its callback.
    var next = served
    while next <= now { next += timer.interval }
    let passed = next - timer.interval
    if next - now < Self.margin || (passed > served && now - passed < Self.margin) {
      refuse("a call-out of \(timer.spec.id) ends at a point of its grid")
    }
    giveBack(timer)
    setDate(timer, next, shown: next)
  }

  func setDate(_ timer: Item, _ date: Int64, shown: Int64) {
    if date > now { timer.postponements += 1 }
    timer.date = date
    timer.shown = shown
    for mode in modes.values {
      guard let place = mode.timers.firstIndex(where: { $0 === timer }) else { continue }
      mode.timers.remove(at: place)
      insert(timer, mode)
    }
  }

  func insert(_ timer: Item, _ mode: Mode) {
    let place = mode.timers.firstIndex { $0.date > timer.date } ?? mode.timers.endIndex
    mode.timers.insert(timer, at: place)
    arm(mode)
  }

  // MARK: CF's kernel timer, one for each mode (R30)

  /// Sets it for the first date; without one, it keeps its last setting.
  func arm(_ mode: Mode) {
    let first = mode.timers.first { !$0.isFiring }?.date
    if let first, first != mode.armedFor {
      mode.alarm = first
      mode.alarmRang = false
      ring(mode)
    }
    mode.armedFor = first
  }

  private func rearm(_ mode: Mode) {
    mode.armedFor = nil
    arm(mode)
  }

  func ring(_ mode: Mode) {
    guard let alarm = mode.alarm, alarm <= now else { return }
    mode.alarm = nil
    mode.alarmRang = true
    mode.append(.timers)
  }
}
