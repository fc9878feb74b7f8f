// The order of a pass, asserted as whole traces.

import MoonloopCore
import Testing

@Suite struct SequenceTests {
  @Test func `an idle pass gives the six notifications in order, then the timeout`() throws {
    try Loop.isolated { loop in
      var trace: [String] = []
      try loop.add(Loop.Source { _ in })
      loop.observe { _, activity in trace.append("\(activity)") }
      #expect(loop.run(for: .milliseconds(200)) == .timedOut)
      #expect(
        trace == ["entry", "beforeTimers", "beforeSources", "beforeWaiting", "afterWaiting", "exit"])
    }
  }

  @Test func `an hour passes at once on the virtual clock`() {
    Loop.isolated { loop in
      var fired = 0
      loop.schedule(after: .seconds(3600)) { _ in fired += 1 }
      #expect(loop.run() == .finished)
      #expect(fired == 1)
    }
  }

  @Test func `timers fire by date, equal dates by order of adding`() {
    Loop.isolated { loop in
      var trace: [String] = []
      for (name, delay) in [("c", 3), ("a", 1), ("b1", 2), ("b2", 2), ("z", 0)] {
        loop.schedule(after: .seconds(delay)) { _ in trace.append(name) }
      }
      #expect(loop.run() == .finished)
      #expect(trace == ["z", "a", "b1", "b2", "c"])
    }
  }

  @Test func `a repeating timer keeps its grid and is stopped from its own handler`() {
    Loop.isolated { loop in
      var dates: [Int64] = []
      let start = loop.now.nanoseconds
      loop.schedule(after: .seconds(1), every: .seconds(2)) { timer in
        dates.append((loop.now.nanoseconds - start) / 1_000_000_000)
        if dates.count == 4 { timer.invalidate() }
      }
      #expect(loop.run() == .finished)
      #expect(dates == [1, 3, 5, 7])
    }
  }
}
