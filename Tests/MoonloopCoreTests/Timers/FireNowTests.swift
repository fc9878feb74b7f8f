// Timers that are fired by hand, and tolerances set later.

internal import MoonloopCore
internal import Synchronization
internal import Testing

@Suite struct FireNowTests {
  @Test func `a repeating timer that is fired by hand keeps its dates`() throws {
    try withLoop { rig in  // R141
      let timer = try rig.timer("t", after: 1, every: 1)
      #expect(timer.fire() && timer.fire() && timer.missed == 0)
      #expect(timer.nextFire == rig.instant(1))
      rig.run(for: 2.5)
      rig.expect("t@0 t@0 t@1 t@2 timedOut")
    }
  }

  @Test func `a timer that fires once ends by it, whatever its mode is`() throws {
    try withLoop { rig in  // R141, R70
      let timer = try rig.timer("t", after: 9, modes: ["other"]) { #expect($0.isValid) }
      #expect(timer.fire() && !timer.isValid && !timer.fire())
      #expect(rig.loop.modes(of: timer) == [])
      rig.expect("t@0")
    }
  }

  @Test(arguments: [0.0, 1])
  func `a timer on no loop can be fired`(interval: Double) throws {
    try withLoop { rig in  // R141
      let timer = try rig.timer("t", after: 1, every: interval, modes: []) { timer in
        #expect(!timer.fire())
      }
      #expect(timer.fire() && timer.isValid == (interval > 0))
      rig.expect("t@0")
    }
  }

  @Test func `in its own callback a timer is not fired again, also in a nested run`() throws {
    try withLoop { rig in  // R141, R75
      try rig.timer("t", after: 1, every: 1) { timer in
        #expect(!timer.fire())
        if rig.clock == "1" { rig.run(for: 3) }
      }
      rig.run(for: 5.5)
      rig.expect("t@1 timedOut t@5 timedOut")
    }
  }

  @Test func `a fire by hand is no turn of the timer in a nested run`() throws {
    try withLoop { rig in  // R75: its dates wait for the end of the callback.
      try rig.source("holds")
      let timer = try rig.timer("t", after: 1, every: 2) { _ in
        if rig.clock == "0" { rig.run(for: 4) }
      }
      timer.fire()
      rig.run(for: 2)
      rig.expect("t@0 timedOut t@4 t@5 timedOut")
    }
  }

  @Test func `a date that is set in a fire by hand counts, and so does its end`() throws {
    try withLoop { rig in  // R141, R76
      let timer = try rig.timer("t", after: 9, every: 1) { timer in
        if rig.clock == "0" { timer.nextFire = rig.instant(2) }
        if rig.clock == "3" { timer.invalidate() }
      }
      let once = try rig.timer("once", after: 9) { timer in
        if rig.clock == "0" { timer.again(after: .seconds(1)) }
      }
      timer.fire()
      once.fire()
      rig.run(for: 8)
      rig.expect("t@0 once@0 once@1 t@2 t@3 finished")
      #expect(!timer.isValid && !once.isValid)
    }
  }

  @Test func `a timer of the batch that is fired before its turn still has its turn`() throws {
    try withLoop { rig in  // R141, R74
      try rig.observe(.beforeTimers, name: "-")
      var others: [Loop.Timer] = []
      try rig.timer("first", after: 1) { _ in for other in others { other.fire() } }
      others.append(try rig.timer("every", after: 1, every: 5))
      others.append(try rig.timer("once", after: 1))
      rig.run(for: 2)
      rig.expect("-:beforeTimers first@1 every@1 once@1 every@1 -:beforeTimers timedOut")
    }
  }
}

@Suite struct LaterToleranceTests {
  @Test func `a tolerance that is set later counts from the next sleep on`() throws {
    try withLoop { rig in  // R142, R83
      let slack = try rig.timer("slack", after: 1)
      try rig.timer("exact", after: 3) { _ in slack.tolerance = .zero }
      slack.tolerance = .seconds(5)
      rig.run()
      rig.expect("slack@3 exact@3 finished")
    }
  }

  @Test func `a tolerance is at most half the interval, at least zero`() throws {
    try withLoop { rig in  // R142
      let timer = try rig.timer("t", after: 1, every: 4, tolerance: 1)
      timer.tolerance = .seconds(9)
      #expect(timer.tolerance == .seconds(2))
      timer.tolerance = .seconds(-1)
      #expect(timer.tolerance == .zero)
      let once = try rig.timer("once", after: 9, modes: [])
      once.tolerance = .seconds(100)
      try rig.loop.add(once)
      try rig.timer("late", after: 11.5)
      rig.run(for: 12)
      rig.expect("t@1 t@5 t@9 once@9 late@11.5 timedOut")
    }
  }

  @Test func `a timer on no loop that several threads fire and end is fired once`() {
    for _ in 1...500 {
      let box = Calls()
      let timer = Loop.Timer(after: .seconds(1)) { _ in box.count.add(1, ordering: .relaxed) }
      let crew = Crew()
      for _ in 1...3 { crew.start { timer.fire() } }
      crew.join()
      #expect(box.count.load(ordering: .relaxed) == 1)
      #expect(!timer.isValid)
    }
  }

  private final class Calls: Sendable {
    let count = Atomic(0)
  }
}
