// Turns: what goes on in the next pass of its modes stands among their due timers, and is none.

/// A place among the due timers of a mode. It is taken once, and names nothing that must be let go.
struct Turn: BitwiseCopyable {
  /// Counts up over all modes of a loop: a turn has the same in each of its modes.
  let number: UInt64
  var place: TimerQueue.Entry
  let callout: TimerCallout
  /// Modes that become common get it too.
  let isCommon: Bool
  /// The modes that it waited in, if a tracer is to know.
  var modes = ModeMask()
}

extension Loop {
  /// Has something called in the next pass of one of some modes, once: in the order of dates, as a
  /// timer that is made now without a delay.
  /// - Returns: What `invalidate` takes it back by.
  package func makeTurn(_ callout: TimerCallout, _ names: [ModeName]) -> TimerID {
    timerState.lastTurn += 1
    let isCommon = names.contains { $0 != .default && $0 == .common }
    let turn = Turn(
      number: timerState.lastTurn, place: TimerQueue.Entry(date: dueDate(after: 0), key: 0),
      callout: callout, isCommon: isCommon)
    if isCommon { for mode in modes.common { mode.add(turn) } }
    for name in names where !isCommon || name != .common { mode(name).add(turn) }
    return TimerID(turn: turn.number)
  }

  /// Lets a turn wait in one more mode.
  func joinTurn(_ id: TimerID, _ name: ModeName) {
    guard let number = id.turn, let turn = modes.lazy.compactMap({ $0.turns[number] }).first
    else { return }
    mode(name).add(turn)
  }

  func removeTurn(_ number: UInt64) {
    for mode in modes { mode.removeTurn(number) }
  }

  func serve(_ turn: Turn, _ mode: Mode) {
    var turn = turn
    if tracing.isOn {
      for mode in modes where mode.turns[turn.number] != nil { turn.modes.insert(mode.index) }
    }
    mode.removeTurn(turn.number)
    if modes.count > 1 { removeTurn(turn.number) }
    timers.servedTurns.append(turn)
    callOut(
      toTimer: TimerID(turn: turn.number), turn.callout, due: turn.place.date, missed: 0, mode)
    timers.servedTurns.removeLast()
  }

  /// Whether a timer, or the turn that is served now, belongs to a mode.
  package func serves(_ id: TimerID, in mode: Mode) -> Bool {
    if !id.isTurn { return mode.timers.contains(id.slot) }
    return timers.servedTurns[timers.servedTurns.count - 1].modes.mayContain(mode.index)
  }
}
