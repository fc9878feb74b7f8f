// Timers: firing what is due, and changing records (R68 to R86).

extension Loop {
  // MARK: Firing

  func hasDueTimers(_ mode: Mode) -> Bool {
    guard mode.hasTimers else { return false }
    lookAtClock(mode)
    return isDue(mode)
  }

  /// Whether anything in a mode is due, by what the loop knows of the time.
  @inline(__always)
  func isDue(_ mode: Mode) -> Bool { mode.hasTurn || mode.timers.hasDue(at: time.now) }

  /// When the sleep must end for the timers of a mode, their tolerances used (R83).
  func wakeDate(_ mode: Mode) -> Int64 {
    let date = mode.timers.wakeDate { timers.tolerance($0) }
    return mode.hasTurn ? min(date, mode.nextTurn?.place.date ?? .max) : date
  }

  /// Fires all timers that are due now, by date, each once (R73), and serves the turns among them;
  /// each is looked at again before it comes, since those before it may have changed it (R74).
  func fireTimers(_ mode: Mode) {
    if !timerState.batchMoves.isEmpty && mode.timers.isInBatch { settleBatchMoves(mode) }
    let batch = mode.timers.beginBatch(at: time.now)
    let lastTurn = timerState.lastTurn
    let mustYield = hooks.mustYield
    while mustYield?() != true {
      if mode.hasTurn { serveTurns(mode, in: batch, upTo: lastTurn) }
      guard let slot = mode.timers.nextDue(in: batch) else { break }
      fire(slot, mode, at: batch.now)
    }
    mode.timers.endBatch(batch)
    if !timerState.batchLeavers.isEmpty { timerState.batchLeavers.forget(mode: mode.index) }
    if !timerState.batchMoves.isEmpty && !mode.timers.isInBatch {
      _ = timerState.batchMoves.take(mode)
    }
  }

  @inline(__always)
  private func fire(_ slot: Int, _ mode: Mode, at now: Int64) {
    let record = timers.records.pointer(to: slot)  // valid until user code runs
    let flags = record.pointee.flags
    if flags.contains(.wallClock) && postponeByWallClock(slot) { return }
    let isHereOnly = record.pointee.modes.bits == mode.bit && mode.index < 63
    let date = record.pointee.date
    let interval = record.pointee.interval
    var next = Int64.max
    var coalesced: Int64 = 0
    if interval > 0 {
      var now = now
      // Fires up to this moment are coalesced, also those that passed since the batch began.
      if time.isOld || clock.hasSurelyReached(saturatingDate(date, after: interval)) {
        now = max(now, clock.now())
      }
      next = TimerSchedule.next(after: date, interval: interval, laterThan: now).date
      coalesced = TimerSchedule.missed(since: date, interval: interval, at: now)
      if isHereOnly { mode.timers.move(slot, to: next) } else { moveQueued(slot, to: next) }
      if flags.contains(.suspended) {
        record.pointee.date = next
        record.pointee.missed += coalesced + 1  // D59
        return
      }
    } else {
      if isHereOnly { mode.timers.park(slot) } else { parkEverywhere(slot) }
    }
    mode.timers.prefetchSoon(timers.records) { next in
      next.actions.pointee.prefetch?(next.context, next.payload, true)
    } second: { second in
      second.actions.pointee.prefetch?(second.context, second.payload, false)
    }
    let missed = record.pointee.missed + coalesced
    record.pointee.flags.insert(.firing)  // the flags may have lost that of the wall clock
    record.pointee.fires &+= 1
    record.pointee.missed = 0
    timers.firing.append(Int32(truncatingIfNeeded: slot))
    let id = TimerID(slot: slot, generation: record.pointee.generation)
    callOut(toTimer: id, record.pointee.callout, due: date, missed: missed, mode)
    timers.firing.removeLast()
    finishFire(slot, date: date, next: next, coalesced: coalesced)
  }

