// The event that ended a sleep, while an observer of `afterWaiting` runs the loop again: it is the
// outer run's (R135).

/// What ended the sleep of a run, as far as it is still to be served. Loop thread only.
enum EventOfSleep {
  case none
  /// The first that is ready: a port, a descriptor or the main queue.
  case port
  /// All timers that were due at a moment.
  case timers(at: Int64)

  var isPort: Bool { if case .port = self { true } else { false } }
}

/// A port, descriptor or the main queue that nested runs leave to the run whose sleep it ended.
struct KeptEvent {
  fileprivate let ready: ReadyItem
  /// Holds it; nil for the main queue.
  fileprivate let item: Loop.Item?
}

extension Loop {
  /// Notes what ended the sleep, if a nested run may come before it is served.
  @inline(__always)
  func noteEventOfSleep(_ frame: RunFrame) {
    let isTold = frame.mode.observers.watched.contains(.afterWaiting)
    frame.eventOfSleep = isTold ? findEvent(frame) : .none
  }

  private func findEvent(_ frame: RunFrame) -> EventOfSleep {
    let timersAreDue = frame.openEvents.contains(.timers) && hasDueTimers(frame.mode)
    if frame.openEvents.contains(.ports) && !(frame.servedPort && timersAreDue)
      && hasReady(frame.mode)
    {
      return .port
    }
    return timersAreDue ? .timers(at: time.now) : .none
  }

  /// A nested run begins: what ended the sleep of the run around it is not for it.
  func keepEvent(of outer: RunFrame) {
    guard outer.telling == .afterWaiting else { return }
    switch outer.eventOfSleep {
    case .none: break
    case .timers(let moment): keepTimers(of: outer, dueAt: moment)
    case .port:
      if outer.keptEvent == nil { outer.keptEvent = takeEvent(outer.mode) }
      if let event = outer.keptEvent { withhold(event, true) }
    }
  }

  /// A nested run has ended: what was kept from it is available again.
  func giveBackEvent(to outer: RunFrame) {
    if let event = outer.keptEvent { withhold(event, false) }
    if let number = outer.outerKeptTurns.take() { outer.mode.keptTurns = number }
    if outer.keptTimers.isEmpty { return }
    let kept = outer.keptTimers
    outer.keptTimers = []
    // In reverse, so that each is the last of those that are parked, and found at once.
    for id in kept.reversed() {
      guard let slot = timers.slot(of: id) else { continue }
      unpark(slot, to: timers.records[slot].date, outer.mode)
    }
  }

  private func takeEvent(_ mode: Mode) -> KeptEvent? {
    guard hasReady(mode), let ready = takeReady(mode) else { return nil }
    let port: Item? = ready.port?.takeUnretainedValue()
    return KeptEvent(
      ready: ready, item: port ?? descriptor(for: ready.token)?.takeUnretainedValue())
  }

  private func withhold(_ event: KeptEvent, _ isWithheld: Bool) {
    guard let item = event.item else { return withholdMainQueue(isWithheld) }
    item.setSuspended(isWithheld)
    if !isWithheld { deliverHeld(item) }
  }

  private func keepTimers(of outer: RunFrame, dueAt moment: Int64) {
    let queue = outer.mode.timers
    let batch = queue.beginBatch(at: moment)
    while let slot = queue.nextDue(in: batch) {
      queue.park(slot)
      outer.keptTimers.append(TimerID(slot: slot, generation: timers.records[slot].generation))
    }
    queue.endBatch(batch)
    outer.outerKeptTurns = outer.mode.keptTurns
    outer.mode.keptTurns = timerState.lastTurn
  }

  /// The earliest date of the timers of a mode that are kept for outer runs; `Int64.max` if there
  /// are none.
  func earliestKept(_ mode: Mode) -> Int64 {
    var earliest = Int64.max
    for frame in runs.frames where frame.mode === mode && !frame.keptTimers.isEmpty {
      earliest = min(earliest, firstKept(of: frame))
    }
    return earliest
  }

  /// They were kept in the order of their dates; one that has been moved since is queued again.
  private func firstKept(of frame: RunFrame) -> Int64 {
    for id in frame.keptTimers {
      guard let slot = timers.slot(of: id), frame.mode.timers.contains(slot),
        !frame.mode.timers.isQueued(slot), !timers.records[slot].flags.contains(.firing)
      else { continue }
      return timers.records[slot].date
    }
    return .max
  }

  /// Serves what was kept for a run.
  /// - Returns: false if it is no longer there.
  func serveKeptEvent(_ frame: RunFrame) -> Bool {
    guard let event = frame.keptEvent else { return false }
    frame.keptEvent = nil
    if let port = event.ready.port {
      port._withUnsafeGuaranteedRef { takeTurn($0, frame.mode) }
    }
    guard serve(event.ready, frame.mode) else { return false }
    frame.servedPort = true
    return true
  }
}
