// Descriptors in the kernel's sets, one for each mode, and the libdispatch main queue.

private let firstDescriptorToken = ReadyItem.mainQueueToken + 1

/// A descriptor source by its slot, in plain words; the loop holds it by hand.
struct DescriptorSlot: BitwiseCopyable {
  var source: Unmanaged<Loop.DescriptorSource>?
  var generation: UInt32
}

/// The descriptors of a loop, and what is needed to ask the kernel about them. Loop thread only.
struct DescriptorTable {
  let slots = Table<DescriptorSlot>()
  var free: [Int] = []
  /// When they were last looked at.
  var inspection = DescriptorInspection()
  /// The set for modes without descriptors: only the wake-up is in it.
  let bareSet: PollSetID
  /// Takes what the kernel finds at once.
  let events: UnsafeMutableBufferPointer<ReadyEvent>
  var scratch: UnsafeMutableRawBufferPointer?

  init(bareSet: PollSetID, room: Int) {
    self.bareSet = bareSet
    events = .allocate(capacity: room)
  }

  func deallocate() {
    for slot in 0..<slots.count { slots[slot].source?.release() }
    slots.deallocate()
    events.deallocate()
    scratch?.deallocate()
  }
}

/// How a loop stands to the libdispatch main queue. Loop thread only.
struct MainQueueState {
  /// A block of it is being called: runs inside it neither serve it nor are held open by it (R124).
  var isServed = false
  /// How often it was served: what a mode knew of it before is over.
  var batches: UInt64 = 0
  /// It has ended the sleep of an outer run, which alone serves it (R135).
  var isKept = false
  /// The loop's host serves it.
  var isElsewhere = false
  var isHidden: Bool { isServed || isKept || isElsewhere }
  /// The kernel is not asked for it meanwhile.
  var isSilent = false
  /// Whether it holds runs open in common modes (R8).
  var holds = true
}

extension Loop {
  /// Bytes read from descriptors pass through here, and are copied at once: 64 KiB of a read, and
  /// what TLS may have kept of a record before. Loop thread only.
  package var scratch: UnsafeMutableRawBufferPointer {
    if let scratch = descriptors.scratch { return scratch }
    let made = UnsafeMutableRawBufferPointer.allocate(byteCount: 84 << 10, alignment: 16)
    descriptors.scratch = made
    return made
  }

  // MARK: Registrations

  @inline(__always)
  func descriptor(for token: UInt64) -> Unmanaged<DescriptorSource>? {
    let slot = Int(truncatingIfNeeded: (token & 0xffff_ffff) &- firstDescriptorToken)
    guard slot >= 0, slot < descriptors.slots.count else { return nil }
    let found = descriptors.slots[slot]
    return UInt64(found.generation) == token >> 32 ? found.source : nil
  }

  /// Names the source for the kernel: a slot and its generation, so that stale events are harmless.
  private func giveToken(_ source: DescriptorSource) {
    if source.token != 0 { return }
    let held = Unmanaged.passRetained(source)
    let slot = descriptors.free.popLast() ?? descriptors.slots.count
    if slot == descriptors.slots.count {
      descriptors.slots.append(DescriptorSlot(source: held, generation: 0))
    } else {
      descriptors.slots[slot].source = held
    }
    let generation = UInt64(descriptors.slots[slot].generation)
    source.token = generation << 32 | UInt64(slot) + firstDescriptorToken
  }

  func forgetToken(_ source: DescriptorSource) {
    if source.token == 0 { return }
    let slot = Int((source.token & 0xffff_ffff) - firstDescriptorToken)
    descriptors.slots[slot].source = nil
    descriptors.slots[slot].generation = (descriptors.slots[slot].generation + 1) & 0x0fff_ffff
    descriptors.free.append(slot)
    source.token = 0
    Unmanaged.passUnretained(source).release()  // the caller holds it
  }

