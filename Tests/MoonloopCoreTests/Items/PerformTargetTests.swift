// Perform requests with an order, and those for a target.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct PerformTargetTests {
  final class Door: Sendable {}

  @Test func `blocks are performed by ascending order, equal ones in order of adding`() throws {
    try withLoop { rig in  // R145
      for (name, order) in [("c", 5), ("a", -1), ("b", 0), ("b2", 0), ("c2", 5), ("a2", -1)] {
        rig.loop.perform(for: nil, order: order) { rig.log(name) }
      }
      rig.block("b3")
      rig.run()
      rig.block("first")
      rig.loop.perform(for: nil, order: -1) { rig.log("before it") }
      rig.block("source", asSource: true)
      rig.loop.perform(for: nil, order: -1, asSource: true) { rig.log("earlier source") }
      rig.run()
      rig.expect(
        "a a2 b b2 b3 c c2 finished before it first earlier source source finished")
    }
  }

  @Test func `an order counts among those of one mode`() throws {
    try withLoop { rig in  // R145, R105
      rig.loop.perform(for: nil, order: 1, modes: ["m"]) { rig.log("m1") }
      rig.loop.perform(for: nil, order: 2) { rig.log("d2") }
      rig.loop.perform(for: nil, order: 0, modes: ["m", .default]) { rig.log("both") }
      rig.run("m")
      rig.run()
      rig.expect("both m1 finished d2 finished")
    }
  }

  @Test func `all that is for a target is taken back, delayed requests too`() throws {
    try withLoop { rig in  // R146, R115
      let (door, gate) = (Door(), Door())
      rig.loop.perform(for: door) { rig.log("door") }
      rig.loop.perform(for: door, asSource: true) { rig.log("door") }
      rig.loop.perform(for: door, after: .seconds(1)) { rig.log("door") }
      rig.loop.perform(for: gate) { rig.log("gate") }
      let single = rig.loop.perform(for: door) { rig.log("door") }
      single.cancel()
      #expect(rig.loop.cancelPerforms(of: door) == 3)
      #expect(rig.loop.cancelPerforms(of: door) == 0)
      rig.run()
      rig.expect("gate finished")
      #expect(rig.clock == "0", "the timer of the delayed request is gone")
      #expect(rig.loop.cancelPerforms(of: gate) == 0, "it was performed")
    }
  }

  @Test func `what another thread has queued for a target is taken back too`() throws {
    try withLoop { rig in  // R146
      let door = Door()
      let thread = rig.thread { rig.loop.perform(for: door) { rig.log("door") } }
      rig.world.join(thread)
      #expect(rig.loop.cancelPerforms(of: door) == 1)
      rig.run()
      rig.expect("finished")
    }
  }

  @Test func `a target is held while a request waits, and no longer`() throws {
    try withLoop { rig in  // R146, R126
      weak var held: Door?
      do {
        let door = Door()
        held = door
        rig.loop.perform(for: door) { rig.log("held") }
        for _ in 0..<100 { rig.loop.perform(for: Door()) {} }
      }
      #expect(held != nil)
      rig.run()
      rig.expect("held finished")
      #expect(held == nil)
    }
  }
}

@Suite struct PortRequestTests {
  @Test func `a port of the own loop answers, in a mode that holds nothing else`() throws {
    try withLoop { rig in  // R147, R58
      let port = rig.track(
        rig.loop.makePort(name: "adds") { _, message in (message as? Int ?? 0) + 1 })
      try rig.loop.add(port)
      try rig.timer("t", after: -1)
      let outcome = rig.loop.request(port, 41)
      guard case .reply(let value) = outcome else { return #expect(Bool(false), "\(outcome)") }
      #expect(value as? Int == 42 && rig.loop.modes(of: port) == [.default])
      try port.post(1)
      rig.run(for: .zero)
      rig.run(for: .zero)
      rig.expect("timedOut t@0 timedOut", "its result is dropped")
      port.invalidate()
    }
  }

  @Test func `a port of another thread's loop answers`() throws {
    try withLoop { rig in  // R147
      let port = Loop.Port(name: "adds") { port, message in
        defer { port.invalidate() }
        return "\(message)!"
      }
      let thread = rig.thread {
        do {
          try rig.withOtherLoop { other in
            try other.add(port)
            other.run()
          }
        } catch { Issue.record(error) }
      }
      let outcome = rig.loop.request(port, "yes", timeout: .seconds(5))
      if case .reply(let value) = outcome { rig.log("\(value)") } else { rig.log("\(outcome)") }
      rig.world.join(thread)
      rig.expect("yes!")
    }
  }

  @Test func `a request without a reply ends at once, a slow one at its time`() throws {
    try withLoop { rig in  // R147
      let plain = try rig.port("plain")
      rig.log("\(rig.loop.request(plain, "x"))@\(rig.clock)")
      let idle = Loop.Port(name: "idle") { _, message in message }
      rig.log("\(rig.loop.request(idle, "x", timeout: .seconds(2)))@\(rig.clock)")
      idle.invalidate()
      rig.log("\(rig.loop.request(idle, "x"))@\(rig.clock)")
      plain.invalidate()
      #expect(rig.trace.dropFirst() == ["unanswered@0", "timedOut@2", "unanswered@2"])
    }
  }
}
