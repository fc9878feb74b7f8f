// The kernel of real programs: epoll for descriptors, an eventfd for wake-ups, the system's clocks.

internal import CLinuxShims
internal import Dispatch

/// The loop's view of Linux. Loop thread only, but for `wake`, `makeGate` and the clock's holds.
///
/// Unchecked Sendable, so that others can wake it: what they may use is Sendable by itself, and the
/// rest is for the loop's thread, as the protocol says.
package final class LinuxKernel: Kernel, @unchecked Sendable {
  package let clock: Clock
  let wakeUp: WakeUp
  /// A bit for each descriptor: whether it is a poll set of this kernel. Bits, as a new loop may
  /// find thousands of descriptors in use. Not a `Set`: making its first one in a process costs a
  /// hundred times as much.
  private var sets: [UInt64] = []
  /// The timer that reports steps of the wall clock, in all poll sets, while a loop wants to
  /// know.
  private var wallWatch: Descriptor?
  @exclusivity(unchecked) package private(set) var wallClockSteps = 0  // a plain word
  /// For tests, which cannot set the clock of the system.
  package var wallWatchDescriptor: Int32? { wallWatch?.number }

  /// Whether a wait ends when another process asks for attention; only one loop of a process does.
  @exclusivity(unchecked) var hearsAttention = false  // a plain word

  package var spin: Int64 = 0
  /// Set for each sleep and taken back after it: the thread's own is for its other sleeps, and goes
  /// to the programs that it starts.
  package var timerSlack: Int64 = 0

  /// Whether what enters the loop is kept, or replayed.
  private let hasIntake = !Intake.isPlain

  /// The descriptor of the libdispatch main queue, which belongs to libdispatch.
  package let mainQueueDescriptor: Int32?

  /// Makes a kernel for the loop of the calling thread.
  ///
  /// Takes care of SIGPIPE and SIGXFSZ: unless the program handles them, they are ignored from now
  /// on in the whole process, so that writing into a closed pipe, or a file that has reached
  /// `ulimit -f`, is an error of that descriptor (EPIPE, EFBIG).
  /// - Parameters:
  ///   - clock: How the loop's time runs.
  ///   - servesMainQueue: Whether this loop serves the libdispatch main queue.
  ///   - isReproducible: Whether a virtual clock begins at 0, and its wall clock at 10^9 s since
  ///     1970, each time, instead of at the present time.
  /// - Throws: The call that failed; nothing is left behind.
  package convenience init(
    clock mode: ClockMode = .real, servesMainQueue: Bool = false, isReproducible: Bool = false
  ) throws(SystemError) {
    let clock =
      isReproducible
      ? Clock(mode, start: 0, wall: 1_000_000_000_000_000_000)
      : Clock(mode, start: mode == .virtual ? cmx_monotonic() : 0, wall: cmx_wall())
    try self.init(clock, servesMainQueue: servesMainQueue)
  }

  /// Makes a kernel for the loop of another thread, whose clock runs as that of this one, and jumps
  /// with it. It counts as busy until its loop sleeps; call `leaveSharedTime` when that ends.
  package convenience init(sharingTimeOf other: LinuxKernel) throws(SystemError) {
    try self.init(Clock(sharingTimeOf: other.clock))
  }

  /// The same with a clock that was made for it.
  package convenience init(_ clock: Clock) throws(SystemError) {
    do { try self.init(clock, servesMainQueue: false) } catch {
      clock.leaveSharedTime()
      throw error
    }
  }

  private init(_ clock: Clock, servesMainQueue: Bool) throws(SystemError) {
    wakeUp = try WakeUp()
    self.clock = clock
    mainQueueDescriptor = servesMainQueue ? Self.openMainQueue() : nil
    cmx_ignore_write_signals()
    if !clock.isMirror { clock.holds.whenReleased { [wakeUp] in wakeUp.nudge() } }
  }

  deinit { forEachSet(cmx_close) }

  private func forEachSet<Failure: Error>(
    _ body: (Int32) throws(Failure) -> Void
  ) throws(Failure) {
    for (place, word) in sets.enumerated() {
      var left = word
      while left != 0 {
        try body(Int32(place * 64 + left.trailingZeroBitCount))
        left &= left - 1
      }
    }
  }

  // MARK: Time

  package func wallTime() -> Int64 { clock.wallTime(at: cmx_wall()) }

  // MARK: Poll sets

  package func makePollSet() throws(SystemError) -> PollSetID {
    let set = try SystemCall.epollCreate.descriptor(cmx_epoll_create())
    let control = SystemCall.epollControl
    let wake = wakeUp.descriptor.number
    _ = try control.check(cmx_epoll_add_internal(set.number, wake, cmx_internal_wake))
    if let wall = wallWatch?.number {
      _ = try control.check(cmx_epoll_add_internal(set.number, wall, cmx_internal_wall))
    }
    let number = set.release()
    let place = Int(number) / 64
    if place >= sets.count { sets += repeatElement(0, count: place + 1 - sets.count) }
    sets[place] |= 1 << (UInt64(number) % 64)
    return PollSetID(rawValue: number)
  }

  package func closePollSet(_ set: PollSetID) {
    let place = Int(set.rawValue) / 64
    let bit: UInt64 = 1 << (UInt64(set.rawValue) % 64)
    guard sets.indices.contains(place), sets[place] & bit != 0 else { return }
    sets[place] &= ~bit
    cmx_close(set.rawValue)
  }

  package func watch(
    _ fd: Int32, for interest: Interest, token: UInt64, in set: PollSetID
  ) throws(SystemError) -> Bool {
    if token >= Self.tokenLimit {
      fatalError("watch: a token must be below 2^62 - 2, got \(token)")
    }
    let result = cmx_epoll_add(set.rawValue, fd, interest.rawValue, token)
    if result == -Errno.notPermitted { return false }
    _ = try SystemCall.epollControl.check(result)
    return true
  }

  package func rewatch(
    _ fd: Int32, for interest: Interest, token: UInt64, in set: PollSetID
  ) throws(SystemError) {
    if token >= Self.tokenLimit {
      fatalError("rewatch: a token must be below 2^62 - 2, got \(token)")
    }
    let result = cmx_epoll_change(set.rawValue, fd, interest.rawValue, token)
    _ = try SystemCall.epollControl.check(result)
  }

  package func unwatch(_ fd: Int32, in set: PollSetID) {
    // EBADF and ENOENT: it was closed, and left the set by that. No other failure is possible.
    _ = cmx_epoll_remove(set.rawValue, fd)
  }

  // MARK: Descriptors

  package func read(
    _ fd: Int32, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    try SystemCall.read.check(cmx_read(fd, buffer.baseAddress, buffer.count))
  }

  package func write(_ fd: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
    try SystemCall.write.check(cmx_write(fd, bytes.baseAddress, bytes.count))
  }

  package func isOpen(_ fd: Int32) -> Bool { cmx_is_open(fd) }

  package func traits(of fd: Int32) throws(SystemError) -> DescriptorTraits {
    DescriptorTraits(rawValue: UInt8(try SystemCall.fcntl.check(cmx_traits(fd))))
  }

  package func isReady(_ fd: Int32, for event: Interest) -> Bool {
    cmx_is_ready(fd, event.rawValue)
  }

  package func close(_ fd: Int32) { cmx_close(fd) }

  package func socketPair() throws(SystemError) -> (Int32, Int32) {
    let pair = UnsafeMutablePointer<Int32>.allocate(capacity: 2)
    defer { pair.deallocate() }
    _ = try SystemCall.socketPair.check(cmx_socketpair(pair))
    return (pair[0], pair[1])
  }

  // MARK: Wall clock

  package func watchWallClock(_ isWanted: Bool) throws(SystemError) {
    if !isWanted {
      wallWatch = nil  // closing it removes it from every set
    } else if wallWatch == nil {
      let watch = try SystemCall.timerfdCreate.descriptor(cmx_timerfd())
      _ = try SystemCall.timerfdSet.check(cmx_timerfd_watch(watch.number))
      let number = watch.number
      try forEachSet { set throws(SystemError) in
        let result = cmx_epoll_add_internal(set, number, cmx_internal_wall)
        _ = try SystemCall.epollControl.check(result)
      }
      wallWatch = consume watch
    }
  }

  /// Counts a step of the wall clock, if the timer reports one.
  private func readWallWatch() {
    guard let number = wallWatch?.number else { return }
    var expirations: UInt64 = 0
    if cmx_read(number, &expirations, 8) == -Int(Errno.cancelled) { wallClockSteps += 1 }
  }

  // MARK: Others

  package func descriptor(of set: PollSetID) -> Int32? { set.rawValue }

  package func announceSleep() { wakeUp.announceSleep() }

  package func wake() { wakeUp.wake() }

  /// What a signal handler writes to end the sleep when the program must end.
  package var wakeUpDescriptor: Int32 { wakeUp.descriptor.number }

  package func makeGate() -> any Gate { LinuxGate() }

  package func drainMainQueue() {
    guard let mainQueueDescriptor else { return }
    var count: UInt64 = 0
    _ = cmx_read(mainQueueDescriptor, &count, 8)
    _dispatch_main_queue_callback_4CF(nil)
  }

  /// libdispatch makes its descriptor at this call; so the standard streams must not be free.
  private static func openMainQueue() -> Int32 {
    let filled = cmx_fill_standard_streams()
    defer { cmx_empty_standard_streams(filled) }
    return _dispatch_get_main_queue_handle_4CF()
  }

  // The two bits above hold the interest, the last values are internal (`cmx_internal`).
  private static let tokenLimit: UInt64 = (1 << 62) - 2
}