  /// After the callback: the timer ends, or its next date is the first grid point after now (R72).
  @inline(__always)
  private func finishFire(_ slot: Int, date: Int64, next: Int64, coalesced: Int64) {
    let record = timers.records.pointer(to: slot)
    let flags = record.pointee.flags
    record.pointee.flags = flags.subtracting([.firing, .moved, .rearmed])
    if !flags.contains(.valid) { return finalize(slot) }
    let interval = record.pointee.interval
    if interval == 0 && !flags.contains(.rearmed) { return invalidate(slot: slot) }  // R70, R76
    var isInPlace = timers.firing.count == 0 && !timerState.wasParked
    if !flags.isDisjoint(with: [.moved, .rearmed]) {
      isInPlace = false
    } else {
      record.pointee.date = next
      if clock.hasReached(next) {
        let (later, missed) = TimerSchedule.next(
          after: date, interval: interval, laterThan: clock.now())
        record.pointee.date = later
        record.pointee.missed += missed - coalesced
        isInPlace = false
      }
    }
    if !isInPlace { requeue(slot) }
    if record.pointee.modes.isEmpty { letGoIfNowhere(slot) }
  }

  /// A nested run begins: timers whose callbacks are under way do not fire in it (R75).
  func parkFiringTimers() {
    for index in 0..<timers.firing.count { parkEverywhere(Int(timers.firing[index])) }
    timerState.wasParked = timers.firing.count > 0 || timerState.wasParked
  }

  /// The earliest date of the timers of a mode whose callbacks are under way; `Int64.max`: of none.
  ///
  /// They are queued for the date after it, or the one that they were given meanwhile.
  func earliestServed(_ mode: Mode) -> Int64 {
    var earliest = Int64.max
    for index in 0..<timers.firing.count {
      let slot = Int(timers.firing[index])
      guard mode.timers.contains(slot) else { continue }
      let record = timers.records[slot]
      if record.flags.contains(.moved) { moveQueued(slot, to: record.date) }
      earliest = min(earliest, record.date)
    }
    return earliest
  }

  // MARK: Records

  /// How many timers there may be.
  package var timerLimit: Int {
    get { timerState.limit }
    set { timerState.limit = newValue }
  }

  /// Makes a timer on this loop, in no mode yet.
  /// - Returns: nil if the loop has too many.
  package func makeTimer(
    date: Int64, interval: Int64, tolerance: Int64 = 0, callout: TimerCallout
  ) -> TimerID? {
    timers.make(
      date: date, interval: interval, tolerance: tolerance, callout: callout,
      limit: timerState.limit)
  }

  /// Adds a timer to the default mode.
  @inline(__always)
  package func add(_ id: TimerID) {
    if let slot = timers.slot(of: id) { join(timerInSlot: slot, defaultMode) }
  }

  package func add(_ id: TimerID, _ name: ModeName) {
    guard let slot = timers.slot(of: id) else {
      if let turn = id.turn { joinTurn(turn, mode(name)) }
      return
    }
    if name == .default { return join(timerInSlot: slot, defaultMode) }
    if name == .common {
      timers.records[slot].flags.insert(.common)
      timerState.common.insert(Int32(slot))
      for mode in modes.common { join(timerInSlot: slot, mode) }
    } else {
      join(timerInSlot: slot, mode(name))
    }
  }

  @inline(__always)
  func join(timerInSlot slot: Int, _ mode: Mode) {
    let records = timers.records
    if mode.timers.contains(slot) { return }
    let date = records[slot].date
    // What is made after it without a delay is no earlier.
    if timers.served > 0 && date > time.now && clock.hasReached(date) { time.now = date }
    let isDue = date <= time.now
    if isDue { noteLateJoin(slot, mode) }
    mode.timers.insert(slot, date: date, isDue: isDue)
    if !timerState.batchLeavers.isEmpty && clock.hasReached(date) { rejoinBatch(slot, mode) }
    countPlace(in: mode, 1)
    records[slot].modes.bits |= mode.bit
    if mode.index >= 63 { timerState.farModes.insert(slot, mode.index) }
    if timers.tolerance(slot) > 0 { mode.timers.noteTolerance() }
    if !records[slot].flags.contains(.idle) { mode.holders += 1 }
    if records[slot].flags.contains(.firing) {
      mode.timers.park(slot)
      timerState.wasParked = true
    }
  }

