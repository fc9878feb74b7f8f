// The time of a pass on the machine's clock, which goes on meanwhile.

internal import MoonloopCore
internal import Testing

@Suite struct PassTimeTests {
  /// The clock goes on until it shows another time.
  private func pass(_ loop: Loop) {
    let before = loop.now
    while loop.now == before {}
  }

  @Test("it is the same for all handlers of a pass, and another one after the sleep")
  func oneTimeAPass() throws {
    try Loop.isolated(clock: .real) { loop in
      var told: [LoopTime] = []
      func ask() {
        told.append(loop.timeOfPass)
        pass(loop)
      }
      loop.observe([.beforeTimers, .beforeWaiting, .afterWaiting]) { _, _ in ask() }
      loop.schedule(after: .seconds(1000), modes: ["inner"]) { _ in }
      let due = loop.now.advanced(by: .milliseconds(1))
      try loop.add(
        Loop.Timer(at: due) { timer in
          ask()
          _ = loop.run(mode: "inner", for: .zero)
          ask()
          loop.stop()
        })
      loop.run()
      // beforeTimers and beforeWaiting; afterWaiting and the timer; the timer after a nested run.
      let isRepeated = zip(told, told.dropFirst()).map { $0 == $1 }
      #expect(isRepeated == [true, false, true, false])
      #expect(told == told.sorted() && told[2] >= due)
    }
  }

  @Test("outside of runs it is the present time")
  func outside() {
    Loop.isolated(clock: .real) { loop in
      let first = loop.timeOfPass
      pass(loop)
      #expect(loop.timeOfPass > first)
    }
  }

  @Test("on a clock that jumps it jumps too")
  func jumps() {
    Loop.isolated(clock: .virtual) { loop in
      var told: [LoopTime] = []
      for delay in [1, 2] {
        loop.schedule(after: .seconds(delay)) { _ in told.append(loop.timeOfPass) }
      }
      loop.run()
      #expect(told[0].duration(to: told[1]) == .seconds(1))
    }
  }
}
