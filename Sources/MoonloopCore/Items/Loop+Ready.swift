// What is ready in a mode: each waits for its turn, and one is served per pass.

internal import Synchronization

extension Loop {
  // MARK: Turns

  /// A port has got a message: it waits for its turn in all its modes. Loop thread only.
  func noteReady(_ port: Port) {
    guard port.isValid, !port.isSuspended else { return }
    forEachMode(of: port) { giveTurn(port, $0) }
    if runs.frames.isEmpty { hooks.whenTouched?() }
  }

  /// What a descriptor's owner has read ahead counts as readable in all its modes.
  func noteReadAhead(_ source: DescriptorSource) {
    guard source.isValid, source.interest.contains(.read) else { return }
    source.readiness.insert(.read)
    forEachMode(of: source) { giveTurn(source, $0) }
  }

  /// An item delivers again: held-back events take their place. Loop thread only.
  package func deliverHeld(_ item: Item) { item.deliverHeld(on: self) }

  /// Has a port wait for its turn in a mode that it is in, at the end, unless it waits already.
  func giveTurn(_ port: Port, _ mode: Mode) {
    guard let place = place(of: port, in: mode), mode.ports.mark(at: place) == 0 else { return }
    mode.ports.setMark(at: place, mode.ready.append(ReadyItem(port)))
  }

  @inline(__always)
  private func giveTurn(_ source: DescriptorSource, _ mode: Mode) {
    guard let place = source.places.place(in: mode.index), mode.turn(of: source, at: place) == 0
    else { return }
    setTurn(of: source, at: place, mode, mode.ready.append(ReadyItem(token: source.token)))
  }

  private func giveTurnToMainQueue(_ mode: Mode) {
    if mode.mainQueueTurn != 0 {
      if mode.mainQueueBatch == mainQueue.batches { return }
      mode.ready.remove(mode.mainQueueTurn)
    }
    mode.mainQueueTurn = mode.ready.append(.mainQueue)
    mode.mainQueueBatch = mainQueue.batches
  }

  /// Notes the turn of what waits, 0 when it does not any more.
  @inline(__always)
  private func setTurn(of item: ReadyItem, _ mode: Mode, _ turn: UInt64) {
    if item == .mainQueue {
      mode.mainQueueTurn = turn
    } else if let port = item.port {
      port._withUnsafeGuaranteedRef {
        if let place = place(of: $0, in: mode) { mode.ports.setMark(at: place, turn) }
      }
    } else {
      descriptor(for: item.token)?._withUnsafeGuaranteedRef {
        if let place = $0.places.place(in: mode.index) { setTurn(of: $0, at: place, mode, turn) }
      }
    }
  }

  @inline(__always)
  private func setTurn(of source: DescriptorSource, at place: Int, _ mode: Mode, _ turn: UInt64) {
    if source.isAlwaysReady {
      mode.files.setMark(at: place, turn)
    } else {
      mode.descriptors.setMark(at: place, turn)
    }
  }

  @inline(__always)
  func takeReady(_ mode: Mode) -> ReadyItem? {
    guard let item = mode.ready.takeFirst() else { return nil }
    setTurn(of: item, mode, 0)
    return item
  }

  // MARK: Looking

  /// Asks the kernel what is ready, if it is time: when everything that was ready at the last look
  /// has been served (R29, R31).
  /// - Parameter asksKernel: false: only at what other threads have posted.
  func lookForReady(_ mode: Mode, asksKernel: Bool = true) {
    applyPosts()
    if asksKernel { fetchReady(mode) }
  }

  /// The same without what other threads have posted.
  func fetchReady(_ mode: Mode) {
    if hasRound(mode) { return }
    if mode.polled > 0, let set = mode.pollSet {
      take(kernel.poll(set, into: descriptors.events), mode)
    }
    if !mode.files.isEmpty { noteAlwaysReady(mode) }
    mode.beginRound(strangers: runs.strangers)
  }

  /// Asks the kernel even where only wake-ups can be reported: it forgets those then.
  func askKernel(_ mode: Mode) {
    if let set = mode.pollSet { take(kernel.poll(set, into: descriptors.events), mode) }
  }

  /// Whether something must be served before the kernel is asked.
  @inline(__always)
  func hasRound(_ mode: Mode) -> Bool { mode.isInRound && hasReady(mode) }

  /// Sleeps in the kernel, unless something was asked for meanwhile.
  func waitInKernel(_ mode: Mode, until date: Int64, unless isAwaited: () -> Bool) {
    if !mode.files.isEmpty { fetchReady(mode) }  // others may be ready besides
    if hasReady(mode) || hearsBeforeSleep(until: date) { return }
    shared.isAsleep.store(true, ordering: .sequentiallyConsistent)
    // A post before the store is seen here; a post after it wakes the kernel.
    if !isAskedFor && !isAwaited() {
      take(
        kernel.wait(mode.pollSet ?? descriptors.bareSet, until: date, into: descriptors.events),
        mode)
    }
    shared.isAsleep.store(false, ordering: .sequentiallyConsistent)
    listening.hasHeard = !shared.inbox.isEmpty
    mode.beginRound(strangers: runs.strangers)
    if kernel.wallClockSteps != timerState.wallClock.steps { followWallClock() }
  }

