// The kernel for tests: in memory, exact, reproducible.

internal import CLinuxShims
package import MoonloopCore

/// A loop's view of a simulated world. Loop thread only, except where the protocol allows more.
///
/// Unchecked Sendable: the world's lock protects the variables; the clock is used only on the
/// loop's thread, as the protocol says.
package final class SimulatedKernel: Kernel, @unchecked Sendable {
  package let world: SimulatedWorld
  package let clock: Clock

  private var sets: [PollSetID: SimulatedPollSet] = [:]
  private var lastSet: Int32 = 0
  /// The thread that sleeps in `wait`, and where.
  private var sleeper: (thread: SimulatedThread, set: PollSetID)?
  private var isWoken = false
  package var timerSlack: Int64 = 0  // its sleeps end in time
  package var spin: Int64 = 0
  private var watchesWallClock = false
  private var steps = 0

  /// Makes a kernel for one loop of a world.
  /// - Parameters:
  ///   - world: Shared with the kernels of other loops.
  ///   - mode: How the loop's time runs. The world's time is its system time, so `real` is exact
  /// here.
  package init(world: SimulatedWorld = SimulatedWorld(), clock mode: ClockMode = .real) {
    self.world = world
    clock = Clock(mode, of: world, start: world.now, wall: world.wallTime)
    world.lock.locked { world.add(self) }
    clock.holds.whenReleased { [weak self] in self?.nudge() }
  }

  deinit { world.lock.locked { for set in sets.values { set.close() } } }

  // MARK: Time

  package func wallTime() -> Int64 { clock.wallTime(at: world.wallTime) }

  package func watchWallClock(_ isWanted: Bool) throws(SystemError) {
    if isWanted { try SystemCall.timerfdCreate.takeFault() }
    world.lock.locked { watchesWallClock = isWanted }
  }

  package var wallClockSteps: Int { world.lock.locked { steps } }

  /// Called when the world's wall clock was set, with the lock held.
  func wallClockHasStepped(by nanoseconds: Int64) {
    clock.stepWall(by: nanoseconds)
    guard watchesWallClock else { return }
    steps += 1
    wakeLocked()
  }

  // MARK: Poll sets

  package func makePollSet() throws(SystemError) -> PollSetID {
    try SystemCall.epollCreate.takeFault()
    return world.lock.locked {
      lastSet += 1
      let id = PollSetID(rawValue: lastSet)
      sets[id] = SimulatedPollSet { [unowned self] in  // it closes its sets before it goes
        if let sleeper, sleeper.set == id { world.makeRunnable(sleeper.thread) }
      }
      return id
    }
  }

  package func closePollSet(_ set: PollSetID) {
    world.lock.locked { sets.removeValue(forKey: set)?.close() }
  }

  package func watch(
    _ fd: Int32, for interest: Interest, token: UInt64, in set: PollSetID
  ) throws(SystemError) -> Bool {
    try SystemCall.epollControl.takeFault()
    return try world.lock.locked { () throws(SystemError) -> Bool in
      let pollSet = find(set)
      let file = try find(fd, for: .epollControl)
      if file.kind == .file { return false }
      if pollSet.registrations[fd] != nil { throw failure(.epollControl, Errno.exists) }
      let registration = SimulatedRegistration(
        file: file, fd: fd, interest: interest, token: token, set: pollSet)
      pollSet.registrations[fd] = registration
      file.watchers.append(registration)
      registration.update()
      return true
    }
  }

  package func rewatch(
    _ fd: Int32, for interest: Interest, token: UInt64, in set: PollSetID
  ) throws(SystemError) {
    try SystemCall.epollControl.takeFault()
    try world.lock.locked { () throws(SystemError) in
      _ = try find(fd, for: .epollControl)
      guard let registration = find(set).registrations[fd] else {
        throw failure(.epollControl, Errno.notFound)
      }
      registration.interest = interest
      registration.token = token
      registration.update()
    }
  }

  package func unwatch(_ fd: Int32, in set: PollSetID) {
    world.lock.locked {
      guard let registration = find(set).registrations[fd] else { return }
      registration.leave()
      registration.file.watchers.removeAll { $0 === registration }
    }
  }

  private func find(_ set: PollSetID) -> SimulatedPollSet {
    guard let found = sets[set] else { fatalError("poll set \(set.rawValue) is not open") }
    return found
  }

  // MARK: Others

  package func makeGate() -> any Gate { SimulatedGate(world: world) }

  /// Replaces the libdispatch main queue, if a test sets it: readable while it has work.
  package var mainQueueDescriptor: Int32?
  package var mainQueue: () -> Void = {}
  package func drainMainQueue() { mainQueue() }

  private func failure(_ call: SystemCall, _ code: Int32) -> SystemError {
    SystemError(call: call.name, code: code)
  }
}

// MARK: - Waiting

extension SimulatedKernel {
  package func poll(_ set: PollSetID, into ready: UnsafeMutableBufferPointer<ReadyEvent>) -> Int {
    world.lock.locked {
      isWoken = false
      if isInterrupted { return 0 }
      return find(set).take(&world.readinessOrder, into: ready)
    }
  }

