// Turns: what goes on in the next pass of its modes stands among their due timers, and is none.

/// A place among the due timers of a mode. It is used once, and refers to nothing that must be
/// released.
struct Turn: BitwiseCopyable {
  /// Counts up over all modes of a loop: a turn has the same in each of its modes.
  let number: UInt64
  var place: TimerQueue.Entry
  let callout: TimerCallout
  /// Modes that become common get it too.
  let isCommon: Bool
  /// The modes that it waited in, if there is a tracer.
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
    if names.count == 1 && names[0] == .default {
      defaultMode.add(turn)
    } else {
      timerState.turnModes[turn.number] = []
      if isCommon { for mode in modes.common { add(turn, mode) } }
      for name in names where !isCommon || name != .common { add(turn, mode(name)) }
    }
    return TimerID(turn: turn.number)
  }

  private func add(_ turn: Turn, _ mode: Mode) {
    if mode.turns[turn.number] != nil { return }
    mode.add(turn)
    countPlace(in: mode, 1)
    timerState.turnModes[turn.number]?.append(mode.index)
  }

  /// Lets a turn wait in one more mode.
  func joinTurn(_ number: UInt64, _ mode: Mode) {
    let indices = modes(ofTurn: number)
    guard let turn = indices.lazy.compactMap({ self.modes[$0].turns[number] }).first else { return }
    if timerState.turnModes[number] == nil { timerState.turnModes[number] = indices }
    add(turn, mode)
  }

  /// Takes a turn back from all its modes.
  func removeTurn(_ number: UInt64) {
    if timerState.turnModes.isEmpty {
      defaultMode.removeTurn(number)
      return
    }
    for index in modes(ofTurn: number) { take(number, from: modes[index]) }
    timerState.turnModes[number] = nil
  }

  func take(_ number: UInt64, from mode: Mode) {
    if mode.removeTurn(number) { countPlace(in: mode, -1) }
  }

  private func modes(ofTurn number: UInt64) -> [Int] {
    timerState.turnModes[number] ?? [defaultMode.index]
  }

  /// Serves the turns of a batch that come before its next timer.
  @inline(never)
  func serveTurns(_ mode: Mode, in batch: TimerQueue.Batch, upTo last: UInt64) {
    let mustYield = hooks.mustYield
    while mustYield?() != true, let turn = mode.nextTurn, turn.number <= last,
      mode.timers.firstDue(in: batch).map({ turn.place.precedes($0) }) ?? true
    {
      serve(turn, mode)
    }
  }

  private func serve(_ turn: Turn, _ mode: Mode) {
    var turn = turn
    if tracing.isOn { for index in modes(ofTurn: turn.number) { turn.modes.insert(index) } }
    removeTurn(turn.number)
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
