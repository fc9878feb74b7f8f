// In-process ports: messages in order, one a callback, none lost.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct PortTests {
  @Test func `messages come one a callback, in order; ready ports take turns`() throws {
    try withLoop { rig in  // R54
      let a = try rig.port("a")
      let b = try rig.port("b")
      for number in 1...3 { try a.post(number) }
      for number in 1...2 { try b.post(number) }
      rig.run(for: 1)
      rig.expect("a:1 b:1 a:2 b:2 a:3 timedOut")
    }
  }

  @Test func `a port emptied in another mode stands at the end when it is ready again`() throws {
    try withLoop { rig in  // R54
      let a = try rig.port("a", modes: [.default, "other"])
      let b = try rig.port("b")
      try a.post(1)
      rig.run("other", for: 0)
      try b.post(1)
      try a.post(2)
      rig.run(for: 1)
      rig.expect("a:1 timedOut b:1 a:2 timedOut")
    }
  }

  @Test func `what arrives while no mode of the port runs waits`() throws {
    try withLoop { rig in  // R55, R57, R88
      let port = try rig.port("p")
      try rig.source("holds", modes: ["other"])
      try port.post(1)
      rig.run("other", for: 1)
      rig.loop.remove(port)
      try port.post(2)
      try rig.loop.add(port, modes: ["third"])
      rig.run("third", for: 1)
      rig.expect("timedOut p:1 p:2 timedOut")
    }
  }

  @Test func `an invalidated port makes no calls, and posting to it fails`() throws {
    try withLoop { rig in  // R57, R127
      let port = try rig.port("p") { $0.invalidate() }
      try port.post(1)
      try port.post(2)
      rig.run(for: 1)
      rig.expect("p:1 finished")
      #expect(throws: LoopError.invalidItem(port.label)) { try port.post(3) }
      #expect(throws: LoopError.invalidItem(port.label)) { try rig.loop.add(port) }
    }
  }

  @Test func `a full port refuses`() throws {
    try withLoop { rig in
      let port = try rig.port("p", capacity: 2)
      try port.post(1)
      try port.post(2)
      #expect(throws: LoopError.portFull(port.label, capacity: 2)) { try port.post(3) }
      rig.run(for: 0)
      try port.post(4)
      rig.run(for: 1)
      rig.expect("p:1 timedOut p:2 p:4 timedOut")
    }
  }

  @Test func `request and reply through a private mode`() throws {
    try withLoop { rig in  // R58
      let served = try rig.port("default")
      let reply = try rig.port("reply", modes: ["private"])
      let other = rig.thread("server") {
        rig.spend(1)
        try? served.post("not now")
        try? reply.post("answer")
      }
      rig.run("private", for: 5, returnAfterSource: true)
      rig.expect("reply:answer handledSource")
      rig.run("private", for: 2, returnAfterSource: true)
      rig.run(for: 0)
      rig.expect("timedOut default:not now timedOut")
      rig.world.join(other)
    }
  }

  @Test func `a message whose end posts to the port is released outside of its lock`() throws {
    final class Message: Sendable {
      let port: Loop.Port
      init(_ port: Loop.Port) { self.port = port }
      deinit {
        _ = port.waiting
        try? port.post("echo")
      }
    }
    try withLoop { rig in
      let port = rig.track(
        Loop.Port(name: "p") { _, message in rig.log(message is String ? "echo" : "message") })
      try rig.loop.add(port)
      try port.post(Message(port))
      rig.run(for: 0)
      rig.run(for: 0)
      rig.expect("message timedOut echo timedOut")
      port.invalidate()
    }
  }
}
