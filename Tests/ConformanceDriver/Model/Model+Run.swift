// The sequence of a run as docs/sequence.md describes it, step by step. This is no run loop: time
// is a number, nothing waits, and each ruling against Core Foundation is a switch.

import ConformanceFormat

extension Model {
  /// A run.
  func run(mode name: String, timeout: Int64?, returnAfterSource: Bool) -> String {
    guard name != "common", let mode = modes[name], !isEmpty(mode) else { return "finished" }
    if runs.count == Self.deepest {
      giveUp("its runs are nested too deeply")
      return "finished"
    }
    let run = Run(mode: mode, polls: (timeout ?? 1) <= 0, returnAfterSource: returnAfterSource)
    var kept = runs.last?.eventOfSleep ?? []
    if let outer = runs.last, let moment = outer.timersDueAt {
      kept += outer.mode.timers.filter { timer in
        timer.date <= moment && !kept.contains { $0 === timer }
      }
    }
    let mainQueueWasKept = mainQueue.isKept
    if rules(.eventIsTheOuterRuns) {
      for item in kept { item.keptIn = runs.last?.mode }
      if runs.last?.isEventMainQueue ?? false { mainQueue.isKept = true }
    }
    beginWakes(of: run)
    runs.append(run)
    notify(.entry, mode)
    if let timeout, timeout > 0 { run.deadline = now + timeout }
    var result = run.isStopped ? "stopped" : nil
    while result == nil && !isOver {
      result = pass(run)
      run.wakesSeen = wakes
    }
    run.deadline = nil
    run.isExiting = true
    notify(.exit, mode)
    runs.removeLast()
    for item in kept { item.keptIn = nil }
    mainQueue.isKept = mainQueueWasKept
    return result ?? "finished"
  }

  /// A pass; the numbers are those of the table.
  private func pass(_ run: Run) -> String? {
    let mode = run.mode
    run.open = [.ports, .timers]
    run.ignoresWakes = false
    // 1
    notify(.beforeTimers, mode)
    notify(.beforeSources, mode)
    // 2
    performBlocks(mode)
    // 3
    var handled = performSources(mode, onlyOne: run.returnAfterSource)
    // 4
    if handled.toBlocks { performBlocks(mode) }
    // 5
    var event: Ready?
    if let port = readyPort(run, polls: handled.toBlocks || run.polls) {
      event = port
    } else if handled.toBlocks || run.polls {
      event = nextReady(run)
    } else {
      // 6
      notify(.beforeWaiting, mode)
      // 7
      event = sleep(run)
      let found = mode.ready.filter { $0.isOfKernel && isReady($0, mode) }
      // 8
      run.ignoresWakes = true
      run.eventOfSleep = items(of: event, mode)
      run.isEventMainQueue = event == .mainQueue
      run.timersDueAt = event == .timers ? now : nil
      notify(.afterWaiting, mode)
      if rules(.eventIsLookedForAgain) && !isThere(event, run) {
        if event?.isPort == true { run.servedPort = false }
        // The kernel, which knows about the main queue and descriptors, is not asked again.
        event = nextReady(run) { !$0.isOfKernel || found.contains($0) }
      }
      run.eventOfSleep = []
      run.timersDueAt = nil
      run.isEventMainQueue = false
    }
    run.ignoresWakes = true
    // 9
    run.open = []
    if serve(event, run) { handled.toResult = true }
    // 10
    performBlocks(mode)
    // 11
    if handled.toResult && run.returnAfterSource { return "handledSource" }
    if run.polls { return "timedOut" }
    if let deadline = run.deadline, deadline <= now { return "timedOut" }
    if run.isStopped { return "stopped" }
    return isEmpty(mode) ? "finished" : nil
  }

  /// Emptiness (R8): observers do not count.
  func isEmpty(_ mode: Mode) -> Bool {
    mode.sources.isEmpty && mode.ports.isEmpty && mode.timers.isEmpty
      && !blocks.contains { $0.isFor(mode, self) } && !isHeldByMainQueue(mode)
  }

  // MARK: Step 1, 6, 8: observers

  func notify(_ activity: ActivityName, _ mode: Mode) {
    let listed = mode.observers.filter {
      $0.activities.contains(activity) && $0.isValid && !$0.isFiring
    }
    for observer in listed where observer.isValid {
      observer.isFiring = true
      call(observer, activity.rawValue, on: activity.rawValue)
      if !observer.repeats { invalidate(observer) }
      observer.isFiring = false
    }
  }

  // MARK: Steps 2, 4, 10: blocks

  func performBlocks(_ mode: Mode) {
    let all = blocks
    var others = all.filter { !$0.isFor(mode, self) }
    let hidesAll = !rules(.batchHidesOnlyItself)
    blocks = hidesAll ? [] : others
    for block in all {
      // Checked at its turn: an earlier block may have made the mode common. A nested run may have
      // performed one that was not of the batch.
      if !block.isFor(mode, self) { continue }
      if let place = others.firstIndex(where: { $0 === block }) {
        others.remove(at: place)
        if !hidesAll {
          guard let place = blocks.firstIndex(where: { $0 === block }) else { continue }
          blocks.remove(at: place)
        }
      }
      call(block.item)
    }
    if hidesAll { blocks = others + blocks }
  }

  // MARK: Step 3: version-0 sources

  /// Whether anything was performed: decides step 4, the kind of step 7, and the result.
  private func performSources(
    _ mode: Mode, onlyOne: Bool
  ) -> (toBlocks: Bool, toResult: Bool) {
    let batch = mode.sources.filter { $0.mark != nil && $0.isValid }
      .sorted { ($0.order, $0.mark ?? 0) < ($1.order, $1.mark ?? 0) }
    var any = false
    for source in batch {
      let performs = source.mark != nil && source.isValid
      source.mark = nil
      if performs && source === self.performs.source {
        performRequests(mode)
      } else if performs {
        call(source, "perform")
      }
      any = rules(.anySourceCounts) ? any || performs : performs
      if performs && onlyOne { break }
    }
    return (any, any)
  }

  // MARK: Step 9: the event

  /// Whether a port ended the sleep and its message is still available in the mode.
  private func isThere(_ event: Ready?, _ run: Run) -> Bool {
    if event == .mainQueue { return true }
    guard case .port(let port)? = event else { return false }
    return port.isValid && port.isThere && run.eventOfSleep.contains { $0 === port }
  }

  /// - Returns: Whether a port was served.
  private func serve(_ event: Ready?, _ run: Run) -> Bool {
    run.servedPort = false
    switch event {
    case .port(let port) where port.isDescriptor: return serve(port, run)
    case .port(let port):
      guard port.isValid, run.mode.ports.contains(where: { $0 === port }) else { return false }
      // In CF a run nested in afterWaiting may have taken the message.
      if port.messages.isEmpty { return !rules(.eventIsTheOuterRuns) }
      run.servedPort = true
      let message = port.messages.removeFirst()
      afterTaking(port, in: run.mode)
      call(port, message)
      return true
    case .mainQueue:
      run.servedPort = true
      run.leavesMainQueue = true
      performMainQueue()
      return true
    case .timers: fireTimers(run.mode)
    case .wakeUp, nil: break
    }
    return false
  }
}
