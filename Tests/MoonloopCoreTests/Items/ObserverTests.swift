// Which observers are called for an activity, in which order, and how often.

internal import MoonloopCore
internal import Testing

@Suite struct ObserverTests {
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
}
