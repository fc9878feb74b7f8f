// What only the real kernel does: sleeping, waking from threads, and system calls that fail.

internal import Glibc
internal import MoonloopCore
internal import Synchronization
internal import Testing

@Suite struct LinuxKernelTests {
  @Test("a sleep is never shorter than asked", arguments: [0, 1_000, 10_000_000] as [Int64])
  func neverEarly(spin: Int64) throws {
    let kernel = try LinuxKernel()
    kernel.spin = spin
    let set = try kernel.makePollSet()
    for pause: Int64 in [1, 999, 50_000, 1_000_001, 2_300_000] {
      let deadline = kernel.now() + pause
      #expect(kernel.heardByWait(set, until: deadline) == [])
      #expect(kernel.now() >= deadline)
      #expect(kernel.clock.hasReached(deadline))
    }
  }

  @Test("without precise waits a sleep is longer, not shorter", arguments: [1 as Int32, 38])
  func coarseWaits(code: Int32) async {
    await #expect(processExitsWith: .success) { [code] in try precisionIsMissing(code) }
  }

  @Test("a wake-up of one wait does not shorten a wait on another set")
  func staleWakeUp() throws {
    let kernel = try LinuxKernel()
    let sets = [try kernel.makePollSet(), try kernel.makePollSet(), try kernel.makePollSet()]
    for set in sets {
      let isWaiting = Atomic(true)
      try withThread {
        // Until a wake-up meets the sleep: one before the wait makes no system call.
        while isWaiting.load(ordering: .acquiring) { kernel.wake() }
      } during: {
        for _ in 0..<100 {
          let deadline = limit(kernel)
          #expect(kernel.heardByWait(set, until: deadline) == [])
          #expect(kernel.now() < deadline)
        }
        isWaiting.store(false, ordering: .releasing)
      }
      _ = kernel.heardByPoll(set)
      for other in sets {
        let deadline = kernel.now() + 300_000
        #expect(kernel.heardByWait(other, until: deadline) == [])
        #expect(kernel.now() >= deadline)
      }
    }
  }

  @Test("no wake-up is lost", arguments: ClockMode.allCases)
  func noLostWakeUp(mode: ClockMode) throws {
    let kernel = try LinuxKernel(clock: mode)
    let sets = [try kernel.makePollSet(), try kernel.makePollSet()]
    let posted = Atomic(0)
    let seen = Atomic(0)
    let isOver = Atomic(false)
    let rounds = 20_000
    // Held, because a clock that jumps would not sleep until the limit.
    let hold = kernel.clock.holds.open("posts")
    defer { hold.release() }
    let deadline = limit(kernel)
    try withThread {
      // One at a time, so that each must arrive by itself.
      for round in 1...rounds {
        posted.store(round, ordering: .releasing)
        kernel.wake()
        while seen.load(ordering: .acquiring) < round && !isOver.load(ordering: .acquiring) {
          sched_yield()
        }
      }
    } during: {
      defer { isOver.store(true, ordering: .releasing) }
      var turn = 0
      while seen.load(ordering: .relaxed) < rounds {
        _ = kernel.heardByWait(sets[turn % 2], until: deadline)
        try #require(kernel.now() < deadline, "a wake-up was lost in round \(turn)")
        seen.store(posted.load(ordering: .acquiring), ordering: .releasing)
        turn += 1
      }
    }
  }

  @Test("a released hold lets a sleeping loop jump")
  func releaseWhileAsleep() throws {
    let kernel = try LinuxKernel(clock: .virtual)
    let set = try kernel.makePollSet()
    let start = kernel.now()
    let hold = kernel.clock.holds.open("reply")
    try withThread {
      hold.release()
    } during: {
      #expect(kernel.heardByWait(set, until: start + 3600 * seconds) == [])
    }
    #expect(kernel.now() == start + 3600 * seconds)
  }

  @Test("a gate is opened by another thread")
  func gate() throws {
    let kernel = try LinuxKernel()
    for _ in 0..<200 {
      let gate = kernel.makeGate()
      try withThread {
        gate.open()
      } during: {
        #expect(gate.wait(atMost: 60 * seconds))
      }
    }
  }

  @Test("what is always ready cannot be watched")
  func alwaysReady() throws {
    let kernel = try LinuxKernel()
    let set = try kernel.makePollSet()
    for path in ["/dev/null", "/proc/self/exe"] {
      let fd = open(path, O_RDONLY | O_CLOEXEC)
      #expect(try !kernel.watch(fd, for: .read, token: 1, in: set))
      kernel.unwatch(fd, in: set)
      kernel.close(fd)
      #expect(!kernel.isOpen(fd))
    }
  }

  @Test("a pipe without a reader is an error, not a signal")
  func brokenPipe() throws {
    let kernel = try LinuxKernel()
    let set = try kernel.makePollSet()
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    #expect(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
    #expect(try kernel.watch(ends[1], for: .write, token: 1, in: set))
    kernel.close(ends[0])
    #expect(kernel.heardByPoll(set) == [Heard(1, .write)])
    #expect(throws: SystemError(call: "write", code: EPIPE)) { try kernel.send("x", to: ends[1]) }
    kernel.close(ends[1])
  }

  @Test("descriptors are closed on exec and non-blocking")
  func flags() throws {
    let kernel = try LinuxKernel()
    let set = try kernel.makePollSet()
    let (near, far) = try kernel.socketPair()
    for fd in [set.rawValue, near, far] { #expect(fcntl(fd, F_GETFD) & FD_CLOEXEC != 0) }
    for fd in [near, far] { #expect(fcntl(fd, F_GETFL) & O_NONBLOCK != 0) }
    kernel.close(near)
    kernel.close(far)
  }
}

/// Runs a body on another thread while the calling one runs the other body, and waits for both.
func withThread(_ body: @escaping @Sendable () -> Void, during other: () throws -> Void) throws {
  let ended = try LinuxKernel().makeGate()
  try startThread {
    body()
    ended.open()
  }
  defer { _ = ended.wait(atMost: .max) }
  try other()
}

private func precisionIsMissing(_ code: Int32) throws {
  let kernel = try LinuxKernel()
  let set = try kernel.makePollSet()
  var pause: Int64 = 1_200_000
  // If the machine was held up meanwhile, the deadline has passed and there is nothing to wait for.
  while true {
    let deadline = kernel.now() + pause
    let first = SystemFault.during(.epollWaitPrecise, times: .max, code: code) {
      kernel.heardByWait(set, until: deadline)
    }
    precondition(first.strikes <= 1 && kernel.now() >= deadline)
    if first.strikes == 1 { break }
    pause *= 2
  }
  let second = SystemFault.during(.epollWaitPrecise, code: code) {
    kernel.heardByWait(set, until: kernel.now() + 1)
  }
  precondition(second.strikes == 0, "it is not tried again")
}
