// In-process ports: messages in order, one a callback, none lost.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct PortTests {
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
