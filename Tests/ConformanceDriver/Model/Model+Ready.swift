// Steps 5 and 7: what is ready, and the sleep.
//
// Each mode has a list of what has become ready, first come first, as the kernel keeps one for each
// of CF's port sets; CF takes the first. Our rulings put ports, in that order, before timers.

import ConformanceFormat

extension Model {
  /// Step 5: a port that is ready before the sleep.
  func readyPort(_ run: Run, polls: Bool) -> Ready? {
    guard rules(.readyPortNeedsNoSleep) else {
      defer { run.leavesMainQueue = false }
      if run.leavesMainQueue || !isMainQueueReady(run.mode) { return nil }
      mainQueue.isRaised = false
      return .mainQueue
    }
    if polls || (run.servedPort && hasDueTimers(run.mode)) { return nil }
    return nextReady(run, only: \.isPort)
  }

  /// Takes the next event of a mode; nil if nothing is ready.
  func nextReady(_ run: Run, only isWanted: (Ready) -> Bool = { _ in true }) -> Ready? {
    let mode = run.mode
    // CF adds the main queue to the end of the mode's set for each look.
    if isMainQueueReady(mode) { mode.append(.mainQueue) }
    defer { mode.ready.removeAll { $0 == .mainQueue } }
    // The kernel looks no further than the first ready one: the others keep their places.
    while let place = mode.ready.firstIndex(where: { !$0.isWithheld }),
      !isReady(mode.ready[place], mode)
    {
      mode.ready.remove(at: place)
    }
    var candidates = mode.ready.filter { isReady($0, mode) }
    if rules(.goneTimerDoesNotWake) && hasDueTimers(mode) && !candidates.contains(where: \.isTimers)
    {
      candidates.append(.timers)
    }
    lookForTies(among: candidates)
    if rules(.portsBeforeTimers) {
      let timersFirst = run.servedPort && hasDueTimers(mode)
      let timers = candidates.filter(\.isTimers)
      let rest = candidates.filter { !$0.isTimers }
      candidates =
        timersFirst ? timers + rest : rest.filter(\.isPort) + timers + rest.filter(\.isWakeUp)
    }
    if rules(.wakeUpTakesNoTurn) {
      candidates = candidates.filter { !$0.isWakeUp } + candidates.filter(\.isWakeUp)
    }
    if rules(.wakeUpTakesNoTurn) {
      candidates.removeAll { $0.isPort && !run.open.contains(.ports) }
      candidates.removeAll { $0.isTimers && !run.open.contains(.timers) }
    }
    guard let event = candidates.first(where: isWanted) else { return nil }
    mode.ready.removeAll { $0 == event }
    switch event {
    case .port(let port): port.isRaised = false
    case .mainQueue: mainQueue.isRaised = false
    case .timers: mode.alarmRang = false
    case .wakeUp: wakeIsPending = false
    }
    return event
  }

  func isReady(_ entry: Ready, _ mode: Mode) -> Bool {
    switch entry {
    case .port(let port):
      (port.isDescriptor ? port.isReadable : port.isRaised) && port.keptIn == nil
    case .mainQueue: isMainQueueReady(mode)
    case .timers: rules(.goneTimerDoesNotWake) ? hasDueTimers(mode) : mode.alarmRang
    case .wakeUp: wakeIsPending
    }
  }

  /// The items of an event.
  func items(of event: Ready?, _ mode: Mode) -> [Item] {
    switch event {
    case .port(let port): [port]
    case .timers: dueTimers(mode)
    case .wakeUp, .mainQueue, nil: []
    }
  }

  /// Step 7.
  func sleep(_ run: Run) -> Ready? {
    let start = now
    isAsleep = true
    defer {
      isAsleep = false
      if now > start { lookForRaces() }
    }
    while !isOver {
      let event = nextReady(run)
      if let event, !event.isWakeUp { return event }
      if rules(.wakeUpReachesAllRuns) {
        if wakes != run.wakesSeen || run.isStopped { return nil }
        if let deadline = run.deadline, deadline <= now { return nil }
      } else if event != nil || (run.isStopped && rules(.wakeUpEndsWithItsRun)) {
        return event
      }
      if rules(.emptinessBeforeSleep) && isEmpty(run.mode) { return nil }
      advance()
    }
    return nil
  }

  /// After a stop the pass serves nothing that is not ready yet.
  func stop(_ run: Run) {
    if run.isExiting && rules(.wakeUpEndsWithItsRun) { return }
    run.isStopped = true
    if run.open.count == 2 {
      let hasPort = run.mode.ready.contains { $0.isPort && isReady($0, run.mode) }
      if !hasPort && !isMainQueueReady(run.mode) {
        run.open.remove(.ports)
      }
      if !hasDueTimers(run.mode) { run.open.remove(.timers) }
    }
    if !rules(.wakeUpEndsWithItsRun) { wakeUp() }
  }

  // MARK: Becoming ready

  func wakeUp() {
    wakes += 1
    if runs.last?.ignoresWakes ?? true { return }
    wakeIsPending = true
    for mode in modes.values { mode.append(.wakeUp) }
  }

  /// What a run has left of a wake-up: CF keeps it for the first sleep of the next run.
  func beginWakes(of run: Run) {
    run.wakesSeen = wakes
    if !runs.isEmpty { return }
    if rules(.wakeUpEndsWithItsRun) {
      wakeIsPending = false
      for mode in modes.values { mode.ready.removeAll(where: \.isWakeUp) }
    } else if wakeIsPending {
      run.wakesSeen -= 1
    }
  }

  func raise(_ port: Item) {
    port.isRaised = true
    for mode in modes.values where mode.ports.contains(where: { $0 === port }) {
      mode.append(.port(port))
    }
  }

  /// A port has delivered a message: it goes to the end if it has more.
  func afterTaking(_ port: Item, in mode: Mode) {
    if !port.messages.isEmpty {
      port.isRaised = true
      mode.append(.port(port))
      if !rules(.emptiedPortLosesPlace) { raise(port) }
    } else if rules(.emptiedPortLosesPlace) {
      for other in modes.values { other.ready.removeAll { $0 == .port(port) } }
    }
  }
}
