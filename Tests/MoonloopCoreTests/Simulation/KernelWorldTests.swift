// The simulated world: which thread runs, when time passes, and the message when nothing can go on.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Synchronization
internal import Testing

/// The lines of a trace, from any thread.
private final class Trace: Sendable {
  private let lines = Mutex<[String]>([])
  func note(_ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }
}

private let millisecond: Int64 = 1_000_000

@Suite struct KernelWorldTests {
  @Test("threads run in the order of their deadlines, and then of their blocking")
  func order() {
    let world = SimulatedWorld()
    let trace = Trace()
    world.run {
      let threads = [("a", 30), ("b", 10), ("c", 30), ("d", 10)].map { name, pause in
        world.thread(name) {
          for turn in 1...2 {
            world.sleep(Int64(pause) * millisecond)
            trace.note("\(world.now / millisecond) \(name)\(turn)")
          }
        }
      }
      trace.note("started")
      threads.forEach(world.join)
      trace.note("\(world.now / millisecond) joined")
    }
    #expect(
      trace.all == [
        "started", "10 b1", "10 d1", "20 b2", "20 d2", "30 a1", "30 c1", "60 a2", "60 c2",
        "60 joined",
      ])
  }

  @Test("a sleep of zero lets the others go first")
  func giveWay() {
    let world = SimulatedWorld()
    let trace = Trace()
    world.run {
      let other = world.thread("other") { trace.note("other") }
      trace.note("before")
      world.sleep(0)
      trace.note("after")
      world.join(other)
      world.join(other)
    }
    #expect(trace.all == ["before", "other", "after"])
    #expect(world.now == 0)
  }

  @Test("a loop sleeps until another thread writes, wakes it or its deadline comes")
  func waiting() throws {
    let world = SimulatedWorld()
    let trace = Trace()
    let kernel = SimulatedKernel(world: world)
    let set = try kernel.makePollSet()
    let (near, far) = try kernel.socketPair()
    _ = try kernel.watch(near, for: .read, token: 5, in: set)
    world.run("loop") {
      let peer = world.thread("peer") {
        world.sleep(20 * millisecond)
        trace.note("wake")
        kernel.wake()
        trace.note("woken")
        world.sleep(20 * millisecond)
        _ = try? withUnsafeBytes(of: 1) { bytes throws in try kernel.write(far, bytes) }
        trace.note("written")
      }
      for deadline in [10, 50, 60] {
        let ready = wait(kernel, set, until: Int64(deadline) * millisecond)
        trace.note("\(world.now / millisecond): \(ready)")
      }
      world.join(peer)
    }
    #expect(trace.all == ["10: []", "wake", "woken", "20: []", "written", "40: [5]"])
  }

  @Test("a gate opens for one that waits, or its time is over")
  func gate() {
    let world = SimulatedWorld()
    let kernel = SimulatedKernel(world: world)
    let trace = Trace()
    world.run {
      let early = kernel.makeGate()
      let late = kernel.makeGate()
      let opener = world.thread("opener") {
        world.sleep(5 * millisecond)
        early.open()
        world.sleep(10 * millisecond)
        late.open()
      }
      trace.note("\(early.wait(atMost: 10 * millisecond)) \(world.now / millisecond)")
      trace.note("\(late.wait(atMost: 5 * millisecond)) \(world.now / millisecond)")
      trace.note("\(late.wait(atMost: .max)) \(world.now / millisecond)")
      world.join(opener)
    }
    #expect(trace.all == ["true 5", "false 10", "true 15"])
  }

  @Test("a world that cannot go on says which thread waits for what")
  func deadlock() throws {
    let world = SimulatedWorld()
    let reports = Trace()
    let kernel = SimulatedKernel(world: world)
    let set = try kernel.makePollSet()
    // Weak: a kernel keeps its world, and the world its handler.
    world.whenDeadlocked { [weak kernel] report in
      reports.note(report)
      kernel?.wake()
    }
    world.run {
      let loop = world.thread("loop") {
        world.sleep(3 * millisecond)
        _ = wait(kernel, set, until: .max)
      }
      world.join(loop)
    }
    #expect(
      reports.all == [
        "simulated world: at 3000000 ns every thread is blocked for ever: "
          + "'main' in join of 'loop', 'loop' in a loop's wait"
      ])
  }

  @Test("a deadlock without a handler ends the process")
  func deadlockTraps() async {
    await #expect(processExitsWith: .failure) {
      let kernel = SimulatedKernel()
      let set = try kernel.makePollSet()
      _ = wait(kernel, set, until: .max)
    }
  }

  @Test("time waits while the world is held, and no deadlock is reported")
  func held() {
    let world = SimulatedWorld()
    let hold = world.holds.open("download")
    #expect(world.holds.names == ["download"])
    let trace = Trace()
    world.run {
      let sleeper = world.thread("sleeper") {
        world.sleep(millisecond)
        trace.note("slept")
      }
      let releaser = world.thread("releaser") {
        trace.note("release at \(world.now)")
        hold.release()
        hold.release()
      }
      world.join(sleeper)
      world.join(releaser)
    }
    #expect(trace.all == ["release at 0", "slept"])
    #expect(world.holds.names == [])
  }

  @Test(
    "a held clock does not jump: the loop waits for its input",
    arguments: [ClockMode.virtual, .skipIdle])
  func heldClock(mode: ClockMode) throws {
    let world = SimulatedWorld()
    let kernel = SimulatedKernel(world: world, clock: mode)
    let set = try kernel.makePollSet()
    let (near, far) = try kernel.socketPair()
    _ = try kernel.watch(near, for: .read, token: 1, in: set)
    let hold = kernel.clock.holds.open("reply")
    let trace = Trace()
    world.run {
      let peer = world.thread("peer") {
        world.sleep(5 * millisecond)
        _ = try? withUnsafeBytes(of: UInt8(1)) { bytes throws in try kernel.write(far, bytes) }
        world.sleep(5 * millisecond)
        hold.release()
      }
      let deadline = 60_000 * millisecond
      trace.note("\(wait(kernel, set, until: deadline)) at \(kernel.now() / millisecond)")
      kernel.unwatch(near, in: set)
      trace.note("\(wait(kernel, set, until: deadline)) at \(kernel.now() / millisecond)")
      trace.note("world \(world.now / millisecond)")
      world.join(peer)
    }
    let first = mode == .virtual ? 0 : 5
    #expect(trace.all == ["[1] at \(first)", "[] at 60000", "world 10"])
  }

  @Test("descriptors that are ready together are reported in order of readiness, in turn")
  func arrival() throws {
    let kernel = SimulatedKernel()
    let set = try kernel.makePollSet()
    try fill(kernel, set, [3, 1, 2])
    #expect(
      (1...4).map { _ in poll(kernel, set, atMost: 2) } == [[3, 1], [2, 3], [1, 2], [3, 1]])
  }

  @Test("a seed decides another order, the same every time")
  func seeded() throws {
    let orders = try (0..<40).map { seed in
      let kernel = SimulatedKernel()
      kernel.world.setReadinessOrder(.seeded(UInt64(seed / 2)))
      let set = try kernel.makePollSet()
      try fill(kernel, set, [1, 2, 3])
      return poll(kernel, set, atMost: 3)
    }
    for pair in stride(from: 0, to: 40, by: 2) { #expect(orders[pair] == orders[pair + 1]) }
    #expect(Set(orders).count == 6)
  }

  @Test("a step of the wall clock ends the wait of a kernel that watches it")
  func wallSteps() throws {
    let world = SimulatedWorld()
    let kernel = SimulatedKernel(world: world)
    let set = try kernel.makePollSet()
    let wall = kernel.wallTime()
    world.stepWallClock(by: 5 * millisecond)
    #expect(kernel.wallTime() == wall + 5 * millisecond)
    #expect(kernel.wallClockSteps == 0)
    try kernel.watchWallClock(true)
    world.run {
      let stepper = world.thread("stepper") {
        world.sleep(millisecond)
        world.stepWallClock(by: -2 * millisecond)
      }
      #expect(wait(kernel, set, until: .max) == [])
      #expect(kernel.now() == millisecond)
      #expect(kernel.wallClockSteps == 1)
      world.join(stepper)
    }
    #expect(kernel.wallTime() == wall + 4 * millisecond)
  }

  @Test("a file cannot be watched, and is read to its end")
  func file() throws {
    let kernel = SimulatedKernel()
    let set = try kernel.makePollSet()
    let fd = kernel.openFile(Array("moon".utf8))
    #expect(try !kernel.watch(fd, for: .read, token: 1, in: set))
    var bytes = [UInt8](repeating: 0, count: 3)
    #expect(try bytes.withUnsafeMutableBytes { try kernel.read(fd, into: $0) } == 3)
    #expect(try bytes.withUnsafeMutableBytes { try kernel.read(fd, into: $0) } == 1)
    #expect(try bytes.withUnsafeMutableBytes { try kernel.read(fd, into: $0) } == 0)
    kernel.close(fd)
    #expect(!kernel.isOpen(fd))
  }
}

private func wait(
  _ kernel: SimulatedKernel, _ set: PollSetID, until deadline: Int64
) -> [UInt64] {
  withUnsafeTemporaryAllocation(of: ReadyEvent.self, capacity: 8) { buffer in
    buffer.prefix(kernel.wait(set, until: deadline, into: buffer)).map(\.token)
  }
}

private func poll(_ kernel: SimulatedKernel, _ set: PollSetID, atMost count: Int) -> [UInt64] {
  withUnsafeTemporaryAllocation(of: ReadyEvent.self, capacity: count) { buffer in
    buffer.prefix(kernel.poll(set, into: buffer)).map(\.token)
  }
}

/// Watches a pair for each token and makes them readable in that order.
private func fill(_ kernel: SimulatedKernel, _ set: PollSetID, _ tokens: [UInt64]) throws {
  let pairs = try tokens.map { (try kernel.socketPair(), $0) }
  for ((near, _), token) in pairs.reversed() {
    _ = try kernel.watch(near, for: .read, token: token, in: set)
  }
  for ((_, far), _) in pairs {
    _ = try withUnsafeBytes(of: UInt8(1)) { bytes throws in try kernel.write(far, bytes) }
  }
}
