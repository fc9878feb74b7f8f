// What both kernels do alike: readiness, wake-ups, registrations, descriptors, clocks.

internal import MoonloopCore
import Testing

@Suite struct KernelBehaviourTests {
  @Test("a descriptor is reported while it is ready, and not after", arguments: KernelKind.allCases)
  func readiness(kind: KernelKind) throws {
    try withPair(kind) { kernel, set, near, far in
      #expect(try kernel.watch(near, for: .read, token: 7, in: set))
      #expect(kernel.heardByPoll(set) == [])
      try kernel.send("hello", to: far)
      #expect(kernel.heardByPoll(set) == [Heard(7, .read)])
      #expect(try kernel.receive(from: near, atMost: 2) == "he")
      #expect(kernel.heardByWait(set, until: limit(kernel)) == [Heard(7, .read)])
      #expect(try kernel.receive(from: near) == "llo")
      #expect(kernel.heardByPoll(set) == [])
    }
  }

  @Test("only what was asked for is reported", arguments: KernelKind.allCases)
  func interests(kind: KernelKind) throws {
    try withPair(kind) { kernel, set, near, far in
      let token: UInt64 = (1 << 62) - 3
      #expect(try kernel.watch(near, for: [.read, .write], token: token, in: set))
      #expect(kernel.heardByPoll(set) == [Heard(token, .write)])
      try kernel.send("x", to: far)
      #expect(kernel.heardByPoll(set) == [Heard(token, [.read, .write])])
      try kernel.rewatch(near, for: .write, token: 2, in: set)
      #expect(kernel.heardByPoll(set) == [Heard(2, .write)])
      try kernel.rewatch(near, for: [], token: 3, in: set)
      #expect(kernel.heardByPoll(set) == [])
      try kernel.rewatch(near, for: .read, token: 4, in: set)
      #expect(kernel.heardByPoll(set) == [Heard(4, .read)])
    }
  }

  @Test("a closed peer is ready for all that was asked", arguments: KernelKind.allCases)
  func hangUp(kind: KernelKind) throws {
    let kernel = try kind.make()
    let set = try kernel.makePollSet()
    for interest in [Interest.read, .write, [.read, .write]] {
      let (near, far) = try kernel.socketPair()
      #expect(try kernel.watch(near, for: interest, token: 1, in: set))
      kernel.close(far)
      #expect(kernel.heardByPoll(set) == [Heard(1, interest)])
      #expect(try kernel.receive(from: near) == "")
      #expect(throws: SystemError(call: "write", code: 32)) { try kernel.send("x", to: near) }
      kernel.close(near)
      #expect(kernel.heardByPoll(set) == [])
    }
  }

  @Test("a peer that closes with unread bytes resets, once", arguments: KernelKind.allCases)
  func reset(kind: KernelKind) throws {
    let kernel = try kind.make()
    let (near, far) = try kernel.socketPair()
    try kernel.send("lost", to: near)
    try kernel.send("kept", to: far)
    kernel.close(far)
    #expect(try kernel.receive(from: near) == "kept")
    #expect(throws: SystemError(call: "read", code: 104)) { try kernel.receive(from: near) }
    #expect(try kernel.receive(from: near) == "")
    kernel.close(near)
  }

  @Test("a hang-up of a silent registration ends no wait", arguments: KernelKind.allCases)
  func silentHangUp(kind: KernelKind) throws {
    let kernel = try kind.make()
    let set = try kernel.makePollSet()
    let (near, far) = try kernel.socketPair()
    #expect(try kernel.watch(near, for: [], token: 1, in: set))
    kernel.close(far)
    #expect(kernel.heardByPoll(set) == [])
    let deadline = kernel.now() + 5_000_000
    #expect(kernel.heardByWait(set, until: deadline) == [])
    #expect(kernel.now() >= deadline)
    try kernel.rewatch(near, for: .read, token: 2, in: set)
    #expect(kernel.heardByPoll(set) == [Heard(2, .read)])
    kernel.close(near)
  }

