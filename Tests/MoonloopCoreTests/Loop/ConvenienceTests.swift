// NSRunLoop's methods, keep-alive, tolerance and wall-clock dates.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct ConvenienceTests {
  @Test func `run until a date goes on after sources, at least once`() throws {
    try withLoop { rig in  // R128, R13
      let source = try rig.source("s")
      try rig.timer("t", after: 1, every: 1) { _ in source.signal() }
      #expect(rig.loop.run(until: rig.instant(2.5)) == .timedOut)
      rig.expect("t@1 s t@2 s")
      source.signal()
      #expect(rig.loop.run(until: rig.instant(0)) == .timedOut)
      rig.expect("s")
    }
  }

  @Test func `run until a date ends when the mode is empty or the loop is stopped`() throws {
    try withLoop { rig in  // R128
      #expect(rig.loop.run(until: .distantFuture) == .finished)
      try rig.timer("t", after: 1)
      #expect(rig.loop.run(until: .distantFuture) == .finished)
      try rig.source("s", signalled: true) { _ in rig.loop.stop() }
      #expect(rig.loop.run(until: .distantFuture) == .stopped)
      rig.expect("t@1 s")
    }
  }

  @Test func `run a mode before a date says whether there was anything`() throws {
    try withLoop { rig in  // R128
      #expect(!rig.loop.run(mode: .default, before: .distantFuture))
      try rig.source("s", signalled: true)
      #expect(rig.loop.run(mode: .default, before: .distantFuture))
      #expect(rig.loop.run(mode: .default, before: rig.instant(1)))
      rig.expect("s")
      #expect(rig.clock == "1")
    }
  }

  @Test func `the limit date polls once and returns the next timer`() throws {
    try withLoop { rig in  // R129
      #expect(rig.loop.limitDate(mode: .default) == nil)
      try rig.timer("t", after: 0)
      #expect(rig.loop.limitDate(mode: .default) == nil)
      let source = try rig.source("s", signalled: true)
      #expect(rig.loop.limitDate(mode: .default) == .distantFuture)
      try rig.timer("u", after: 3)
      #expect(rig.loop.limitDate(mode: .default) == rig.instant(3))
      rig.expect("t@0 s")
      source.invalidate()
    }
  }
}

@Suite struct KeepAliveTests {
  @Test func `items that do not hold a run let it finish`() throws {
    try withLoop { rig in  // R8, R9
      let (near, far) = try rig.kernel.socketPair()
      let timer = try rig.timer("t", after: 1, every: 1, modes: [.default, "other"])
      let source = try rig.source("s")
      let port = try rig.port("p")
      let descriptor = try rig.descriptor("d", near)
      for item in [timer, source, port, descriptor] as [Loop.Item] {
        rig.loop.setKeepsAlive(item, false)
      }
      rig.run()
      rig.expect("finished")
      try rig.timer("holds", after: 2.5)
      rig.run()
      rig.expect("t@1 t@2 holds@2.5 finished")
      timer.keepsLoopAlive = true
      rig.run(for: 1)
      rig.expect("t@3 timedOut")
      rig.kernel.close(near)
      rig.kernel.close(far)
    }
  }
}

@Suite struct ToleranceTests {
  @Test func `tolerance coalesces wake-ups, is never early and keeps the grid`() throws {
    try withLoop { rig in  // R83
      try rig.observe(.afterWaiting, name: "-")
      try rig.timer("a", after: 1, every: 4, tolerance: 9)
      try rig.timer("b", after: 2.5, tolerance: 0.25)
      rig.run(for: 8)
      // a may be late by half its interval, but b must fire at 2.75: both fire then.
      rig.expect("-:afterWaiting a@2.75 b@2.75 -:afterWaiting a@7 -:afterWaiting timedOut")
    }
  }

  @Test func `without tolerance a timer is on time beside one that has some`() throws {
    try withLoop { rig in  // R68, R83
      let timer = try rig.timer("slack", after: 1, tolerance: 5)
      #expect(timer.tolerance == .seconds(5))
      try rig.timer("exact", after: 3)
      rig.run()
      rig.expect("slack@3 exact@3 finished")
    }
  }
}

@Suite struct WallClockTests {
  @Test func `a step of the wall clock moves no timer`() throws {
    try withLoop { rig in  // R86
      try rig.timer("t", after: 5)
      rig.world.stepWallClock(by: 3_600_000_000_000)
      rig.run()
      rig.expect("t@5 finished")
    }
  }

  @Test(
    "a timer with a wall date follows steps, also after a second date", arguments: [false, true])
  func follows(isSetTwice: Bool) throws {
    try withLoop { rig in
      try rig.observe(.afterWaiting, name: "-")
      let timer = try rig.timer("t", after: 500)
      let wall = rig.world.wallTime
      if isSetTwice { try rig.loop.setWallDate(of: timer.id, to: wall + 50_000_000_000) }
      try rig.loop.setWallDate(of: timer.id, to: wall + 100_000_000_000)
      let thread = rig.thread {
        rig.spend(10)
        rig.world.stepWallClock(by: 60_000_000_000)
      }
      rig.run()
      rig.expect("-:afterWaiting t@40 finished")
      rig.world.join(thread)
    }
  }
}