  package func wait(
    _ set: PollSetID, until deadline: Int64, into ready: UnsafeMutableBufferPointer<ReadyEvent>
  ) -> Int {
    world.asThread { thread in
      defer { isWoken = false }
      if isInterrupted { return 0 }
      while true {
        if clock.jumpsWhenIdle { clock.holds.look() }
        let mayJump = clock.jumpsWhenIdle && deadline != .max && !clock.holds.areOpen
        let count = find(set).take(&world.readinessOrder, into: ready)
        if count > 0 || isWoken { return count }
        if clock.wait(until: deadline, at: world.time) == 0 { return 0 }
        if mayJump && !world.hasRunnable {
          clock.jump(to: deadline, at: world.time)
          return 0
        }
        // A runnable thread may have something for this loop: it goes first, then time jumps.
        sleeper = (thread, set)
        let wakeTime = mayJump ? world.time : clock.systemTime(of: deadline)
        world.block(thread, "a loop's wait", until: wakeTime)
        sleeper = nil
      }
    }
  }

  package func descriptor(of set: PollSetID) -> Int32? { nil }

  package func announceSleep() {}

  package func wake() { world.lock.locked { wakeLocked() } }

  private func wakeLocked() {
    isWoken = true
    if let sleeper { world.makeRunnable(sleeper.thread) }
  }

  /// Makes a sleeper check again, without ending its wait.
  private func nudge() {
    world.lock.locked { if let sleeper { world.makeRunnable(sleeper.thread) } }
  }

  /// Whether a fault simulates a signal that interrupts the wait.
  private var isInterrupted: Bool {
    cmx_fault_take(SystemCall.epollWait.rawValue) == Errno.interrupted
  }
}

// MARK: - Descriptors

extension SimulatedKernel {
  package func read(
    _ fd: Int32, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    try SystemCall.read.takeFault()
    return try world.lock.locked { () throws(SystemError) in
      try find(fd, for: .read).read(into: buffer)
    }
  }

  package func write(_ fd: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
    try SystemCall.write.takeFault()
    return try world.lock.locked { () throws(SystemError) in
      try find(fd, for: .write).write(bytes)
    }
  }

  package func isOpen(_ fd: Int32) -> Bool { world.lock.locked { world.files[fd] != nil } }

  package func traits(of fd: Int32) throws(SystemError) -> DescriptorTraits {
    try SystemCall.fcntl.takeFault()
    return try world.lock.locked { () throws(SystemError) in
      _ = try find(fd, for: .fcntl)
      return .nonBlocking
    }
  }

  package func isReady(_ fd: Int32, for event: Interest) -> Bool {
    world.lock.locked { world.files[fd].map { !$0.readiness.isDisjoint(with: event) } ?? true }
  }

  package func close(_ fd: Int32) {
    world.lock.locked {
      guard let file = world.files.removeValue(forKey: fd) else { return }
      world.firstFree = min(world.firstFree, fd)
      file.close()
    }
  }

  package func socketPair() throws(SystemError) -> (Int32, Int32) {
    try socketPair(capacity: 64 << 10)
  }

  /// A connected pair of streams; each takes this many unread bytes.
  package func socketPair(capacity: Int) throws(SystemError) -> (Int32, Int32) {
    try SystemCall.socketPair.takeFault()
    return world.lock.locked {
      let (near, far) = SimulatedFile.streamPair(capacity: capacity)
      return (open(near), open(far))
    }
  }

  /// A file that is always ready: it cannot be watched.
  package func openFile(_ contents: [UInt8] = []) -> Int32 {
    world.lock.locked { open(.file(contents)) }
  }

  /// The lowest free number, as in Linux, so that stale numbers come back to life; but far above
  /// any real one, so that a system call on it by mistake fails.
  private func open(_ file: SimulatedFile) -> Int32 {
    var fd = world.firstFree
    while world.files[fd] != nil { fd += 1 }
    world.files[fd] = file
    world.firstFree = fd + 1
    return fd
  }

  private func find(_ fd: Int32, for call: SystemCall) throws(SystemError) -> SimulatedFile {
    guard let file = world.files[fd] else { throw failure(call, Errno.badDescriptor) }
    return file
  }
}

/// A gate for threads of a world.
///
/// Unchecked Sendable: the world's lock protects the variables.
private final class SimulatedGate: Gate, @unchecked Sendable {
  private let world: SimulatedWorld
  private var wasOpened = false
  private var waiting: SimulatedThread?

  init(world: SimulatedWorld) { self.world = world }

  func open() {
    world.lock.locked {
      wasOpened = true
      if let waiting { world.makeRunnable(waiting) }
    }
  }

  func wait(atMost nanoseconds: Int64) -> Bool {
    world.asThread { thread in
      let deadline = world.time.addingSaturated(max(0, nanoseconds))
      waiting = thread
      defer { waiting = nil }
      while !wasOpened && world.time < deadline {
        world.block(thread, "a gate's wait", until: deadline)
      }
      return wasOpened
    }
  }

  var isOpen: Bool { world.lock.locked { wasOpened } }
}
