// Descriptors: level-triggered, one event a pass, held back and never lost.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct DescriptorTests {
  @Test func `while data is left there is another callback in a later pass`() throws {
    try withStream { rig, near, far in  // R61
      try rig.observe(.beforeTimers, name: "-")
      try rig.descriptor("d", near) { _ in rig.log(try rig.receive(from: near, atMost: 1)) }
      try rig.send("xyz", to: far)
      rig.run(for: 1)
      rig.expect(
        "-:beforeTimers d:read x -:beforeTimers d:read y -:beforeTimers d:read z "
          + "-:beforeTimers timedOut")
    }
  }

  @Test func `a one-shot event is disabled by its callback until enabled again`() throws {
    try withStream { rig, near, far in  // R62, R65
      let source = try rig.descriptor("d", near, reenabled: [])
      try rig.send("x", to: far)
      rig.run(for: 1)
      rig.expect("d:read timedOut")
      #expect(source.enabled == [])
      source.enable(.read)
      rig.run(for: 1)
      rig.expect("d:read timedOut")
    }
  }

  @Test func `a one-shot event can be enabled in its callback`() throws {
    try withStream { rig, near, far in  // R62
      try rig.descriptor("d", near, reenabled: []) { source in
        if rig.trace.count < 3 { source.enable(.read) }
      }
      try rig.send("x", to: far)
      rig.run(for: 1)
      rig.expect("d:read d:read d:read timedOut")
    }
  }

  @Test func `writable comes once, and with a full buffer when there is space`() throws {
    try withStream(capacity: 4) { rig, near, far in  // R63
      let source = try rig.descriptor("d", near, events: .write)
      rig.run(for: 1)
      rig.expect("d:write timedOut")
      try rig.send("full", to: near)
      source.enable(.write)
      let reader = rig.thread {
        rig.spend(1)
        _ = try? rig.receive(from: far)
      }
      rig.run(for: 3, returnAfterSource: true)
      rig.expect("d:write handledSource")
      #expect(rig.clock == "2")
      rig.world.join(reader)
    }
  }

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

  @Test func `disabled events are held back, not lost`() throws {
    try withStream { rig, near, far in  // R65, R88
      let source = try rig.descriptor("d", near)
      source.disable(.read)
      try rig.send("x", to: far)
      rig.run(for: 1)
      try rig.source("holds", modes: ["other"])
      source.enable(.read)
      rig.run("other", for: 1)
      rig.run(for: 0)
      rig.expect("timedOut timedOut d:read timedOut")
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

  @Test func `in several modes it is served in whichever runs`() throws {
    try withStream { rig, near, far in  // R87
      try rig.descriptor("d", near, modes: ["a", "b"]) { _ in _ = try rig.receive(from: near) }
      try rig.send("x", to: far)
      rig.run("b", for: 0)
      rig.run("a", for: 1)
      rig.expect("d:read timedOut timedOut")
      #expect(rig.clock == "1")
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
