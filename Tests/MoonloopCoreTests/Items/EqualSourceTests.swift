// Sources that are equal, and how sources describe themselves.

internal import MoonloopCore
internal import Testing

@Suite struct EqualSourceTests {
  /// A source that writes its name, and when it joins a mode and leaves it.
  private func source(
    _ rig: Rig, _ name: String, _ identity: Int?, order: Int = 0
  ) -> Loop.Source {
    rig.track(
      rig.loop.makeSource(
        order: order, name: name, identity: identity,
        schedule: { source, _, mode in rig.log("\(source.name)+\(mode)") },
        cancel: { source, _, mode in rig.log("\(source.name)-\(mode)") },
        perform: { source in rig.log(source.name) }))
  }

  @Test func `a mode takes the first of several equal sources, and answers for it`() throws {
    try withLoop { rig in  // R143
      let (a, b) = (source(rig, "a", 1), source(rig, "b", 1))
      for one in [a, b] { try rig.loop.add(one) }
      #expect(rig.loop.contains(b) && rig.loop.modes(of: b) == [])
      b.signal()
      a.signal()
      rig.run(for: .zero)
      rig.loop.remove(b)
      #expect(!rig.loop.contains(a) && !rig.loop.contains(b))
      try rig.loop.add(b)  // It was signalled (R41).
      rig.run(for: .zero)
      rig.loop.remove(b)
      rig.expect("a+default a timedOut a-default b+default b timedOut b-default")
    }
  }

  @Test func `sources of other orders, identities or without one are not equal`() throws {
    try withLoop { rig in  // R143
      let all = [
        source(rig, "a", 1), source(rig, "b", 2), source(rig, "c", 1, order: 5),
        source(rig, "d", nil), source(rig, "e", nil),
      ]
      for one in all {
        try rig.loop.add(one)
        one.signal()
      }
      rig.run(for: .zero)
      for one in all { one.invalidate() }
      rig.expect(
        "a+default b+default c+default d+default e+default a b d e c timedOut "
          + "a-default b-default c-default d-default e-default")
    }
  }

  @Test func `equal sources count as one among the common items`() throws {
    try withLoop { rig in  // R143, R92, R93
      let (a, b) = (source(rig, "a", 1), source(rig, "b", 1))
      try rig.loop.add(a, modes: [.common])
      try rig.loop.add(b, modes: [.common])
      rig.loop.addCommonMode("m")
      #expect(rig.loop.contains(b, mode: .common) && rig.loop.contains(b, mode: "m"))
      rig.loop.remove(b, modes: [.common])
      #expect(!rig.loop.contains(a, mode: .common) && rig.loop.modes(of: a) == [])
      rig.expect("a+default a+m a-default a-m")
    }
  }

  @Test func `when the source that was taken ends, an equal one can take its place`() throws {
    try withLoop { rig in  // R143, R126
      let (a, b) = (source(rig, "a", 1), source(rig, "b", 1))
      try rig.loop.add(a, modes: [.common])
      a.invalidate()
      b.invalidate()
      #expect(!rig.loop.contains(b) && !rig.loop.contains(b, mode: .common))
      let c = source(rig, "c", 1)
      try rig.loop.add(c, modes: [.common])
      #expect(rig.loop.contains(c, mode: .common))
      c.invalidate()
      rig.expect("a+default a-default c+default c-default")
    }
  }

  @Test func `a source that is in two loops is equal to another in each`() throws {
    try withLoop { rig in  // R143, R48
      let (a, b) = (source(rig, "a", 1), source(rig, "b", 1))
      try rig.loop.add(a)
      try rig.withOtherLoop { other in
        try other.add(a)
        try other.add(b)
        #expect(other.contains(b) && other.modes(of: b) == [])
        other.remove(b)
        #expect(!other.contains(a))
      }
      #expect(rig.loop.contains(b))
      a.invalidate()
      rig.expect("a+default a+default a-default a-default")
    }
  }
}

@Suite struct SourceDescriptionTests {
  @Test func `a source reports its name, order and state, and what it is about`() throws {
    try withLoop { rig in  // R144
      var jobs = 3
      let source = rig.loop.makeSource(
        order: 2, name: "jobs", describe: { _ in "\(jobs) jobs wait" }, perform: { _ in })
      #expect("\(source)" == "source 'jobs': order 2, not signalled; 3 jobs wait")
      source.signal()
      jobs = 4
      #expect("\(source)" == "source 'jobs': order 2, signalled; 4 jobs wait")
      source.invalidate()
      #expect("\(source)" == "source 'jobs': order 2, ended")
    }
  }

  @Test func `what the description holds goes with the source's handlers`() throws {
    try withLoop { rig in  // R144, R126
      final class Held {}
      weak var held: Held?
      let source: Loop.Source
      do {
        let object = Held()
        held = object
        source = rig.loop.makeSource(describe: { _ in "\(object)" }, perform: { _ in })
      }
      #expect(held != nil)
      source.invalidate()
      #expect(held == nil)
    }
  }
}
