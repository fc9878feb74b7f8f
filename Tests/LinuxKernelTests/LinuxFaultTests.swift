// System calls that fail: each becomes an error that names it, with nothing left behind.

internal import Glibc
internal import MoonloopCore
internal import Testing

@Suite struct LinuxFaultTests {
  /// Which operations make which calls; each is failed at its first, second, ... call.
  static let calls: [SystemCall] = [
    .epollCreate, .epollControl, .eventfd, .timerfdCreate, .timerfdSet, .socketPair, .fcntl,
  ]

  @Test("a call that fails is named, and leaves nothing open", arguments: calls)
  func nameAndLeaks(call: SystemCall) async {
    await #expect(processExitsWith: .success) { [raw = call.rawValue as Int32] in try failEach(raw)
    }
  }

  /// A sanitizer slows each of them down.
  private static let kernels = getenv("MOONLOOP_SANITIZED") == nil ? 1000 : 100

  @Test("the same holds for ever again: a thousand kernels leave no descriptor")
  func manyKernels() async {
    await #expect(processExitsWith: .success) {
      try everyOperation()
      let before = countOpenDescriptors()
      for _ in 0..<Self.kernels { try everyOperation() }
      precondition(countOpenDescriptors() < before + 50)
    }
  }

  @Test(
    "an interrupted call is made again, an interrupted wait returns", arguments: KernelKind.allCases
  )
  func interrupted(kind: KernelKind) throws {
    let kernel = try kind.make()
    let set = try kernel.makePollSet()
    let (near, far) = try kernel.socketPair()
    #expect(try kernel.watch(near, for: .read, token: 1, in: set))
    let sent = try SystemFault.during(.write, times: 3, code: EINTR) {
      try kernel.send("x", to: far)
    }
    #expect(sent == (1, 3))
    #expect(
      SystemFault.during(.epollWait, code: EINTR) { kernel.heardByWait(set, until: .max) }
        .value
        == [])
    #expect(kernel.heardByWait(set, until: limit(kernel)) == [Heard(1, .read)])
    let got = try SystemFault.during(.read, times: 3, code: EINTR) {
      try kernel.receive(from: near)
    }
    #expect(got == ("x", 3))
    kernel.close(near)
    kernel.close(far)
  }

  @Test("a read or write that fails says why", arguments: KernelKind.allCases)
  func streamFailures(kind: KernelKind) throws {
    let kernel = try kind.make()
    let (near, far) = try kernel.socketPair()
    for code in [EIO, ECONNRESET, ENOBUFS] {
      #expect(throws: SystemError(call: "read", code: code)) {
        try SystemFault.during(.read, code: code) { try kernel.receive(from: near) }
      }
      #expect(throws: SystemError(call: "write", code: code)) {
        try SystemFault.during(.write, code: code) { try kernel.send("x", to: near) }
      }
    }
    #expect(throws: SystemError(call: "read", code: EBADF)) { try kernel.receive(from: -1) }
    kernel.close(near)
    kernel.close(far)
  }

  @Test("a wake-up arrives although every write fails")
  func wakeDespiteFault() throws {
    let kernel = try LinuxKernel()
    let set = try kernel.makePollSet()
    try withThread {
      _ = SystemFault.during(.write, times: .max, code: ENOSPC) { kernel.wake() }
    } during: {
      #expect(kernel.heardByWait(set, until: limit(kernel)) == [])
    }
  }

  @Test("with closed standard streams the loop's descriptors are above them")
  func closedStreams() async {
    await #expect(processExitsWith: .success) { try useClosedStreams() }
  }

  @Test("a wait that the system refuses ends the loops, and says why", arguments: [ENOMEM, EIO])
  func brokenWait(code: Int32) async {
    await #expect(processExitsWith: .success) { [code] in
      let kernel = try LinuxKernel()
      let set = try kernel.makePollSet()
      _ = SystemFault.during(.epollWait, code: code) { kernel.heardByWait(set, until: .max) }
      precondition(Ending.isAskedFor)
      precondition(Ending.explanation?.hasPrefix("the loop cannot wait, and ends: ") ?? false)
      alarm(0)  // It ends a program that does not end by itself; this one may take its time.
    }
  }

  @Test("a step of the wall clock ends the wait and is counted once")
  func wallStep() async {
    await #expect(processExitsWith: .success) { try stepWallClock() }
  }
}

