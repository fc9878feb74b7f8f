// Timers: when they fire, on which grid, and what a callback may do to them.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct TimerTests {
  @Test func `a timer fires when due in one of its modes, never early`() throws {
    try withLoop { rig in  // R68, R69, R87
      try rig.source("holds", modes: ["other"])
      try rig.timer("t", after: 1)
      rig.run("other", for: 3)
      rig.run(for: 1)
      rig.expect("timedOut t@3 finished")
    }
  }

  @Test func `a one-shot timer is valid until its callback has returned`() throws {
    try withLoop { rig in  // R70
      let timer = try rig.timer("t", after: 1, modes: [.default, "other"]) { timer in
        #expect(timer.isValid)
        #expect(rig.loop.contains(timer))
      }
      rig.run()
      #expect(!timer.isValid)
      #expect(timer.nextFire == nil)
      #expect(rig.loop.modes(of: timer) == [])
      #expect(throws: LoopError.invalidItem(timer.label)) { try rig.loop.add(timer) }
      rig.expect("t@1 finished")
    }
  }

  @Test func `a timer may end itself in its own callback`() throws {
    try withLoop { rig in  // R70, R127
      try rig.timer("t", after: 1, every: 1) { timer in
        timer.invalidate()
        #expect(!timer.isValid)
      }
      rig.run(for: 5)
      rig.expect("t@1 finished")
    }
  }

  @Test func `missed dates collapse; the next is the first after the end of the callback`() throws {
    try withLoop { rig in  // R72
      var missed: [Int] = []
      try rig.timer("t", after: 1, every: 1) { timer in
        missed.append(timer.missed)
        if rig.clock == "1" { rig.spend(2.5) }
      }
      rig.run(for: 5)
      rig.expect("t@1 t@4 t@5 timedOut")
      #expect(missed == [0, 2, 0])
    }
  }

  @Test func `nothing fires while the loop does not run; afterwards once`() throws {
    try withLoop { rig in  // R2, R82, R72
      let timer = try rig.timer("t", after: 1, every: 1)
      rig.spend(4.5)
      rig.expect("")
      rig.run(for: 1)
      rig.expect("t@4.5 t@5 timedOut")
      #expect(timer.missed == 0)
    }
  }

  @Test func `all due timers fire in one pass, by date, equal dates by order of adding`() throws {
    try withLoop { rig in  // R73
      try rig.observe(.beforeTimers, name: "-")
      for (name, delay) in [("c", 3.0), ("a", 1), ("b1", 2), ("b2", 2), ("a2", 1)] {
        try rig.timer(name, after: delay)
      }
      rig.spend(5)
      rig.run()
      rig.expect("-:beforeTimers a@5 a2@5 b1@5 b2@5 c@5 finished")
    }
  }

  @Test func `equal dates stay in order of adding after a nested run in a callback`() throws {
    try withLoop { rig in  // R73, R75
      try rig.source("holds", modes: ["inner"])
      var nests = true
      try rig.timer("a", after: 1, every: 1) { _ in
        if nests { rig.loop.run(mode: "inner", for: .zero) }
        nests = false
      }
      try rig.timer("b", after: 1, every: 1)
      rig.run(for: 3)
      rig.expect("a@1 b@1 a@2 b@2 a@3 b@3 timedOut")
    }
  }

  @Test func `timers moved to one past date in a callback fire in order of adding`() throws {
    try withLoop { rig in  // R73, R76
      let a = try rig.timer("a", after: 50)
      let b = try rig.timer("b", after: 50)
      try rig.timer("t", after: 1) { _ in
        b.nextFire = rig.instant(0.5)
        a.nextFire = rig.instant(0.5)
      }
      rig.run()
      rig.expect("t@1 a@1 b@1 finished")
    }
  }

  @Test func `a timer that comes due in the batch fires in the next pass`() throws {
    try withLoop { rig in  // R74
      try rig.observe(.beforeTimers, name: "-")
      try rig.timer("t", after: 1) { _ in rig.spend(5) }
      try rig.timer("u", after: 2)
      rig.run()
      rig.expect("-:beforeTimers t@1 -:beforeTimers u@6 finished")
    }
  }

  @Test func `nested runs fire what was added in the outer callback by date`() throws {
    try withLoop { rig in  // R73, R101
      try rig.timer("t", after: 1) { _ in
        try rig.timer("late", after: -1)
        try rig.timer("early", after: -5)
        try rig.timer("middle", after: -3)
        rig.run(for: 0)
      }
      try rig.timer("u", after: 1)
      rig.run()
      rig.expect("t@1 early@1 middle@1 late@1 u@1 timedOut finished")
    }
  }

  @Test func `the next date can be set and moves the grid`() throws {
    try withLoop { rig in  // R76, R84
      let timer = try rig.timer("t", after: 10, every: 2)
      timer.nextFire = rig.instant(0.5)
      #expect(timer.nextFire == rig.instant(0.5))
      #expect(rig.loop.nextTimerDate(mode: .default) == rig.instant(0.5))
      rig.run(for: 5)
      rig.expect("t@0.5 t@2.5 t@4.5 timedOut")
      timer.nextFire = rig.instant(-3)
      rig.run(for: 0)
      rig.expect("t@5 timedOut")
      #expect(timer.nextFire == rig.instant(7))
    }
  }

  @Test func `again works in both kinds, also in the callback`() throws {
    try withLoop { rig in  // the "better" of R76
      try rig.timer("o", after: 1) { timer in
        if rig.elapsed < 3_000_000_000 { timer.again(after: .seconds(2)) }
      }
      try rig.timer("r", after: 10, every: 4).again(after: .milliseconds(1500))
      rig.run(for: 6)
      rig.expect("o@1 r@1.5 o@3 r@5.5 timedOut")
    }
  }

  @Test func `an interval below a nanosecond repeats`() throws {
    try withLoop { rig in
      var fires = 0
      rig.loop.schedule(after: .zero, every: Duration(secondsComponent: 0, attosecondsComponent: 1))
      {
        fires += 1
        if fires == 3 { $0.invalidate() }
      }
      rig.run(for: 1)
      #expect(fires == 3)
    }
  }

  @Test func `in several modes a timer has one schedule`() throws {
    try withLoop { rig in  // R79
      let timer = try rig.timer("t", after: 1, every: 1, modes: ["a", "b", "a"])
      rig.run("a", for: 1.5)
      rig.run("b", for: 1)
      rig.expect("t@1 timedOut t@2 timedOut")
      rig.loop.remove(timer, modes: ["a", "b"])
      #expect(timer.isValid)
      #expect(timer.nextFire == rig.instant(3))
      rig.spend(0.75)
      try rig.loop.add(timer, modes: ["a"])
      rig.run("a", for: 1)
      rig.expect("t@3.25 t@4 timedOut")
    }
  }

  @Test func `removed and added again in its own callback it stays the same timer`() throws {
    try withLoop { rig in  // R70, R75, R79
      try rig.observe(.beforeTimers, name: "-")
      for interval in [0.0, 1] {
        try rig.timer("t", after: 1, every: interval) { timer in
          rig.loop.remove(timer)
          try rig.loop.add(timer)
          rig.run(for: 0)
        }
      }
      rig.run(for: 2)
      rig.expect(
        "-:beforeTimers t@1 -:beforeTimers t@1 -:beforeTimers timedOut timedOut "
          + "-:beforeTimers t@2 -:beforeTimers timedOut timedOut")
    }
  }

  @Test func `removed in its own callback it keeps the date that follows`() throws {
    try withLoop { rig in  // R71, R79
      let timer = try rig.timer("t", after: 1, every: 1) { rig.loop.remove($0) }
      rig.run(for: 5)
      #expect(timer.nextFire == rig.instant(2))
      try rig.withOtherLoop { other in
        try other.add(timer)
        other.remove(timer)
      }
      try rig.loop.add(timer)
      rig.run(for: 5)
      rig.expect("t@1 finished t@2 finished")
      timer.invalidate()
    }
  }

  @Test func `other threads add, move and remove timers of a sleeping loop without a wake-up`()
    throws
  {
    try withLoop { rig in  // R85
      try rig.observe()
      let moved = try rig.timer("moved", after: 4)
      let removed = try rig.timer("removed", after: 3)
      let thread = rig.thread {
        rig.spend(1)
        rig.loop.change { _ in _ = try? rig.timer("added", after: 1) }
        rig.spend(0.5)
        rig.loop.change { loop in
          loop.remove(removed)
          moved.nextFire = rig.instant(2.5)
        }
      }
      rig.run(for: 5)
      rig.expect("entry \(slept) added@2 \(slept) moved@2.5 exit finished")
      removed.invalidate()
      rig.world.join(thread)
    }
  }

  @Test func `a delay of zero counts from now, however long ago the loop looked`() throws {
    try withLoop { rig in  // R71, R86, R114
      try rig.timer("first", after: 1)
      rig.run()
      rig.spend(10)
      try rig.timer("before", after: -5)
      var missed: [Int] = []
      rig.loop.schedule(after: .zero, every: .seconds(1)) { timer in
        rig.log("zero")
        missed.append(timer.missed)
        if missed.count == 2 { timer.invalidate() }
      }
      rig.loop.schedule(after: .zero) { _ in rig.log("once") }
      rig.run(for: 3)
      rig.expect("first@1 finished before@11 zero once zero finished")
      #expect(missed == [0, 0])
    }
  }

  @Test func `a timer added by a busy callback with no delay fires in the next pass`() throws {
    try withLoop { rig in  // R114
      try rig.observe(.beforeTimers, name: "-")
      try rig.timer("t", after: 1) { _ in
        rig.spend(1)
        rig.loop.schedule(after: .zero) { _ in rig.log("once") }
        rig.loop.schedule(after: .zero, every: .seconds(5)) {
          rig.log("often@\(rig.clock):\($0.missed)")
          if rig.clock != "2" { $0.invalidate() }
        }
      }
      rig.run()
      rig.expect(
        "-:beforeTimers t@1 -:beforeTimers once often@2:0 -:beforeTimers often@7:0 finished")
    }
  }

  /// Dates at the ends of the range.
  static let extremes: [(date: Int64, fires: Bool)] = [
    (.min, true), (.min + 1, true), (-1, true), (0, true), (.max - 1, false), (.max, false),
  ]

  @Test("dates at the ends of the range fire at once or never", arguments: extremes.indices)
  func extreme(row: Int) throws {
    let (date, fires) = Self.extremes[row]
    for interval in [Duration.zero, .nanoseconds(7), .seconds(1), .nanoseconds(Int64.max)] {
      try withLoop { rig in
        let timer = rig.track(
          Loop.Timer(at: LoopTime(nanoseconds: date), every: interval) { _ in rig.log("t") })
        try rig.loop.add(timer)
        rig.loop.run(for: .zero)
        rig.expect(fires ? "t" : "")
        if fires && interval == .seconds(1) {
          // It goes on, on its grid.
          let next = try #require(timer.nextFire).nanoseconds
          #expect(next > rig.world.now && next <= rig.world.now + 1_000_000_000)
          #expect((UInt64(bitPattern: next) &- UInt64(bitPattern: date)) % 1_000_000_000 == 0)
        }
      }
    }
  }

  @Test func `an interval of one nanosecond starves no other`() {
    Loop.isolated(clock: .virtual) { loop in
      var fires = 0
      var others: [String] = []
      loop.schedule(after: .zero, every: .nanoseconds(1)) { _ in fires += 1 }
      loop.schedule(after: .nanoseconds(500)) { _ in others.append("timer") }
      loop.performHere(modes: [.default]) { others.append("block") }
      #expect(loop.run(for: .nanoseconds(1000)) == .timedOut)
      #expect(fires > 900)
      #expect(others == ["block", "timer"])
    }
  }
}
