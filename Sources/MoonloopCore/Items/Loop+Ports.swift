// Ports and descriptors: what is ready waits in its mode's ring, and one of it is served a pass.

internal import Synchronization

private let firstDescriptorToken = ReadyItem.mainQueueToken + 1

/// A descriptor source by its slot, in plain words; the loop holds it by hand.
struct DescriptorSlot: BitwiseCopyable {
  var source: Unmanaged<Loop.DescriptorSource>?
  var generation: UInt32
}

/// How a loop stands to the libdispatch main queue. Loop thread only.
struct MainQueueState {
  /// A block of it is being called, or it is kept from a nested run.
  var isServed = false
  /// The kernel is not asked for it meanwhile.
  var isSilent = false
  /// Whether it holds runs open in common modes (R8).
  var holds = true
}

extension Loop {
  // MARK: Ready

  /// A port has got a message: it takes its place in the rings of its modes. Loop thread only.
  package func noteReady(_ port: Port) {
    guard port.isValid, !port.isSuspended else { return }
    for index in indices(of: port) where !modes[index].containsReady(ReadyItem(port)) {
      modes[index].appendReady(ReadyItem(port))
    }
  }

  /// An item delivers again: what it held back takes its place. Loop thread only.
  package func deliverHeld(_ item: Item) {
    if let port = item as? Port, port.waiting > 0 { noteReady(port) }
  }

  /// Asks the kernel what is ready, if its turn has come: when all that was ready at the last time
  /// was served (R29, R31).
  package func lookForReady(_ mode: Mode) {
    applyPosts()
    fetchReady(mode)
  }

  /// The same without what other threads have posted.
  func fetchReady(_ mode: Mode) {
    if mode.round > 0 && hasReady(mode) { return }
    if mode.polled > 0, let set = mode.pollSet { take(kernel.poll(set, into: events), mode) }
    if mode.alwaysReady > 0 { noteAlwaysReady(mode) }
    mode.round = mode.readyCount
  }

  /// Sleeps in the kernel, unless somebody asked for something meanwhile.
  package func waitInKernel(_ mode: Mode, until date: Int64, unless isAwaited: () -> Bool) {
    if mode.alwaysReady > 0 { noteAlwaysReady(mode) }
    if hasReady(mode) { return }
    isAsleep.store(true, ordering: .sequentiallyConsistent)
    // Whoever posted before the store is seen here; whoever posts after it wakes the kernel.
    if !isAskedFor && !isAwaited() {
      take(kernel.wait(mode.pollSet ?? barePollSet, until: date, into: events), mode)
    }
    isAsleep.store(false, ordering: .sequentiallyConsistent)
    mode.round = mode.readyCount
    if kernel.wallClockSteps != wallClock.steps { followWallClock() }
  }

  private func take(_ count: Int, _ mode: Mode) {
    for index in 0..<count {
      let event = events[index]
      if event.token == ReadyItem.mainQueueToken {
        if !mode.mainQueueIsReady && !mainQueue.isServed {
          mode.mainQueueIsReady = true
          mode.appendReady(.mainQueue)
        }
      } else {
        descriptor(for: event.token)?._withUnsafeGuaranteedRef { source in
          source.ready.formUnion(event.events)
          ring(source, mode)
        }
      }
    }
  }

  private func ring(_ source: DescriptorSource, _ mode: Mode) {
    let item = ReadyItem(token: source.token)
    if source.ringed.mayContain(mode.index) && (mode.index < 63 || mode.containsReady(item)) {
      return
    }
    source.ringed.insert(mode.index)
    mode.appendReady(item)
  }

  private func noteAlwaysReady(_ mode: Mode) {
    for source in mode.descriptors where source.isAlwaysReady && !source.interest.isEmpty {
      source.ready = source.interest
      ring(source, mode)
    }
  }

  /// Whether anything in the ring of a mode can be served; forgets what cannot be any more, because
  /// it was removed, disabled, or served in another mode since.
  @inline(__always)
  package func hasReady(_ mode: Mode) -> Bool {
    while let item = mode.firstReady {
      if canServe(item, mode) { return true }
      drop(mode)
    }
    return false
  }

  private func canServe(_ item: ReadyItem, _ mode: Mode) -> Bool {
    if item == .mainQueue { return !mainQueue.isServed }
    if let port = item.port {
      return port._withUnsafeGuaranteedRef { port in
        port.isValid && !port.isSuspended && port.waiting > 0
          && indices(of: port).contains(mode.index)
      }
    }
    return descriptor(for: item.token)?._withUnsafeGuaranteedRef { source in
      source.isValid && source.isIn(mode.index) && !source.ready.isDisjoint(with: source.interest)
    } ?? false
  }

