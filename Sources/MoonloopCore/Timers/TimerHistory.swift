// What a traced loop notes of its timers, to tell later why one did not fire at its date.

/// The facts that later explain why a timer did not fire at its date.
package struct TimerHistory {
  let generation: UInt32
  /// When it was added to a mode last, after its date had come and while it was in none.
  package var nowhereUntil: Int64?
  /// When it was added to each mode last, if its date had come by then, by the mode's index.
  package var joined: [Int: Int64] = [:]
  /// When the last suspended call of its handler ended.
  package var handlerEnd: Int64?
  /// When that call was due to go on for the last time.
  package var handlerReady: Int64?
}

extension TimerState {
  mutating func note(_ slot: Int, _ record: TimerRecord, _ change: (inout TimerHistory) -> Void) {
    var history = histories[slot] ?? TimerHistory(generation: record.generation)
    if history.generation != record.generation {
      history = TimerHistory(generation: record.generation)
    }
    change(&history)
    histories[slot] = history
  }
}

extension Loop {
  @inline(never)
  func noteLateJoin(_ slot: Int, _ mode: Mode) {
    guard tracing.isOn else { return }
    let now = clock.now()
    timerState.note(slot, timers.records[slot]) {
      if timers.records[slot].modes.isEmpty { $0.nowhereUntil = now }
      $0.joined[mode.index] = now
    }
  }

  @inline(never)
  func noteHandlerEnd(_ slot: Int) {
    let now = clock.now()
    // The handler has waited for the timer that fires now, if one does.
    let firing = timers.firing
    let due = firing.count > 0 ? timers.records[Int(firing[firing.count - 1])].date : now
    timerState.note(slot, timers.records[slot]) {
      ($0.handlerEnd, $0.handlerReady) = (now, min(now, due))
    }
  }

  /// nil: none, or the loop was not traced.
  package func history(of id: TimerID) -> TimerHistory? {
    guard let history = timerState.histories[id.slot], history.generation == id.generation else {
      return nil
    }
    return history
  }
}