  @Test("a full buffer is not writable until it is drained", arguments: KernelKind.allCases)
  func fullBuffer(kind: KernelKind) throws {
    try withPair(kind) { kernel, set, near, far in
      #expect(try kernel.watch(near, for: .write, token: 1, in: set))
      let text = String(repeating: "x", count: 4096)
      var sent = 0
      let failure = #expect(throws: SystemError.self) {
        while true { sent += try kernel.send(text, to: near) }
      }
      #expect(failure == SystemError(call: "write", code: 11))
      #expect(kernel.heardByPoll(set) == [])
      while sent > 0 { sent -= try kernel.receive(from: far).utf8.count }
      #expect(kernel.heardByPoll(set) == [Heard(1, .write)])
      #expect(throws: SystemError(call: "read", code: 11)) { try kernel.receive(from: far) }
    }
  }

  @Test("a wake-up before the wait is remembered, once", arguments: everyKernelAndMode)
  func wakeBefore(kind: KernelKind, mode: ClockMode) throws {
    let kernel = try kind.make(clock: mode)
    let sets = [try kernel.makePollSet(), try kernel.makePollSet()]
    for set in sets + sets {
      kernel.wake()
      kernel.wake()
      let before = kernel.now()
      #expect(kernel.heardByWait(set, until: limit(kernel)) == [])
      #expect(kernel.now() < before + 60 * seconds)
      #expect(kernel.clock.rate == 1 || kernel.now() == before)
      let deadline = kernel.now() + 1_000_000
      #expect(kernel.heardByWait(set, until: deadline) == [])
      #expect(kernel.now() >= deadline)
    }
  }

  @Test("a poll uses up the wake-up", arguments: KernelKind.allCases)
  func wakeBeforePoll(kind: KernelKind) throws {
    let kernel = try kind.make()
    let set = try kernel.makePollSet()
    kernel.wake()
    #expect(kernel.heardByPoll(set) == [])
    let deadline = kernel.now() + 1_000_000
    #expect(kernel.heardByWait(set, until: deadline) == [])
    #expect(kernel.now() >= deadline)
  }

  @Test("a wait until the past polls", arguments: everyKernelAndMode)
  func waitUntilPast(kind: KernelKind, mode: ClockMode) throws {
    try withPair(kind, clock: mode) { kernel, set, near, far in
      #expect(try kernel.watch(near, for: .read, token: 1, in: set))
      for deadline in [Int64.min, -1, kernel.now()] {
        #expect(kernel.heardByWait(set, until: deadline) == [])
      }
      try kernel.send("x", to: far)
      #expect(kernel.heardByWait(set, until: .min) == [Heard(1, .read)])
    }
  }

  @Test("a clock that jumps is at the deadline at once", arguments: KernelKind.allCases)
  func jumps(kind: KernelKind) throws {
    for mode in [ClockMode.virtual, .skipIdle] {
      let kernel = try kind.make(clock: mode)
      let set = try kernel.makePollSet()
      let start = kernel.now()
      let wall = kernel.wallTime()
      let year: Int64 = 365 * 86_400 * seconds
      #expect(kernel.heardByWait(set, until: start + year) == [])
      #expect(kernel.clock.hasReached(start + year))
      #expect(kernel.wallTime() >= wall + year)
      if mode == .virtual {
        #expect(kernel.now() == start + year)
        #expect(!kernel.clock.hasReached(start + year + 1))
        #expect(kernel.wallTime() == wall + year)
      }
    }
  }

  @Test("a ready descriptor is reported before the clock jumps", arguments: KernelKind.allCases)
  func readyBeforeJump(kind: KernelKind) throws {
    try withPair(kind, clock: .virtual) { kernel, set, near, far in
      #expect(try kernel.watch(near, for: .read, token: 1, in: set))
      try kernel.send("x", to: far)
      let start = kernel.now()
      #expect(kernel.heardByWait(set, until: start + seconds) == [Heard(1, .read)])
      #expect(kernel.now() == start)
    }
  }

  @Test("closing a descriptor takes it out of its sets", arguments: KernelKind.allCases)
  func closeWhileWatched(kind: KernelKind) throws {
    let kernel = try kind.make()
    let set = try kernel.makePollSet()
    let (near, far) = try kernel.socketPair()
    #expect(try kernel.watch(near, for: .read, token: 1, in: set))
    try kernel.send("x", to: far)
    #expect(kernel.isOpen(near))
    kernel.close(near)
    #expect(kernel.heardByPoll(set) == [])
    kernel.unwatch(near, in: set)
    kernel.unwatch(far, in: set)
    kernel.close(far)
  }

  @Test("mistakes with registrations are errors", arguments: KernelKind.allCases)
  func mistakes(kind: KernelKind) throws {
    try withPair(kind) { kernel, set, near, _ throws in
      let failure = { (code: Int32) in SystemError(call: "epoll_ctl", code: code) }
      #expect(throws: failure(2)) { try kernel.rewatch(near, for: .read, token: 1, in: set) }
      #expect(try kernel.watch(near, for: .read, token: 1, in: set))
      #expect(throws: failure(17)) { try kernel.watch(near, for: .read, token: 2, in: set) }
      kernel.unwatch(near, in: set)
      #expect(try kernel.watch(near, for: .read, token: 3, in: set))
      #expect(throws: failure(9)) { try kernel.watch(-1, for: .read, token: 1, in: set) }
    }
  }

  @Test("a deadline is reached exactly when the clock says so", arguments: everyKernelAndMode)
  func hasReached(kind: KernelKind, mode: ClockMode) throws {
    let kernel = try kind.make(clock: mode)
    #expect(kernel.clock.hasReached(kernel.now()))
    #expect(kernel.clock.hasReached(.min))
    #expect(!kernel.clock.hasReached(.max))
    #expect(!kernel.clock.hasReached(kernel.now() + 60 * seconds))
    #expect(kernel.clock.hasReached(kernel.now() - 60 * seconds))
  }

  @Test("a gate lets one through when it is open", arguments: KernelKind.allCases)
  func gate(kind: KernelKind) throws {
    let kernel = try kind.make()
    let gate = kernel.makeGate()
    #expect(!gate.wait(atMost: 0))
    #expect(!gate.wait(atMost: 1_000_000))
    gate.open()
    gate.open()
    #expect(gate.wait(atMost: 0))
    #expect(gate.wait(atMost: .max))
  }
}