  package func remove(_ id: TimerID, _ names: [ModeName]) {
    guard let slot = timers.slot(of: id) else {
      if let turn = id.turn { for name in names { findMode(name).map { take(turn, from: $0) } } }
      return
    }
    for name in names {
      if name == .common {
        guard timers.records[slot].flags.contains(.common) else { continue }  // R131
        timers.records[slot].flags.remove(.common)
        timerState.common.remove(Int32(slot))
        for mode in modes.common { takeOut(slot, mode) }
      } else if let mode = findMode(name) {
        takeOut(slot, mode)
      }
    }
    letGoIfNowhere(slot)
  }

  private func takeOut(_ slot: Int, _ mode: Mode) {
    if mode.timers.isInBatch { noteBatchLeaver(slot, mode) }
    leave(timerInSlot: slot, mode)
  }

  @inline(__always)
  private func leave(timerInSlot slot: Int, _ mode: Mode) {
    guard mode.timers.remove(slot) else { return }
    countPlace(in: mode, -1)
    if !timers.records[slot].flags.contains(.idle) { mode.holders -= 1 }
    if mode.index < 63 || leaveFar(slot, mode) { timers.records[slot].modes.bits &= ~mode.bit }
  }

  /// - Returns: Whether the timer is in no other mode that shares the bit.
  @inline(never)
  private func leaveFar(_ slot: Int, _ mode: Mode) -> Bool {
    timerState.farModes.remove(slot, mode.index)
  }

  package func contains(_ id: TimerID, _ name: ModeName) -> Bool {
    if let turn = id.turn { return findMode(name)?.turns[turn] != nil }
    guard let slot = timers.slot(of: id) else { return false }
    if name == .common { return timers.records[slot].flags.contains(.common) }
    return findMode(name)?.timers.contains(slot) ?? false
  }

  /// Whether a timer is in the default mode, in no other, and no common item.
  package func isOnlyInDefaultMode(_ id: TimerID) -> Bool {
    guard let slot = timers.slot(of: id) else { return false }
    return timers.records[slot].modes.bits == 1 && !timers.records[slot].flags.contains(.common)
  }

  package func modeNames(of id: TimerID) -> [ModeName] {
    guard let slot = timers.slot(of: id) else { return [] }
    var found: [Int] = []
    forEachMode(ofTimer: slot) { found.append($0.index) }
    return found.sorted().map { modes[$0].name }
  }

  package func date(of id: TimerID) -> Int64? {
    timers.slot(of: id).map { timers.records[$0].date }
  }

  /// Gives a timer another next date, as its owner asks for it: a past one means now, and a grid
  /// begins there (R76, R132).
  /// - Returns: false if there is no such timer.
  @discardableResult
  package func setNextDate(of id: TimerID, to date: Int64) -> Bool {
    setDate(of: id, to: notPast(date))
  }

  /// Sets the next date as it is; a grid may begin in the past.
  /// - Returns: false if there is no such timer.
  @discardableResult
  package func setDate(of id: TimerID, to date: Int64) -> Bool {
    guard let slot = timers.slot(of: id) else { return false }
    setDate(slot, to: date, also: [])
    return true
  }

  /// Fires again after a delay, whatever kind of timer it is, also in its own callback.
  @discardableResult
  package func rearm(_ id: TimerID, after delay: Int64) -> Bool {
    guard let slot = timers.slot(of: id) else { return false }
    let repeats = timers.records[slot].interval > 0
    setDate(slot, to: dueDate(after: max(0, delay), repeats: repeats), also: .rearmed)
    return true
  }

