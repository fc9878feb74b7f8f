// Descriptors: level-triggered, one event a pass, held back and never lost.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct DescriptorTests {
  @Test func `both directions are reported, one a pass, read first`() throws {
    try withStream { rig, near, far in  // R29
      try rig.descriptor("d", near, events: [.read, .write]) { _ in
        _ = try? rig.receive(from: near)
      }
      try rig.send("x", to: far)
      rig.run(for: 0)
      rig.run(for: 0)
      rig.expect("d:read timedOut d:write timedOut")
    }
  }

  @Test func `the end of the peer is a read that gives the end of file`() throws {
    try withStream { rig, near, far in  // R64
      try rig.descriptor("d", near, closes: true) { source in
        rig.log("<\(try rig.receive(from: near))>")
        source.invalidate()
      }
      rig.kernel.close(far)
      rig.run(for: 1)
      rig.expect("d:read <> finished")
      #expect(!rig.kernel.isOpen(near))
    }
  }

  @Test("invalidated it makes no calls, and closes what it owns", arguments: [false, true])
  func invalidated(closes: Bool) throws {
    try withStream { rig, near, far in  // R66, R127
      let source = try rig.descriptor("d", near, closes: closes, modes: [.default, "b"]) {
        $0.invalidate()
      }
      try rig.send("x", to: far)
      rig.run(for: 1)
      rig.expect("d:read finished")
      #expect(rig.kernel.isOpen(near) == !closes)
      #expect(source.fd == (closes ? -1 : near))
      #expect(throws: LoopError.invalidItem(source.label)) { try rig.loop.add(source) }
    }
  }

  @Test func `a new source on a number that was closed gets no stale event`() throws {
    try withStream { rig, near, far in  // R66
      let (near2, far2) = try rig.kernel.socketPair()
      var second: Loop.DescriptorSource?
      try rig.descriptor("one", near) { source in
        second?.invalidate()
        source.invalidate()
        let (again, _) = try rig.kernel.socketPair()
        #expect(again == near2)
        try rig.descriptor("new", again)
      }
      second = try rig.descriptor("two", near2, closes: true)
      try rig.send("x", to: far)
      try rig.send("x", to: far2)
      rig.run(for: 1)
      rig.expect("one:read timedOut")
      rig.kernel.close(far2)
    }
  }

  @Test func `a descriptor that is watched already, or refused, leaves its source free`() throws {
    try withStream { rig, near, _ in
      let one = try rig.descriptor("one", near)
      let two = try rig.descriptor("two", near, modes: [])
      #expect(throws: LoopError.descriptorInUse(fd: near, by: one.label)) {
        try rig.loop.add(two, modes: [.default])
      }
      #expect(throws: LoopError.self) { try rig.loop.add(two, modes: [.common]) }
      #expect(!two.hasOwner && rig.loop.modes(of: two) == [])
      #expect(!rig.loop.contains(two, mode: .common))
      let bad = try rig.descriptor("bad", 9_999_999, modes: [])
      #expect(throws: LoopError.self) { try rig.loop.add(bad) }
      #expect(!bad.hasOwner)
    }
  }

  @Test func `a file is always ready, and starves no other`() throws {
    try withLoop { rig in  // R31
      let fd = rig.kernel.openFile([1, 2, 3])
      try rig.descriptor("f", fd, closes: true) { source in
        if try rig.receive(from: fd, atMost: 1) == "" { source.invalidate() }
      }
      let port = try rig.port("p")
      try port.post(1)
      rig.run(for: 1)
      rig.expect("p:1 f:read f:read f:read f:read timedOut")
    }
  }

  private func withStream(
    capacity: Int = 1 << 16, _ body: (Rig, Int32, Int32) throws -> Void
  ) throws {
    try withLoop { rig in
      let (near, far) = try rig.kernel.socketPair(capacity: capacity)
      try body(rig, near, far)
      rig.kernel.close(near)
      rig.kernel.close(far)
    }
  }
}