/// One of everything that can fail while a kernel is set up.
private func everyOperation() throws {
  let kernel = try LinuxKernel()
  let first = try kernel.makePollSet()
  try kernel.watchWallClock(true)
  let second = try kernel.makePollSet()
  let (near, far) = try kernel.socketPair()
  defer {
    kernel.close(near)
    kernel.close(far)
  }
  _ = try kernel.traits(of: near)
  for set in [first, second] {
    _ = try kernel.watch(near, for: .read, token: 1, in: set)
    try kernel.rewatch(near, for: .write, token: 1, in: set)
  }
  kernel.closePollSet(first)
  kernel.closePollSet(first)
}

private func countOpenDescriptors() -> Int {
  (0..<4096).count { fcntl($0, F_GETFD) >= 0 }
}

/// Makes a timer descriptor expire now. `timerfd_settime` is not in the Glibc module.
private func expire(_ fd: Int32) {
  typealias Set = @convention(c) (Int32, Int32, UnsafePointer<itimerspec>, OpaquePointer?) -> Int32
  // unsafeBitCast: `Set` is the type of that function in <sys/timerfd.h>.
  let set = unsafeBitCast(dlsym(nil, "timerfd_settime"), to: Set.self)
  var soon = itimerspec()
  soon.it_value.tv_nsec = 1
  precondition(set(fd, 1, &soon, nil) == 0)
}

private func failEach(_ rawCall: Int32) throws {
  let call = SystemCall(rawValue: rawCall)!
  let before = countOpenDescriptors()
  for code in [EMFILE, ENFILE, ENOMEM, EINVAL] {
    var skipped: Int32 = 0
    while try failsInTurn(call, after: skipped, code: code) { skipped += 1 }
    precondition(skipped > 0, "\(call) was never made")
    // Repeated, so that a leak stands out from what the test's own threads open.
    for _ in 0..<50 { _ = try failsInTurn(call, after: skipped - 1, code: code) }
  }
  precondition(countOpenDescriptors() < before + 50, "\(call) leaves descriptors open")
}

/// Whether there was such a call to fail.
private func failsInTurn(_ call: SystemCall, after skipped: Int32, code: Int32) throws -> Bool {
  do {
    let run = try SystemFault.during(call, after: skipped, code: code, everyOperation)
    precondition(run.strikes == 0, "a failure of \(call) went unnoticed")
    return false
  } catch let error as SystemError {
    precondition(error == SystemError(call: call.name, code: code), "\(error)")
    return true
  }
}

private func useClosedStreams() throws {
  for fd: Int32 in 0...2 { close(fd) }
  let kernel = try LinuxKernel()
  let set = try kernel.makePollSet()
  try kernel.watchWallClock(true)
  let (near, far) = try kernel.socketPair()
  // Our own descriptors: other threads of the process may well have got the freed numbers.
  let own = [set.rawValue, near, far, kernel.wakeUpDescriptor, kernel.wallWatchDescriptor ?? -1]
  precondition(own.allSatisfy { $0 > 2 })
  let (_, strikes) = SystemFault.during(.fcntl, times: .max, code: EMFILE) {
    precondition((try? kernel.socketPair()) == nil)
  }
  precondition(strikes == 1)
}

private func stepWallClock() throws {
  let kernel = try LinuxKernel()
  let early = try kernel.makePollSet()
  try kernel.watchWallClock(true)
  try kernel.watchWallClock(true)
  let late = try kernel.makePollSet()
  for (index, set) in [early, late, early].enumerated() {
    let timer = kernel.wallWatchDescriptor!
    expire(timer)
    // A test cannot set the system's clock, so the timer expires and its read reports what it would
    // report after a step.
    let (heard, strikes) = SystemFault.during(.read, code: ECANCELED) {
      kernel.heardByWait(set, until: limit(kernel))
    }
    precondition(heard == [] && strikes == 1 && kernel.wallClockSteps == index + 1)
    let count = UnsafeMutableRawBufferPointer.allocate(byteCount: 8, alignment: 8)
    let expirations = try kernel.read(timer, into: count)
    precondition(expirations == 8)
    count.deallocate()
  }
  try kernel.watchWallClock(false)
  let deadline = kernel.now() + 1_000_000
  precondition(kernel.heardByWait(late, until: deadline) == [] && kernel.now() >= deadline)
  precondition(kernel.wallWatchDescriptor == nil)
}
