// Modes: which items take part in a run, common modes, and many modes.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct ModeTests {
  @Test func `a mode exists from its first use and does not go away`() throws {
    try withLoop { rig in  // R89, R108
      let source = try rig.source("s", modes: ["by item"])
      try rig.observe(modes: ["by observer"])
      rig.block("b", modes: ["by block"])
      source.invalidate()
      #expect(rig.loop.modeNames == [.default, "by item", "by observer", "by block"])
    }
  }

  @Test func `the common modes are at first the default mode, and get later ones for good`() throws
  {
    try withLoop { rig in  // R90, R91, R92
      #expect(rig.loop.isCommonMode(.default))
      let source = try rig.source("s", modes: [.common])
      let timer = try rig.timer("t", after: 0, every: 1, modes: [.common])
      try rig.observe(.entry, modes: [.common])
      rig.loop.addCommonMode("tracking")
      rig.loop.addCommonMode("tracking")
      #expect(rig.loop.isCommonMode("tracking"))
      #expect(
        rig.loop.contains(source, mode: "tracking") && rig.loop.contains(timer, mode: "tracking"))
      source.signal()
      rig.block("b", modes: [.common])
      rig.run("tracking", for: 0)
      rig.expect("entry b s t@0 timedOut")
    }
  }

  @Test func `taken from one common mode an item stays in the others and a common item`() throws {
    try withLoop { rig in  // R93
      rig.loop.addCommonMode("a")
      let items: [Loop.Item] = [
        try rig.source("s", modes: [.common]), try rig.timer("t", after: 1, modes: [.common]),
        try rig.port("p", modes: [.common]), try rig.observe(modes: [.common]),
      ]
      for item in items {
        rig.loop.remove(item, modes: ["a"])
        #expect(rig.loop.modes(of: item) == [.default])
        #expect(rig.loop.contains(item, mode: .common))
      }
      rig.loop.addCommonMode("b")
      for item in items {
        #expect(rig.loop.modes(of: item) == [.default, "b"])
        rig.loop.remove(item, modes: [.common])
        #expect(rig.loop.modes(of: item) == [])
        #expect(!rig.loop.contains(item, mode: .common))
      }
      for case let observer as Loop.Observer in items { observer.invalidate() }
    }
  }

  /// Modes on both sides of the 63rd; from there on they share a bit in the masks.
  static let edges = [1, 62, 63, 64, 150, 199]

  @Test("items of every kind work in the modes beyond the 63rd", arguments: edges)
  func many(index: Int) throws {
    try withLoop { rig in
      let names = (1...199).map { ModeName("m\($0)") }
      for name in names { rig.block("-", modes: [name]) }
      let name = names[index - 1]
      let others = Self.edges.filter { $0 != index }.map { names[$0 - 1] }
      let (near, far) = try rig.kernel.socketPair()
      let source = try rig.source("s", modes: [name] + others)
      let timer = try rig.timer("t", after: 0, every: 1, modes: [name] + others)
      let port = try rig.port("p", modes: [name] + others)
      let descriptor = try rig.descriptor("d", near, modes: [name] + others) { _ in
        _ = try rig.receive(from: near)
      }
      let observer = try rig.observe(.entry, modes: [name] + others)
      for other in others {
        for item in [source, timer, port, descriptor, observer] as [Loop.Item] {
          rig.loop.remove(item, modes: [other])
          #expect(!rig.loop.contains(item, mode: other) && rig.loop.contains(item, mode: name))
        }
      }
      source.signal()
      try port.post(1)
      try rig.send("x", to: far)
      rig.run(name, for: 0.5)
      rig.expect("entry - s p:1 t@0 d:read timedOut")
      timer.nextFire = rig.instant(0.75)
      rig.run(name, for: 0.5)
      rig.expect("entry t@0.75 timedOut")
      timer.nextFire = rig.instant(9)
      rig.run(name, for: 0.5)
      rig.expect("entry timedOut")
      timer.invalidate()
      for other in others { rig.run(other, for: 0) }
      rig.expect("- timedOut - timedOut - timedOut - timedOut - timedOut")
      rig.kernel.close(near)
      rig.kernel.close(far)
    }
  }

  @Test func `items in a hundred modes are one item`() throws {
    try withLoop { rig in  // R48, R79
      let names = (0..<100).map { ModeName("m\($0)") }
      let timer = try rig.timer("t", after: 1, every: 1, modes: names)
      let source = try rig.source("s", modes: names)
      for (index, name) in names.enumerated() where index % 9 == 0 {
        source.signal()
        rig.run(name, for: 1)
        rig.expect("s t@\(index / 9 + 1) timedOut")
      }
      source.invalidate()
      timer.invalidate()
      for name in names { #expect(rig.loop.run(mode: name) == .finished) }
    }
  }
}