  private func take(_ count: Int, _ mode: Mode) {
    if count > 0 { mode.busyLooks = 0 }
    for index in 0..<count {
      let event = descriptors.events[index]
      if event.token == ReadyItem.mainQueueToken {
        if !mainQueue.isHidden { giveTurnToMainQueue(mode) }
      } else {
        descriptor(for: event.token)?._withUnsafeGuaranteedRef { source in
          source.readiness.formUnion(DescriptorSource.Readiness(event.events))
          giveTurn(source, mode)
        }
      }
    }
  }

  private func noteAlwaysReady(_ mode: Mode) {
    for source in mode.files where !source.interest.isEmpty {
      source.readiness.formUnion(DescriptorSource.Readiness(source.interest))
      giveTurn(source, mode)
    }
  }

  /// Whether anything that waits in a mode can be served; forgets what cannot be any more, because
  /// it was disabled, or served in another mode since.
  @inline(__always)
  func hasReady(_ mode: Mode) -> Bool {
    while let item = mode.ready.first {
      if canServe(item, mode) { return true }
      _ = takeReady(mode)
    }
    return false
  }

  private func canServe(_ item: ReadyItem, _ mode: Mode) -> Bool {
    if item == .mainQueue { return canServeMainQueue(mode) }
    if let port = item.port {
      return port._withUnsafeGuaranteedRef { $0.isValid && !$0.isSuspended && $0.waiting > 0 }
    }
    return descriptor(for: item.token)?._withUnsafeGuaranteedRef {
      $0.isValid && !$0.deliverable.isEmpty && isStillReady($0, mode)
    } ?? false
  }

  /// Whether what the kernel said of a descriptor holds: other handlers may have read from it while
  /// it waited for its turn, or have filled it (R61).
  @inline(__always)
  private func isStillReady(_ source: DescriptorSource, _ mode: Mode) -> Bool {
    (mode.strangersAtRound == runs.strangers && !source.readiness.contains(.doubtful))
      || confirm(source, mode)
  }

  @inline(never)
  private func confirm(_ source: DescriptorSource, _ mode: Mode) -> Bool {
    if source.isAlwaysReady || source.hasReadAhead { return true }
    if !source.readiness.contains(.doubtful) && mode.confirmed == (source.token, runs.strangers) {
      return true
    }
    for event in [Interest.read, .write] where source.deliverable.contains(event) {
      if !kernel.isReady(source.fd, for: event) {
        source.readiness.subtract(DescriptorSource.Readiness(event))
      }
    }
    source.readiness.remove(.doubtful)
    mode.confirmed = (source.token, runs.strangers)
    return !source.deliverable.isEmpty
  }

  // MARK: Serving

  /// Serves the first in turn that still has something.
  /// - Returns: Whether anything was served.
  func servePort(_ mode: Mode) -> Bool {
    if hooks.eventOrder != nil { drawNextReady(mode) }
    while let item = takeReady(mode) {
      if serve(item, mode) { return true }
    }
    return false
  }

  func serve(_ item: ReadyItem, _ mode: Mode) -> Bool {
    if item == .mainQueue { return serveMainQueue(mode) }
    // Held from here on: the handler may do away with it.
    if let port = item.port { return serve(port.takeUnretainedValue(), mode) }
    guard let source = descriptor(for: item.token) else { return false }
    return serve(source.takeUnretainedValue(), mode)
  }

  @inline(never)
  private func drawNextReady(_ mode: Mode) {
    let count = mode.ready.count
    guard count > 1, let drawn = hooks.eventOrder?.draw(below: count) else { return }
    mode.ready.bringForward(drawn) { setTurn(of: $0, mode, $1) }
  }

  private func serve(_ port: Port, _ mode: Mode) -> Bool {
    guard port.isValid, !port.isSuspended, place(of: port, in: mode) != nil,
      let parcel = port.take()
    else { return false }
    if port.waiting > 0 {
      giveTurn(port, mode)  // Ready ports take turns (R54).
    } else {
      // Empty now in all its modes: ready again, it stands at the end there too.
      forEachMode(of: port) { if $0 !== mode { takeTurn(port, $0) } }
    }
    callOut(to: port, parcel, mode)
    return true
  }

  /// Takes its turn in a mode from a port.
  func takeTurn(_ port: Port, _ mode: Mode) {
    guard let place = place(of: port, in: mode), mode.ports.mark(at: place) > 0 else { return }
    mode.ready.remove(mode.ports.mark(at: place))
    mode.ports.setMark(at: place, 0)
  }

  private func serve(_ source: DescriptorSource, _ mode: Mode) -> Bool {
    guard source.isValid, source.places.contains(mode.index), !source.deliverable.isEmpty,
      isStillReady(source, mode)
    else { return false }
    let ready = source.deliverable
    let event: DescriptorSource.Events = ready.contains(.read) ? .read : .write
    source.readiness.subtract(DescriptorSource.Readiness(event.interest))
    if !ready.subtracting(event.interest).isEmpty { giveTurn(source, mode) }
    if !source.reenabledEvents.contains(event) { source.disable(event) }  // R62
    callOut(to: source, event, mode)
    if source.hasReadAhead { noteReadAhead(source) }
    return true
  }
}
