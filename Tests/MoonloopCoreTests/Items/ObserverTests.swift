// Which observers are called for an activity, in which order, and how often.

internal import MoonloopCore
internal import Testing

@Suite struct ObserverTests {
  @Test func `observers are called by order, equal ones in order of adding`() throws {
    try withLoop { rig in  // R32
      try rig.timer("t", after: 0)
      for (name, order) in [("c", 5), ("a1", -1), ("b", 0), ("a2", -1), ("first", Int.min)] {
        try rig.observe(.entry, name: name, order: order)
      }
      rig.run(for: 1)
      rig.expect("first:entry a1:entry a2:entry b:entry c:entry t@0 finished")
    }
  }

  @Test("an observer is called only for what it asked for", arguments: Activity.named.indices)
  func only(index: Int) throws {
    let (name, activity) = Activity.named[index]
    try withLoop { rig in  // R33
      try rig.source("s")
      try rig.observe(activity)
      rig.run(for: 1)
      rig.expect("\(name) timedOut")
    }
  }

  @Test func `a one-shot observer is called once, is valid meanwhile, and then gone`() throws {
    try withLoop { rig in  // R34
      try rig.source("s")
      let observer = try rig.observe(
        [.beforeSources, .beforeWaiting], repeats: false, modes: [.default, "other"]
      ) { observer, _ in
        #expect(observer.isValid)
        #expect(rig.loop.contains(observer))
      }
      rig.run(for: 1)
      rig.expect("beforeSources timedOut")
      #expect(!observer.isValid)
      #expect(rig.loop.modes(of: observer) == [])
    }
  }

  @Test func `an observer is on one loop at a time`() throws {
    try withLoop { rig in  // R35
      let observer = try rig.observe(modes: [.default, "a"])
      try rig.withOtherLoop { other in
        #expect(throws: LoopError.onAnotherLoop(observer.label)) { try other.add(observer) }
      }
      rig.loop.remove(observer, modes: [.default, "a"])
      try rig.withOtherLoop { other in
        try other.add(observer)
        #expect(other.contains(observer))
      }
    }
  }

  @Test func `an observer is not called for nested runs in its own callback`() throws {
    try withLoop { rig in  // R36
      try rig.source("s", modes: ["inner"])
      try rig.source("outer")
      try rig.observe(.entry, name: "one", modes: [.default, "inner"]) { _, _ in
        rig.run("inner", for: 1)
      }
      try rig.observe(.entry, name: "two", modes: [.default, "inner"])
      rig.run(for: 0)
      rig.expect("one:entry two:entry timedOut two:entry timedOut")
    }
  }

  @Test func `changes during an activity: added, invalidated, removed`() throws {
    try withLoop { rig in  // R32, R37
      try rig.source("s")
      var later: [Loop.Observer] = []
      try rig.observe(.beforeTimers, name: "a", repeats: false) { _, _ in
        try rig.observe([.beforeTimers, .beforeSources], name: "added", order: -5)
        later[0].invalidate()
        rig.loop.remove(later[1])
      }
      later.append(try rig.observe([.beforeTimers, .beforeSources], name: "invalidated", order: 1))
      later.append(try rig.observe([.beforeTimers, .beforeSources], name: "removed", order: 2))
      rig.run(for: 0)
      rig.expect("a:beforeTimers removed:beforeTimers added:beforeSources timedOut")
      later[1].invalidate()
    }
  }

  @Test func `an observer may invalidate itself while it is called`() throws {
    try withLoop { rig in  // R37, R127
      try rig.source("s")
      try rig.observe { observer, _ in observer.invalidate() }
      try rig.observe(.exit, name: "still heard")
      rig.run(for: 1)
      rig.expect("entry still heard:exit timedOut")
    }
  }

  @Test func `adding an invalid observer is an error`() throws {
    try withLoop { rig in
      let observer = try rig.observe()
      observer.invalidate()
      #expect(throws: LoopError.invalidItem(observer.label)) { try rig.loop.add(observer) }
    }
  }

  @Test func `an observer in several modes is called for each run in one of them`() throws {
    try withLoop { rig in  // R87
      for mode: ModeName in ["a", "b", "c"] { try rig.source("s", modes: [mode]) }
      try rig.observe(.entry, modes: ["a", "b"])
      for mode: ModeName in ["a", "b", "c"] { rig.run(mode, for: 0) }
      rig.expect("entry timedOut entry timedOut timedOut")
    }
  }
}
