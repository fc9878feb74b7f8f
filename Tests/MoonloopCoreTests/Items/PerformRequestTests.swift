// Perform requests: they count as sources, can be cancelled, delayed and waited for.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct PerformRequestTests {
  @Test func `all requests for the mode are performed in one pass, in order, before sources`()
    throws
  {
    try withLoop { rig in  // R111, R13
      try rig.observe(.beforeTimers, name: "-")
      try rig.source("s", signalled: true)
      for name in ["a", "b"] { rig.block(name, asSource: true) }
      rig.block("other", modes: ["other"], asSource: true)
      rig.run(for: 0)
      rig.expect("-:beforeTimers a b s timedOut")
      rig.block("c", asSource: true)
      rig.run(for: 5, returnAfterSource: true)
      rig.expect("-:beforeTimers c handledSource")
    }
  }

  @Test func `a request keeps its modes non-empty and is performed once`() throws {
    try withLoop { rig in  // R112, R116
      let request = rig.block("r", modes: ["a", "b"], asSource: true)
      #expect(!request.wasPerformed)
      rig.run("a")
      rig.run("b")
      rig.expect("r finished finished")
      #expect(request.wasPerformed && !request.cancel())
    }
  }

  @Test func `a delayed request is a one-shot timer; delay zero is the next cycle`() throws {
    try withLoop { rig in  // R114
      rig.loop.perform(after: .seconds(2)) { rig.log("two@\(rig.clock)") }
      rig.loop.perform(after: .zero) {
        rig.log("zero")
        rig.loop.perform(after: .zero) { rig.log("again") }
      }
      rig.loop.perform(after: .seconds(2)) { rig.log("three") }
      rig.expect("")
      rig.run()
      rig.expect("zero again two@2 three finished")
    }
  }

  @Test func `outstanding requests can be cancelled`() throws {
    try withLoop { rig in  // R115
      let block = rig.block("b")
      let request = rig.block("r", asSource: true)
      let delayed = rig.loop.perform(after: .seconds(1)) { rig.log("delayed") }
      let late = rig.loop.perform(after: .seconds(1)) { rig.log("late") }
      for one in [block, request, late] { #expect(one.cancel() && one.isCancelled) }
      #expect(rig.loop.cancel(delayed) && !rig.loop.cancel(delayed))
      rig.run()
      rig.expect("finished")
      #expect(rig.clock == "1")
    }
  }

  @Test func `with wait: performed, or timed out with the obstacle`() throws {
    try withLoop { rig in  // R113
      let outcome = rig.loop.performAndWait { rig.log("at once") }
      #expect(outcome == .performed)
      let first = rig.thread {
        let outcome = rig.loop.performAndWait(timeout: .seconds(1)) { rig.log("never") }
        rig.log("\(outcome)")
      }
      rig.world.join(first)
      rig.expect("at once timedOut(the loop is not running)")
      let second = rig.thread {
        rig.log("\(rig.loop.performAndWait(timeout: .seconds(1)) { rig.log("block") })")
        let outcome = rig.loop.performAndWait(modes: ["x"], timeout: .seconds(1)) {}
        rig.log("\(outcome == .timedOut(.otherModeOrBusy))")
      }
      try rig.source("s")
      rig.run(for: 4)
      rig.expect("block performed true timedOut")
      rig.world.join(second)
    }
  }

  @Test func `a waiting caller gets the end of the loop`() throws {
    let rows = Rows()
    let world = SimulatedWorld()
    world.run {
      var waiter: SimulatedThread?
      Loop.isolated(kernel: SimulatedKernel(world: world)) { loop in
        waiter = world.thread("waiter") {
          rows.add("\(loop.performAndWait {})")
          rows.add("\(loop.changeAndWait { _ in })")
        }
        world.sleep(1)
      }
      if let waiter { world.join(waiter) }
    }
    #expect(rows.rows == ["ended", "false"])
  }
}