// MARK: - Waiting

extension LinuxKernel {
  package func poll(_ set: PollSetID, into ready: UnsafeMutableBufferPointer<ReadyEvent>) -> Int {
    wakeUp.forget()
    return fetch(set, 0, ready).count
  }

  package func wait(
    _ set: PollSetID, until deadline: Int64, into ready: UnsafeMutableBufferPointer<ReadyEvent>
  ) -> Int {
    guard beginSleep() else { return fetch(set, 0, ready).count }
    defer { wakeUp.endSleep() }
    if clock.jumpsWhenIdle, let place = clock.sharedPlace {
      return wait(set, until: deadline, into: ready, sharingTimeAt: place)
    }
    while true {
      // Asked before the look at the descriptors: what arrived before the last hold was released is
      // then seen, and a jump past it is impossible.
      let mayJump = clock.jumpsWhenIdle && deadline != .max && !isHeld
      let sleep = mayJump ? 0 : clock.wait(until: deadline, at: cmx_monotonic())
      let part = spin == 0 || sleep == .max || hasIntake ? sleep : max(0, sleep - spin)
      let found = fetch(set, part, ready)
      if found.endsWait || mustReturn { return found.count }
      // A wake-up of the past, a nudge, a silent hang-up, not the time yet: look again.
      if found.hasInternal || part < sleep { continue }
      if mayJump {
        if waitedForLoopback { continue }
        clock.jump(to: deadline, at: cmx_monotonic())
      }
      return 0
    }
  }