  /// Sets the next date; in the timer's own callback that is noted, with one more flag.
  @inline(__always)
  func setDate(_ slot: Int, to date: Int64, also flag: TimerFlags) {
    let record = timers.records.pointer(to: slot)
    let date = notTooEarly(date, interval: record.pointee.interval)
    record.pointee.date = date
    if record.pointee.flags.contains(.wallClock) {
      forgetWallDate(of: TimerID(slot: slot, generation: record.pointee.generation))
    }
    if record.pointee.flags.contains(.firing) {
      record.pointee.flags.formUnion(flag.union(.moved))
    } else if timers.served > 0 && clock.hasReached(date) {
      moveQueued(slot, to: date, hasCome: true)  // R136
    } else {
      postponeQueued(slot, to: date)
    }
  }

  /// Makes a timer one of another interval and tolerance; its next date is the caller's affair.
  package func setInterval(of id: TimerID, to interval: Int64, tolerance: Int64) {
    guard let slot = timers.slot(of: id) else { return }
    timers.records[slot].interval = interval
    if tolerance == timers.tolerance(slot) { return }
    timers.setTolerance(slot, tolerance)
    forEachMode(ofTimer: slot) { $0.timers.noteTolerance() }
  }

  package func setHolds(of id: TimerID, _ holds: Bool) {
    guard let slot = timers.slot(of: id) else { return }
    let held = !timers.records[slot].flags.contains(.idle)
    if held == holds { return }
    if holds {
      timers.records[slot].flags.remove(.idle)
    } else {
      timers.records[slot].flags.insert(.idle)
    }
    forEachMode(ofTimer: slot) { $0.holders += holds ? 1 : -1 }
  }

  /// While a handler is suspended, fires of its timer are coalesced (D59).
  package func setSuspended(_ id: TimerID, _ suspended: Bool) {
    guard let slot = timers.slot(of: id) else { return }
    if suspended {
      timers.records[slot].flags.insert(.suspended)
    } else {
      timers.records[slot].flags.remove(.suspended)
      if tracing.isOn { noteHandlerEnd(slot) }
    }
  }

  /// Ends a timer for good; in its own callback its record stays until that has returned. A turn is
  /// taken back.
  @inline(__always)
  package func invalidate(_ id: TimerID) {
    if let slot = timers.slot(of: id) {
      invalidate(slot: slot)
    } else if let turn = id.turn {
      removeTurn(turn)
    }
  }

  func invalidate(slot: Int) {
    leaveModes(slot)
    timers.records[slot].flags.remove(.valid)
    if !timers.records[slot].flags.contains(.firing) { finalize(slot) }
  }

  func finalize(_ slot: Int) {
    let record = timers.records[slot]
    let id = TimerID(slot: slot, generation: record.generation)
    if record.flags.contains(.wallClock) { forgetWallDate(of: id) }
    if record.flags.contains(.common) { timerState.common.remove(Int32(slot)) }
    timers.release(slot)
    let callout = record.callout
    callout.actions.pointee.release(
      callout.context, callout.payload, id.rawValue, record.flags.contains(.noted))
  }

  // MARK: All modes of a timer

  @inline(__always)
  func forEachMode(ofTimer slot: Int, _ body: (Mode) -> Void) {
    let bits = timers.records[slot].modes.bits
    if bits == 1 { return body(defaultMode) }
    if bits != 0 { forEachMode(of: bits, ofTimer: slot, body) }
  }

  @inline(never)
  private func forEachMode(of bits: UInt64, ofTimer slot: Int, _ body: (Mode) -> Void) {
    var near = bits & ~ModeMask.bit(63)
    while near != 0 {
      body(modes[near.trailingZeroBitCount])
      near &= near - 1
    }
    if bits & ModeMask.bit(63) == 0 { return }
    for index in timerState.farModes.modes(of: slot) { body(modes[index]) }
  }

  @inline(__always)
  private func leaveModes(_ slot: Int) {
    forEachMode(ofTimer: slot) { leave(timerInSlot: slot, $0) }
  }