  func watch(_ source: DescriptorSource, in mode: Mode) throws(LoopError) {
    try refuseSecond(source, mode.fileSources[source.fd])
    giveToken(source)
    do {
      let set = try pollSet(of: mode)
      let isPolled = try kernel.watch(
        source.fd, for: source.interest, token: source.token, in: set)
      if isPolled { mode.polled += 1 } else { source.readiness.insert(.always) }
    } catch {
      if source.places.isEmpty { forgetToken(source) }
      if error.name == "EEXIST" {
        try refuseSecond(source, mode.descriptors.first { $0.fd == source.fd })
      }
      throw .system(error, "\(source.label) cannot be watched")
    }
  }

  /// A descriptor has one source in a mode: says which.
  private func refuseSecond(
    _ source: DescriptorSource, _ other: DescriptorSource?
  ) throws(LoopError) {
    if let other { throw .descriptorInUse(fd: source.fd, by: other.label) }
  }

  func unwatch(_ source: DescriptorSource, in mode: Mode) {
    guard !source.isAlwaysReady, let set = mode.pollSet else { return }
    kernel.unwatch(source.fd, in: set)
    mode.polled -= 1
  }

  func updateInterest(of source: DescriptorSource) {
    if source.hasReadAhead { noteReadAhead(source) }
    if source.isAlwaysReady { return }
    for index in source.places.modes {
      guard let set = modes[index].pollSet else { continue }
      do {
        try kernel.rewatch(source.fd, for: source.interest, token: source.token, in: set)
      } catch {
        return fail(source, error)
      }
    }
  }

  /// The descriptor was closed behind the loop's back: the source ends, and that is reported to its
  /// owner.
  func fail(_ source: DescriptorSource, _ error: SystemError) {
    let onFailure = source.onFailure
    source.invalidate()
    if let onFailure { callOut { onFailure(source, error) } }
  }

  func pollSet(of mode: Mode) throws(SystemError) -> PollSetID {
    if let set = mode.pollSet { return set }
    let set = try kernel.makePollSet()
    mode.pollSet = set
    return set
  }

  // MARK: The libdispatch main queue

  /// Has runs in a common mode serve the main queue (R122).
  func watchMainQueue(_ mode: Mode) {
    guard mode.isCommon, !mode.servesMainQueue, !mainQueue.isElsewhere,
      let fd = kernel.mainQueueDescriptor
    else { return }
    do {
      _ = try kernel.watch(fd, for: .read, token: ReadyItem.mainQueueToken, in: pollSet(of: mode))
      mode.servesMainQueue = true
      mode.polled += 1
    } catch {
      // Tried again at the next run in the mode; the queue waits meanwhile.
    }
  }

  /// Whether it is ready, as far as a mode knows.
  func canServeMainQueue(_ mode: Mode) -> Bool {
    !mainQueue.isHidden && mode.mainQueueBatch == mainQueue.batches
  }

  func serveMainQueue(_ mode: Mode) -> Bool {
    guard canServeMainQueue(mode) else { return false }
    mainQueue.batches &+= 1
    mainQueue.isServed = true
    callOutToMainQueue()
    mainQueue.isServed = false
    if mainQueue.isSilent { setMainQueueInterest(.read) }
    return true
  }

  /// A run that begins inside a block of the main queue does not serve it (R124).
  func silenceMainQueue() {
    if mainQueue.isHidden && !mainQueue.isSilent { setMainQueueInterest([]) }
  }

  /// Keeps the main queue from a nested run (R135).
  func withholdMainQueue(_ isWithheld: Bool) {
    mainQueue.isKept = isWithheld
    if isWithheld { return silenceMainQueue() }
    if mainQueue.isSilent { setMainQueueInterest(.read) }
  }

  func setMainQueueInterest(_ interest: Interest) {
    mainQueue.isSilent = interest.isEmpty
    guard let fd = kernel.mainQueueDescriptor else { return }
    for mode in modes where mode.servesMainQueue {
      if let set = mode.pollSet {
        try? kernel.rewatch(fd, for: interest, token: ReadyItem.mainQueueToken, in: set)
      }
    }
  }
}