  /// The wait of one of several loops that share a time: it does not jump by itself, but becomes
  /// idle, and jumps with the others when all are.
  private func wait(
    _ set: PollSetID, until deadline: Int64, into ready: UnsafeMutableBufferPointer<ReadyEvent>,
    sharingTimeAt place: SharedTime.Place
  ) -> Int {
    while true {
      clock.follow(place.becomeBusy())
      let isHeld = isHeld
      let found = fetch(set, 0, ready)
      if found.endsWait || mustReturn { return found.count }
      if found.hasInternal { continue }
      let system = cmx_monotonic()
      let sleep = clock.wait(until: deadline, at: system)
      if sleep == 0 { return 0 }
      if !isHeld {
        let idle = SharedTime.Idleness(
          distance: clock.distance(to: deadline, at: system), since: system, rate: clock.rate,
          wakeUp: wakeUp, pollSet: set.rawValue, holds: clock.holds)
        if !place.becomeIdle(idle) { continue }
      }
      let later = fetch(set, sleep, ready)
      if later.endsWait || mustReturn {
        clock.follow(place.becomeBusy())
        return later.count
      }
    }
  }

  /// Announces the sleep; false if the loop was woken before.
  private func beginSleep() -> Bool {
    let isBegun = wakeUp.beginSleep()
    guard hasIntake, Intake.seldom(!isBegun) else { return isBegun }
    if isBegun { wakeUp.endSleep() }  // a replay, where there are no wake-ups
    return false
  }