  @inline(never)
  private func drop(_ mode: Mode) {
    guard let item = mode.takeReady() else { return }
    if mode.round > 0 { mode.round -= 1 }
    if item == .mainQueue {
      mode.mainQueueIsReady = false
    } else if item.port == nil {
      descriptor(for: item.token)?._withUnsafeGuaranteedRef { source in
        source.ringed.remove(mode.index, isLastOfShared: true)
      }
    }
  }

  // MARK: Serving

  /// Serves the first in the ring that still has something.
  /// - Returns: Whether anything was served.
  package func servePort(_ mode: Mode, looking: Bool) -> Bool {
    if looking { lookForReady(mode) }
    if eventOrder != nil { drawNextReady(mode) }
    while let item = mode.takeReady() {
      if mode.round > 0 { mode.round -= 1 }
      if serve(item, mode) { return true }
    }
    return false
  }

  func serve(_ item: ReadyItem, _ mode: Mode) -> Bool {
    if item == .mainQueue {
      mode.mainQueueIsReady = false
      return serveMainQueue()
    }
    // Held from here on: the handler may do away with it.
    if let port = item.port { return serve(port.takeUnretainedValue(), mode) }
    guard let source = descriptor(for: item.token) else { return false }
    return serve(source.takeUnretainedValue(), mode)
  }

  @inline(never)
  private func drawNextReady(_ mode: Mode) {
    let count = mode.readyCount
    if count > 1, let drawn = eventOrder?.draw(below: count) { mode.bringForward(drawn) }
  }

  private func serve(_ port: Port, _ mode: Mode) -> Bool {
    guard port.isValid, !port.isSuspended, indices(of: port).contains(mode.index),
      let message = port.take()
    else { return false }
    if port.waiting > 0 {
      mode.appendReady(ReadyItem(port))  // Ready ports take turns (R54).
    } else {
      // Empty now in all its modes: ready again, it stands at the end there too.
      for index in indices(of: port) where index != mode.index { modes[index].forgetReady(port) }
    }
    callOut(to: port, message, mode)
    return true
  }

  private func serve(_ source: DescriptorSource, _ mode: Mode) -> Bool {
    source.ringed.remove(mode.index, isLastOfShared: true)
    guard source.isValid, source.isIn(mode.index) else { return false }
    let ready = source.ready.intersection(source.interest)
    if ready.isEmpty { return false }
    let event: DescriptorSource.Events = ready.contains(.read) ? .read : .write
    source.ready.subtract(event.interest)
    if !ready.subtracting(event.interest).isEmpty { ring(source, mode) }
    if !source.reenabled.contains(event) { source.disable(event) }  // R62
    callOut(to: source, event, mode)
    if source.hasReadAhead { ringReadAhead(source) }
    return true
  }

  /// What a descriptor's owner has read ahead counts as readable in all its modes.
  package func ringReadAhead(_ source: DescriptorSource) {
    guard source.isValid, source.interest.contains(.read) else { return }
    source.ready.insert(.read)
    for index in indices(of: source) { ring(source, modes[index]) }
  }

  // MARK: Registrations

  @inline(__always)
  func descriptor(for token: UInt64) -> Unmanaged<DescriptorSource>? {
    let slot = Int(truncatingIfNeeded: (token & 0xffff_ffff) &- firstDescriptorToken)
    guard slot >= 0, slot < descriptors.count else { return nil }
    let found = descriptors[slot]
    return UInt64(found.generation) == token >> 32 ? found.source : nil
  }

  /// Names the source for the kernel: a slot and its generation, so that stale events are harmless.
  private func giveToken(_ source: DescriptorSource) {
    if source.token != 0 { return }
    let held = Unmanaged.passRetained(source)
    let slot = freeDescriptors.popLast() ?? descriptors.count
    if slot == descriptors.count {
      descriptors.append(DescriptorSlot(source: held, generation: 0))
    } else {
      descriptors[slot].source = held
    }
    let generation = UInt64(descriptors[slot].generation)
    source.token = generation << 32 | UInt64(slot) + firstDescriptorToken
  }

