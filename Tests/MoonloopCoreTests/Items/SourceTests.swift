// Version-0 sources: when a signal is served, in which run, and how often.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct SourceTests {
  @Test func `any number of signals before it is one perform`() throws {
    try withLoop { rig in  // R39
      let source = try rig.source("s")
      for _ in 1...3 { source.signal() }
      #expect(source.isSignalled)
      rig.run(for: 1)
      rig.expect("s timedOut")
      #expect(!source.isSignalled)
    }
  }

  @Test func `a signal in its own callback counts anew, in the next pass, without a sleep`() throws
  {
    try withLoop { rig in  // R39, R44
      try rig.observe()
      var left = 2
      try rig.source("s", signalled: true) { source in
        #expect(!source.isSignalled)
        left -= 1
        if left > 0 { source.signal() }
      }
      rig.run(for: 1)
      rig.expect("entry \(busy) s \(busy) s \(slept) exit timedOut")
    }
  }

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

  @Test func `a signal without a wake-up is not found at the timeout any more`() throws {
    try withLoop { rig in  // R40, R41
      let source = try rig.source("s")
      let thread = rig.thread {
        rig.spend(1)
        source.signal()
      }
      rig.run(for: 2)
      rig.expect("timedOut")
      rig.run(for: 0)
      rig.expect("s timedOut")
      rig.world.join(thread)
    }
  }

  @Test func `the mark stays over other modes, removal, adding again, and the end of runs`() throws
  {
    try withLoop { rig in  // R41, R88
      try rig.source("holds", modes: ["other"])
      let source = try rig.source("s", signalled: true)
      rig.run("other", for: 1)
      rig.loop.remove(source)
      rig.run("other", for: 1)
      try rig.source("holds")
      rig.run(for: 1)
      #expect(source.isSignalled)
      try rig.loop.add(source, modes: ["third"])
      rig.run("third", for: 0)
      rig.expect("timedOut timedOut timedOut s timedOut")
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

  @Test func `signalled sources are performed by order, equal ones in order of their signals`()
    throws
  {
    try withLoop { rig in  // R42
      let sources = try ["c2", "a2", "b1", "d0"].map { name in
        try rig.source(name, order: Int(String(name.last ?? "0")) ?? 0)
      }
      for index in [1, 0, 2, 3, 1] { sources[index].signal() }
      rig.run(for: 0)
      rig.expect("d0 b1 a2 c2 timedOut")
    }
  }

  @Test func `with returnAfterSource one is performed, and the others stay marked`() throws {
    try withLoop { rig in  // R43
      for name in ["c", "b", "a"] {
        try rig.source(name, order: name == "c" ? 2 : 1, signalled: true)
      }
      for _ in 1...4 { rig.run(for: 1, returnAfterSource: true) }
      rig.expect("b handledSource a handledSource c handledSource timedOut")
    }
  }

  @Test func `the set is fixed when the step begins`() throws {
    try withLoop { rig in  // R44
      try rig.observe(.beforeSources, name: "-")
      let early = try rig.source("early", order: -1)
      let late = try rig.source("late", order: 9)
      try rig.source("s", signalled: true) { _ in
        late.signal()
        early.signal()
      }
      rig.run(for: 1)
      rig.expect("-:beforeSources s -:beforeSources early late -:beforeSources timedOut")
    }
  }

  @Test func `before its turn: invalidated is skipped, removed is still performed`() throws {
    try withLoop { rig in  // R45, R52
      var others: [Loop.Source] = []
      try rig.source("s", order: 0, signalled: true) { _ in
        others[0].invalidate()
        rig.loop.remove(others[1])
        rig.block("block")
      }
      others.append(try rig.source("removed", order: 1, signalled: true))
      others.append(try rig.source("invalidated", order: 2, signalled: true))
      others.reverse()
      rig.run(for: 0)
      rig.expect("s removed block timedOut")
      others[1].invalidate()
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

  @Test func `adding twice is adding once`() throws {
    try withLoop { rig in  // R47
      let source = try rig.source("s", signalled: true)
      try rig.loop.add(source)
      rig.loop.remove(source)
      #expect(!rig.loop.contains(source))
      rig.run(for: 1)
      rig.expect("finished")
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

  @Test func `a nested run performs what the outer step has not come to`() throws {
    try withLoop { rig in  // R48, R52
      try rig.source("first", order: 0, signalled: true) { _ in rig.run(for: 0) }
      try rig.source("second", order: 1, signalled: true) { _ in rig.block("block") }
      rig.run(for: 0)
      rig.expect("first second block timedOut timedOut")
    }
  }

  @Test func `sources are re-entrant`() throws {
    try withLoop { rig in  // R49
      var depth = 0
      try rig.source("s", signalled: true) { source in
        depth += 1
        if depth < 3 {
          source.signal()
          rig.run(for: 0)
        }
        rig.log("end")
      }
      rig.run(for: 0)
      rig.expect("s s s end timedOut end timedOut end timedOut")
    }
  }

  @Test func `adding a source from another thread wakes the loop`() throws {
    try withLoop { rig in  // R50
      try rig.observe()
      try rig.source("holds")
      let thread = rig.thread {
        rig.spend(1)
        rig.loop.change { _ in _ = try? rig.source("s", signalled: true) }
      }
      rig.run(for: 3)
      rig.expect("entry \(slept) \(busy) s \(slept) exit timedOut")
      rig.world.join(thread)
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

  @Test func `blocks run after the sources although the last of them was invalidated`() throws {
    try withLoop { rig in  // R52
      try rig.observe(.beforeWaiting)
      var last: Loop.Source?
      try rig.source("first", order: 0, signalled: true) { _ in
        last?.invalidate()
        rig.block("block")
      }
      last = try rig.source("last", order: 1, signalled: true)
      rig.run(for: 1)
      rig.expect("first block beforeWaiting timedOut")
    }
  }

  @Test func `a source in two loops is performed by the one that looks first`() throws {
    try withLoop { rig in  // R48
      let source = try rig.source("s")
      try rig.withOtherLoop { other in
        try other.add(source)
        source.signal()
        #expect(other.run(for: .zero) == .timedOut)
        rig.expect("s")
        source.signal()
      }
      rig.run(for: 0)
      rig.expect("s timedOut")
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