  private var isNotified: Bool {
    hasIntake ? Intake.seldom(wakeUp.isNotified) : wakeUp.isNotified
  }

  /// Whether input is on its way that the run would serve; other threads may say that it is not
  /// any more.
  private var isHeld: Bool {
    if clock.jumpsWhenIdle { clock.holds.look() }
    return hasIntake ? Intake.flag { clock.holds.areOpen } : clock.holds.areOpen
  }

  /// Waits for what this process has sent to itself; false if that was nothing.
  private var waitedForLoopback: Bool {
    hasIntake ? Intake.seldom(cmx_await_loopback()) : cmx_await_loopback()
  }

  /// Whether the loop has to look, even if nothing is ready.
  private var mustReturn: Bool {
    isNotified || Ending.isAskedFor || (hearsAttention && Attention.isAskedFor)
  }

  private struct Found {
    var count: Int
    var endsWait: Bool
    var hasInternal: Bool
  }

  /// One call of epoll: 0 ns polls, `Int64.max` sleeps forever.
  private func fetch(
    _ set: PollSetID, _ sleep: Int64, _ ready: UnsafeMutableBufferPointer<ReadyEvent>
  ) -> Found {
    var `internal`: UInt32 = 0
    let records = UnsafeMutableRawPointer(ready.baseAddress!).assumingMemoryBound(
      to: cmx_ready.self)
    let limit = Int32(clamping: ready.count)
    let slack = timerSlack > 0 && sleep > 0 && !hasIntake ? cmx_timer_slack() : 0
    if slack > 0 { _ = cmx_set_timer_slack(timerSlack) }
    let count = cmx_epoll_wait(
      set.rawValue, records, limit, sleep == .max ? -1 : sleep, &`internal`)
    if slack > 0 { _ = cmx_set_timer_slack(Int64(slack)) }
    if count < 0 {
      if count != -Errno.interrupted { Self.endWaits(set, -count) }
      return Found(count: 0, endsWait: true, hasInternal: false)
    }
    let hasStepped = `internal` & cmx_internal_wall.rawValue != 0
    if hasStepped { readWallWatch() }
    return Found(count: Int(count), endsWait: count > 0 || hasStepped, hasInternal: `internal` != 0)
  }

  /// No loop can go on without waiting. A closed descriptor is a mistake of the program.
  private static func endWaits(_ set: PollSetID, _ code: Int32) {
    let error = SystemError(call: "epoll_wait", code: code)
    if code == Errno.badDescriptor || code == Errno.invalid {
      fatalError(
        "wait on poll set \(set.rawValue): \(error); "
          + "a descriptor that the loop owns was closed elsewhere")
    }
    Ending.begin(because: "the loop cannot wait, and ends: \(error)")
  }
}

/// A gate over futex.
final class LinuxGate: Gate, @unchecked Sendable {
  /// Unchecked because of this pointer: it never changes, and the word behind it is atomic.
  private let gate = cmx_gate_make()

  deinit { cmx_gate_free(gate) }

  func open() { cmx_gate_open(gate) }

  var isOpen: Bool { cmx_gate_wait(gate, 0) }

  func wait(atMost nanoseconds: Int64) -> Bool {
    cmx_gate_wait(gate, nanoseconds == .max ? -1 : max(0, nanoseconds))
  }
}
