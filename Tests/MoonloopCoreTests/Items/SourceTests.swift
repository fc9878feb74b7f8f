// Version-0 sources: when a signal is served, in which run, and how often.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct SourceTests {
  @Test func `a signal alone does not wake, and is found when something else does`() throws {
    try withLoop { rig in  // R40
      let source = try rig.source("s") { _ in rig.log("@\(rig.clock)") }
      try rig.timer("t", after: 3)
      let thread = rig.thread {
        rig.spend(1)
        source.signal()
      }
      rig.run(for: 5)
      rig.expect("t@3 s @3 timedOut")
      rig.world.join(thread)
    }
  }

  @Test func `a source signalled on no loop is performed when it is on one`() throws {
    try withLoop { rig in  // R41
      let source = try rig.source("s", modes: [])
      source.signal()
      try rig.loop.add(source)
      rig.run(for: 0)
      rig.expect("s timedOut")
    }
  }

  @Test func `schedule and cancel are called for each mode`() throws {
    try withLoop { rig in  // R46, R47, R91, R92
      let source = rig.track(
        Loop.Source(
          name: "s",
          schedule: { source, loop, mode in rig.log("+\(mode)\(loop === rig.loop ? "" : "?")") },
          cancel: { source, loop, mode in rig.log("-\(mode)") },
          perform: { _ in rig.log("s") }))
      try rig.loop.add(source, modes: ["a", "b", "a"])
      try rig.loop.add(source, modes: ["a"])
      rig.loop.addCommonMode("c")
      try rig.loop.add(source, modes: [.common])
      rig.loop.addCommonMode("d")
      rig.loop.remove(source, modes: ["b", "never"])
      rig.expect("+a +b +default +c +d -b")
      source.invalidate()
      rig.expect("-a -default -c -d")
      source.invalidate()
      rig.expect("")
    }
  }

  @Test func `the end of the loop cancels its sources`() throws {
    let log = Rows()
    try withLoop { rig in  // R1
      for names: [ModeName] in [["a", "b"], [.common]] {
        let source = rig.track(
          Loop.Source(name: "s", cancel: { _, _, mode in log.add("-\(mode)") }, perform: { _ in }))
        try rig.loop.add(source, modes: names)
      }
    }
    #expect(log.rows.sorted() == ["-a", "-b", "-default"])
  }

  @Test func `an invalid source can be neither added nor signalled`() throws {
    try withLoop { rig in  // R47
      let source = try rig.source("s")
      source.invalidate()
      source.signal()
      #expect(!source.isSignalled)
      #expect(throws: LoopError.invalidItem(source.label)) { try rig.loop.add(source) }
      #expect(rig.loop.modes(of: source) == [])
    }
  }

  @Test func `in several modes one signal is one perform, by whichever runs first`() throws {
    try withLoop { rig in  // R48
      let source = try rig.source("s", modes: ["a", "b", .default])
      source.signal()
      rig.run("b", for: 0)
      rig.run("a", for: 0)
      rig.run(for: 0)
      rig.expect("s timedOut timedOut timedOut")
    }
  }

  @Test func `a source that another thread adds after the source step is not slept upon`() throws {
    try withLoop { rig in  // R50
      try rig.source("holds")
      try rig.observe(.beforeWaiting, repeats: false) { _, _ in
        rig.world.join(
          rig.thread { rig.loop.change { _ in _ = try? rig.source("s", signalled: true) } })
      }
      rig.run(for: 3)
      rig.expect("beforeWaiting s timedOut")
      rig.block("adder") {
        // The inbox is drained at the end of this step, long after the source step.
        rig.world.join(
          rig.thread { rig.loop.change { _ in _ = try? rig.source("s2", signalled: true) } })
      }
      try rig.timer("t", after: 0) { _ in
        rig.world.join(
          rig.thread { rig.loop.change { _ in _ = try? rig.source("s3", signalled: true) } })
      }
      rig.run(for: 3)
      rig.expect("adder s2 t@3 s3 timedOut")
    }
  }

  @Test func `a source that its first loop has left goes on in its second`() throws {
    try withLoop { rig in  // R46, R48
      let source = try rig.source("s")
      try rig.withOtherLoop { other in
        try other.add(source)
        source.signal()
        rig.loop.remove(source)
        // The other loop was the second; now it is the only one.
        try other.add(source, modes: [.default, "more"])
        other.run(for: .zero)
        rig.expect("s")
        source.signal()
        other.run(mode: "more", for: .zero)
        rig.expect("s")
        #expect(Set(other.modes(of: source)) == [.default, "more"])
        other.remove(source)
        #expect(other.modes(of: source) == ["more"])
        #expect(other.brokenInvariant() == nil)
        source.invalidate()
        #expect(other.run(for: .zero) == .finished)
        #expect(other.run(mode: "more", for: .zero) == .finished)
      }
    }
  }

  @Test func `a source on a loop that has ended can go to another`() throws {
    try withLoop { rig in  // R126
      for names: [ModeName] in [[.default], [.common]] {
        let source = try rig.source("s", modes: [])
        try rig.withOtherLoop { try $0.add(source, modes: names) }
        try rig.loop.add(source)
        #expect(source.isOwned(by: rig.loop))
        source.signal()
        rig.run(for: 0)
        rig.expect("s timedOut")
        source.invalidate()
      }
    }
  }
}

/// Lines that outlive the rig. Unchecked Sendable: written by one thread at a time.
final class Rows: @unchecked Sendable {
  private(set) var rows: [String] = []
  func add(_ row: String) { rows.append(row) }
}