  package func forgetToken(_ source: DescriptorSource) {
    if source.token == 0 { return }
    let slot = Int((source.token & 0xffff_ffff) - firstDescriptorToken)
    descriptors[slot].source = nil
    descriptors[slot].generation = (descriptors[slot].generation + 1) & 0x0fff_ffff
    freeDescriptors.append(slot)
    source.token = 0
    source.ringed = ModeMask()  // What stands in the rings under the old token is nobody's.
    Unmanaged.passUnretained(source).release()  // the caller holds it
  }

  package func watch(_ source: DescriptorSource, in mode: Mode) throws(LoopError) {
    if mode.alwaysReady > 0 { try refuseSecond(source, in: mode) { $0.isAlwaysReady } }
    giveToken(source)
    do {
      let set = try pollSet(of: mode)
      let isPolled = try kernel.watch(
        source.fd, for: source.interest, token: source.token, in: set)
      source.isAlwaysReady = !isPolled
      if isPolled { mode.polled += 1 } else { mode.alwaysReady += 1 }
    } catch {
      if source.modes.isEmpty { forgetToken(source) }
      if error.name == "EEXIST" { try refuseSecond(source, in: mode) { _ in true } }
      throw .system(error, "\(source.label) cannot be watched")
    }
  }

  /// A descriptor has one source in a mode: says which.
  private func refuseSecond(
    _ source: DescriptorSource, in mode: Mode, among isCandidate: (DescriptorSource) -> Bool
  ) throws(LoopError) {
    for other in mode.descriptors where other.fd == source.fd && isCandidate(other) {
      throw .descriptorInUse(fd: source.fd, by: other.label)
    }
  }

  package func unwatch(_ source: DescriptorSource, in mode: Mode) {
    mode.remove(source)
    if source.isAlwaysReady {
      mode.alwaysReady -= 1
    } else if let set = mode.pollSet {
      kernel.unwatch(source.fd, in: set)
      mode.polled -= 1
    }
  }

  package func updateInterest(of source: DescriptorSource) {
    if source.hasReadAhead { ringReadAhead(source) }
    if source.isAlwaysReady { return }
    for index in indices(of: source) {
      guard let set = modes[index].pollSet else { continue }
      do {
        try kernel.rewatch(source.fd, for: source.interest, token: source.token, in: set)
      } catch {
        return fail(source, error)
      }
    }
  }

  /// The descriptor was closed behind the loop's back: the source ends, and its owner is told.
  package func fail(_ source: DescriptorSource, _ error: SystemError) {
    let onFailure = source.onFailure
    source.invalidate()
    if let onFailure { callOut { onFailure(source, error) } }
  }

  private func pollSet(of mode: Mode) throws(SystemError) -> PollSetID {
    if let set = mode.pollSet { return set }
    let set = try kernel.makePollSet()
    mode.pollSet = set
    return set
  }

  // MARK: The libdispatch main queue

  /// Has runs in a common mode hear of the main queue (R122).
  package func watchMainQueue(_ mode: Mode) {
    guard mode.isCommon, !mode.servesMainQueue, let fd = kernel.mainQueueDescriptor else { return }
    do {
      _ = try kernel.watch(fd, for: .read, token: ReadyItem.mainQueueToken, in: pollSet(of: mode))
      mode.servesMainQueue = true
      mode.polled += 1
    } catch {
      // Tried again at the next run in the mode; the queue waits meanwhile.
    }
  }

  private func serveMainQueue() -> Bool {
    if mainQueue.isServed { return false }  // R124
    mainQueue.isServed = true
    callOutToMainQueue()
    mainQueue.isServed = false
    if mainQueue.isSilent { setMainQueueInterest(.read) }
    return true
  }

  /// A run that begins inside a block of the main queue is not to hear of it (R124).
  package func silenceMainQueue() {
    if mainQueue.isServed && !mainQueue.isSilent { setMainQueueInterest([]) }
  }

  /// Keeps the main queue from a nested run, as a block of it does (R124, R135).
  func withholdMainQueue(_ isWithheld: Bool) {
    mainQueue.isServed = isWithheld
    if isWithheld { return silenceMainQueue() }
    if mainQueue.isSilent { setMainQueueInterest(.read) }
  }

  private func setMainQueueInterest(_ interest: Interest) {
    mainQueue.isSilent = interest.isEmpty
    guard let fd = kernel.mainQueueDescriptor else { return }
    for mode in modes where mode.servesMainQueue {
      if let set = mode.pollSet {
        try? kernel.rewatch(fd, for: interest, token: ReadyItem.mainQueueToken, in: set)
      }
    }
  }
}
