// The value that a stop hands over, and the stop that is remembered.

import MoonloopCore
import Testing

@Suite struct StopValueTests {
  @Test func `a stop hands its value to the caller of the run that it met`() {
    Loop.isolated { loop in
      loop.schedule(after: .seconds(1)) { _ in loop.stop("done") }
      #expect(loop.run() == .stopped)
      #expect(loop.stopValue as? String == "done")
    }
  }

  @Test func `a stop that meets no run says so and is forgotten`() {
    Loop.isolated { loop in
      #expect(!loop.stop("lost"))
      loop.schedule(after: .seconds(1)) { _ in }
      #expect(loop.run() == .finished)
      #expect(loop.stopValue == nil)
    }
  }

  @Test func `the second form is remembered for the next run, which makes no pass`() {
    Loop.isolated { loop in
      loop.stopWhenNextLooking(42)
      loop.schedule(after: .seconds(1)) { _ in }
      #expect(loop.run() == .stopped)
      #expect(loop.stopValue as? Int == 42)
      #expect(loop.passes == 0)
      #expect(loop.run() == .finished)
      #expect(loop.stopValue == nil)
    }
  }

  @Test func `of several values the first counts, also of stops that are remembered`() {
    Loop.isolated { loop in
      loop.schedule(after: .seconds(1)) { _ in
        loop.stop()
        loop.stop("first")
        loop.stop("second")
      }
      #expect(loop.run() == .stopped)
      #expect(loop.stopValue as? String == "first")
      loop.stopWhenNextLooking()
      loop.stopWhenNextLooking(1)
      loop.stopWhenNextLooking(2)
      loop.schedule(after: .seconds(1)) { _ in }
      #expect(loop.run() == .stopped)
      #expect(loop.stopValue as? Int == 1)
    }
  }

  @Test func `a stop in exit leaves no value for the run that ends`() {
    Loop.isolated { loop in
      loop.schedule(after: .seconds(1)) { _ in }
      loop.observe(.exit) { _, _ in #expect(!loop.stop("too late")) }
      #expect(loop.run() == .finished)
      #expect(loop.stopValue == nil)
    }
  }

  @Test func `the stop is reported beside the word that wins over it`() {
    Loop.isolated { loop in
      let source = Loop.Source { _ in loop.stop("told") }
      #expect(throws: Never.self) { try loop.add(source) }
      source.signal()
      #expect(loop.run(returnAfterSource: true) == .handledSource)
      #expect(loop.wasStopped)
      #expect(loop.stopValue as? String == "told")
    }
  }
}
