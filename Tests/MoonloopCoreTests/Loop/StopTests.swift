// Stopping a run: which run, when it takes effect, and what a caller learns of it.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct StopTests {
  @Test func `a stop ends the run at the end of its pass, with the rest of the pass served`() throws
  {
    try withLoop { rig in  // R15
      try rig.observe()
      try rig.source("a", order: 1, signalled: true) { _ in rig.loop.stop() }
      try rig.source("b", order: 2, signalled: true)
      rig.block("block")
      rig.run(for: 5)
      rig.expect("entry \(busy) block a b exit stopped")
    }
  }

  @Test func `what is pending when the run is stopped stays pending`() throws {
    try withLoop { rig in  // R15
      let late = try rig.source("late")
      try rig.source("s", signalled: true) { _ in
        rig.loop.stop()
        late.signal()
        rig.block("block after the sources") { late.signal() }
      }
      rig.run(for: 5)
      rig.expect("s block after the sources stopped")
      rig.run(for: 0)
      rig.expect("late timedOut")
    }
  }

  @Test(
    "a stop before a ready port is served the same with and without observers",
    arguments: [false, true])
  func stopBeforeReadyPort(isWatched: Bool) throws {
    try withLoop { rig in  // R15, R27: what is ready before the sleep needs no sleep.
      if isWatched { try rig.observe([.beforeWaiting, .afterWaiting]) }
      let port = try rig.port("p")
      try rig.observe(.beforeSources, name: "stopper", repeats: false) { _, _ in rig.loop.stop() }
      try port.post(1)
      rig.run(for: 5)
      rig.expect("stopper:beforeSources p:1 stopped")
    }
  }

  @Test func `a stop of a loop that does not run has no effect and says so`() throws {
    try withLoop { rig in  // R16
      try rig.source("s")
      #expect(!rig.loop.stop())
      rig.run(for: 1)
      rig.expect("timedOut")
      #expect(!rig.loop.wasStopped)
    }
  }

  @Test func `a stop is reported beside the result when another word hides it`() throws {
    try withLoop { rig in  // R19
      try rig.source("s", signalled: true) { _ in rig.loop.stop() }
      rig.run(for: 5, returnAfterSource: true)
      rig.expect("s handledSource")
      #expect(rig.loop.wasStopped)
      rig.run(for: 1, returnAfterSource: true)
      rig.expect("timedOut")
      #expect(!rig.loop.wasStopped)
    }
  }

  @Test func `the second form is remembered for the next run`() throws {
    try withLoop { rig in  // the "better" of R16
      try rig.source("s", signalled: true)
      rig.loop.stopWhenNextLooking()
      rig.run(for: 5)
      rig.expect("stopped")
      #expect(rig.loop.wasStopped)
      rig.run(for: 1)
      rig.expect("s timedOut")
    }
  }

  @Test func `the second form ends the run under way, from any thread`() throws {
    try withLoop { rig in
      try rig.source("s")
      let thread = rig.thread {
        rig.spend(1)
        rig.loop.stopWhenNextLooking()
      }
      rig.run(for: 5)
      rig.run(for: 1)
      rig.expect("stopped timedOut")
      rig.world.join(thread)
    }
  }

  @Test func `the second form, asked for in exit, ends the next run`() throws {
    try withLoop { rig in  // Not lost between a run that is over and the next.
      try rig.source("s")
      try rig.observe(.exit, repeats: false) { _, _ in
        rig.world.join(rig.thread { rig.loop.stopWhenNextLooking() })
      }
      rig.run(for: 1)
      rig.run(for: 1)
      rig.run(for: 1)
      rig.expect("exit timedOut stopped timedOut")
    }
  }

  @Test func `a stop is for the run that is innermost when it is asked for`() throws {
    try withLoop { rig in  // R99
      try rig.source("holds", modes: ["inner"])
      try rig.source("s", signalled: true) { _ in
        rig.loop.stop()
        rig.run("inner", for: 1)
      }
      rig.run(for: 5)
      rig.expect("s timedOut stopped")
    }
  }

  @Test func `a stop twice in the inner run does not reach the outer one`() throws {
    try withLoop { rig in  // R99
      try rig.source("inner", modes: ["inner"], signalled: true) { _ in
        rig.loop.stop()
        rig.loop.stop()
      }
      try rig.source("outer", signalled: true) { _ in rig.run("inner", for: 5) }
      rig.run(for: 2)
      rig.expect("outer inner stopped timedOut")
    }
  }

  @Test func `another thread's stop does not reach the run after the one it met`() throws {
    try withLoop { rig in  // R16, R99
      try rig.source("s")
      try rig.observe(.exit, repeats: false) { _, _ in
        rig.world.join(rig.thread { rig.loop.stop() })
      }
      rig.run(for: 1)
      rig.run(for: 1)
      rig.expect("exit timedOut timedOut")
    }
  }
}