  /// Moves a timer that the script may well move again before it is due.
  @inline(__always)
  private func postponeQueued(_ slot: Int, to date: Int64) {
    if timers.records[slot].modes.bits != 1 || !defaultMode.timers.isQueued(slot) {
      return moveQueued(slot, to: date)
    }
    defaultMode.timers.postpone(slot, to: date)
  }

  func moveQueued(_ slot: Int, to date: Int64, hasCome: Bool = false) {
    forEachMode(ofTimer: slot) { mode in
      moveQueued(slot, to: date, hasCome: hasCome, mode)
    }
  }

  @inline(__always)
  private func moveQueued(_ slot: Int, to date: Int64, hasCome: Bool, _ mode: Mode) {
    if !mode.timers.isQueued(slot) { return unpark(slot, to: date, mode) }
    if hasCome {
      if mode.timers.moveWhereDue(slot, to: date) { timerState.batchMoves.note(slot, mode) }
    } else {
      mode.timers.move(slot, to: date)
    }
  }

  /// Puts a timer back that was kept from nested runs, unless its callback is under way: then it
  /// comes back after that.
  func unpark(_ slot: Int, to date: Int64, _ mode: Mode) {
    guard mode.timers.contains(slot), !mode.timers.isQueued(slot),
      !timers.records[slot].flags.contains(.firing)
    else { return }
    mode.timers.insert(slot, date: date, isDue: date <= time.now)
  }

  @inline(__always)
  private func parkEverywhere(_ slot: Int) {
    forEachMode(ofTimer: slot) { $0.timers.park(slot) }
  }

  private func requeue(_ slot: Int) {
    let date = timers.records[slot].date
    forEachMode(ofTimer: slot) { requeue(slot, date, $0) }
    if timers.firing.count == 0 { timerState.wasParked = false }
  }

  @inline(__always)
  private func requeue(_ slot: Int, _ date: Int64, _ mode: Mode) {
    if mode.timers.isQueued(slot) {
      mode.timers.move(slot, to: date)
    } else if mode.timers.contains(slot) {
      mode.timers.insert(slot, date: date, isDue: date <= time.now)
    }
  }

  // MARK: Timers as Swift objects

  func add(timer: Timer, _ names: [ModeName]) throws(LoopError) {
    if !timer.isOwned(by: self) {
      guard timer.claim(for: self) else { throw .onAnotherLoop(timer.label) }
      guard timer.isValid else {  // It ended on another loop since it was looked at.
        timer.release()
        throw .invalidItem(timer.label)
      }
      try makeRecord(timer)
    }
    for name in names { add(timer.id, name) }
    letGoIfNowhere(timer.id.slot)
  }

  private func makeRecord(_ timer: Timer) throws(LoopError) {
    let context = Unmanaged.passRetained(timer).toOpaque()
    let callout = TimerCallout(swiftTimerActions, context: context)
    guard
      let id = makeTimer(
        date: timer.restingDate,
        interval: timer.interval > .zero ? max(1, timer.interval.loopNanoseconds) : 0,
        tolerance: timer.tolerance.loopNanoseconds, callout: callout)
    else {
      timer.release()
      Unmanaged<Timer>.fromOpaque(context).release()
      throw .tooManyTimers(timerState.limit)
    }
    timers.records[id.slot].flags.insert(.object)
    timer.loop = self
    timer.id = id
    if !timer.holds { setHolds(of: id, false) }
  }

  /// A Swift timer that has left all modes keeps its date and may go to another loop (R79, R80),
  /// once its callback has returned.
  func letGoIfNowhere(_ slot: Int) {
    let record = timers.records[slot]
    guard record.flags.isSuperset(of: [.valid, .object]), record.modes.isEmpty,
      record.flags.isDisjoint(with: [.common, .firing])
    else { return }
    let timer = Unmanaged<Timer>.fromOpaque(record.callout.context).takeUnretainedValue()
    timer.restingDate = record.date
    timer.id = TimerID(rawValue: 0)
    timer.loop = nil
    timers.records[slot].flags.remove(.valid)
    finalize(slot)
    timer.release()  // Last: from here on the loop of another thread may have it.
  }
}
