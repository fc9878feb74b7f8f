// Timers that are fired by hand, and tolerances that are set later (R141, R142).

extension Loop {
  /// Calls a timer at once, whatever its date and its modes; one that fires once ends by it (R141).
  ///
  /// The dates of a repeating timer stay as they are, unless its callback sets another.
  /// - Returns: false if there is no such timer, or its callback is under way or suspended.
  package func fireNow(_ id: TimerID) -> Bool {
    guard let slot = timers.slot(of: id) else { return false }
    let record = timers.records.pointer(to: slot)  // valid until user code runs
    guard record.pointee.flags.isDisjoint(with: [.firing, .suspended]) else { return false }
    record.pointee.flags.insert(.firing)
    record.pointee.fires &+= 1
    timers.firing.append(Int32(truncatingIfNeeded: slot))
    let isOutside = runs.frames.isEmpty ? 1 : 0
    timerState.firedByHand += isOutside
    callOut(byHandToTimer: id, record.pointee.callout, runs.frames.last?.mode ?? defaultMode)
    timerState.firedByHand -= isOutside
    timers.firing.removeLast()
    finishFireNow(slot)
    return true
  }

  private func finishFireNow(_ slot: Int) {
    let record = timers.records.pointer(to: slot)
    let flags = record.pointee.flags
    record.pointee.flags = flags.subtracting([.firing, .moved, .rearmed])
    if !flags.contains(.valid) { return finalize(slot) }
    if record.pointee.interval == 0 && !flags.contains(.rearmed) { return invalidate(slot: slot) }
    // Back into the queues from which a nested run removed it, with the date it was given.
    let date = record.pointee.date
    if flags.isDisjoint(with: [.moved, .rearmed]) {
      forEachMode(ofTimer: slot) { unpark(slot, to: date, $0) }
    } else {
      moveQueued(slot, to: date, hasCome: timers.served > 0 && clock.hasReached(date))
    }
    letGoIfNowhere(slot)
  }

  /// How much later than its date a timer may fire from now on (R142).
  package func setTolerance(of id: TimerID, to tolerance: Int64) {
    guard let slot = timers.slot(of: id) else { return }
    setInterval(of: id, to: timers.records[slot].interval, tolerance: tolerance)
  }
}
