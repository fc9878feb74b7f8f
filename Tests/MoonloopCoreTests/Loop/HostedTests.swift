// A loop inside another one: pumps, and the descriptor and date that a host waits for (R152).

internal import Glibc
internal import MoonloopCore
internal import TestSupport
internal import Testing

@Suite struct HostedTests {
  /// Makes a loop on a virtual clock, and its trace.
  private func isolated(_ body: (Loop, Trace) throws -> Void) rethrows {
    try Loop.isolated(clock: .virtual) { loop in try body(loop, Trace()) }
  }

  private final class Trace {
    var words: [String] = []
    var text: String {
      defer { words = [] }
      return words.joined(separator: " ")
    }
  }

  /// Whether polling the descriptor would wake the host now.
  private func isReadable(_ descriptor: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) == 1
  }

  @Test(arguments: [1, 100])
  func `in frames with a message each a timer fires in each`(limit: Int) throws {
    try isolated { loop, _ in
      var messages = 0
      var fires = 0
      let port = loop.makePort { _, _ in messages += 1 }
      try loop.add(port)
      loop.schedule(after: .milliseconds(1), every: .milliseconds(1)) { _ in fires += 1 }
      for _ in 0..<200 {
        try port.post(1)
        loop.advanceClock(by: .milliseconds(1))
        loop.pump(limit: limit)
      }
      // With one pass a frame they take turns, and nothing is lost.
      #expect(limit == 1 ? fires == 100 && messages == 100 : fires == 200 && messages == 200)
      loop.pump()
      #expect(messages == 200)
    }
  }

  /// A host that wants the thread back after each call-out: what comes early in a pass, and is
  /// always ready, does not keep what comes later waiting.
  @Test func `turns of one call-out serve all stages`() throws {
    try isolated { loop, trace in
      func serve(_ name: String) { trace.words.append(name) }
      func block() {
        serve("block")
        loop.performHere(modes: [.default]) { block() }
      }
      func request() {
        serve("request")
        loop.performHere(modes: [.default], asSource: true) { request() }
      }
      loop.performHere(modes: [.default]) { block() }
      loop.performHere(modes: [.default], asSource: true) { request() }
      let source = loop.makeSource { source in
        serve("source")
        source.signal()
      }
      try loop.add(source)
      source.signal()
      loop.schedule(after: .zero, every: .nanoseconds(1)) { _ in serve("timer") }
      for _ in 0..<8 {
        let before = trace.words.count
        loop.hooks.mustYield = { trace.words.count > before }
        loop.advanceClock(by: .milliseconds(1))
        #expect(loop.pump() == .handledSource)
      }
      #expect(trace.text == "block request source timer block request source timer")
    }
  }

  @Test func `a pump is a run without sleeps`() throws {
    try isolated { loop, trace in
      let source = loop.makeSource { _ in trace.words.append("source") }
      try loop.add(source)
      loop.observe { trace.words.append("\($1)") }
      source.signal()
      loop.schedule(after: .zero) { _ in
        trace.words.append("timer")
        source.signal()
      }
      #expect(loop.pump() == .timedOut)
      #expect(
        trace.text == "entry beforeTimers beforeSources source timer beforeTimers beforeSources"
          + " source exit")
    }
  }

  @Test func `a pump says why it ends`() throws {
    try isolated { loop, trace in
      #expect(loop.pump() == .finished)
      let source = loop.makeSource { source in
        trace.words.append("source")
        source.signal()
      }
      try loop.add(source)
      source.signal()
      #expect(loop.pump(limit: 3) == .handledSource)
      #expect(trace.text == "source source source")
      let stopping = loop.schedule(after: .zero) { _ in _ = loop.stop("enough") }
      #expect(loop.pump() == .stopped && loop.stopValue as? String == "enough")
      #expect(!stopping.isValid)
      source.invalidate()
      #expect(loop.pump() == .finished)
    }
  }

  @Test func `pumps nest, and an inner one leaves the outer what it serves`() throws {
    try isolated { loop, trace in
      let port = loop.makePort { _, message in
        trace.words.append("\(message)")
        if message as? Int == 1 { trace.words.append("inner \(loop.pump())") }
      }
      try loop.add(port)
      for message in 1...3 { try port.post(message) }
      #expect(loop.pump() == .timedOut)
      #expect(trace.text == "1 2 3 inner timedOut")
    }
  }

  @Test func `the descriptor is readable when another thread asks for something, until the pump`()
    throws
  {
    try isolated { loop, trace in
      let port = loop.makePort { _, _ in trace.words.append("port") }
      try loop.add(port)
      let descriptor = try loop.pollDescriptor()
      let acts: [(String, @Sendable () -> Void)] = [
        ("block", { loop.perform {} }), ("wake", { loop.wakeUp() }),
        ("post", { try? port.post(1) }), ("change", { loop.change { _ in } }),
      ]
      for (name, act) in acts {
        while loop.pump() != .timedOut {}
        loop.pump()  // once more, with nothing to do
        #expect(!isReadable(descriptor), "before \(name)")
        onThread(act)
        #expect(isReadable(descriptor), "\(name)")
        while loop.pump() != .timedOut {}
        #expect(!isReadable(descriptor), "after \(name)")
      }
    }
  }

  @Test func `the descriptor is readable while a descriptor of the mode is`() throws {
    try isolated { loop, trace in
      var ends: [Int32] = [0, 0]
      #expect(pipe(&ends) == 0)
      let reading = ends[0]
      let source = loop.makeDescriptorSource(reading, closesDescriptor: true) { _, _ in
        var byte: UInt8 = 0
        trace.words.append("read \(read(reading, &byte, 1))")
      }
      try loop.add(source)
      let descriptor = try loop.pollDescriptor()
      #expect(loop.pump() == .timedOut && !isReadable(descriptor))
      #expect(write(ends[1], "ab", 2) == 2 && isReadable(descriptor))
      #expect(loop.pump() == .timedOut && !isReadable(descriptor))
      #expect(trace.text == "read 1 read 1")
      close(ends[1])
      source.invalidate()
    }
  }

  @Test func `the next date is that of a timer, or now if something waits`() throws {
    try isolated { loop, _ in
      #expect(loop.nextDate() == nil)
      let source = loop.makeSource { _ in }
      try loop.add(source)
      #expect(loop.nextDate() == nil)
      let date = loop.now.advanced(by: .seconds(3))
      loop.schedule(after: .seconds(3)) { _ in }
      #expect(loop.nextDate() == date)
      source.signal()
      #expect(loop.nextDate() == loop.now)
      loop.pump()
      #expect(loop.nextDate() == date)
      loop.perform {}
      #expect(loop.nextDate() == loop.now)
      loop.pump()
      loop.advanceClock(by: .seconds(4))
      #expect(loop.nextDate() == date)
      #expect(loop.pump() == .timedOut && loop.nextDate() == nil)
    }
  }

  @Test func `runs go on as ever after pumps`() throws {
    try isolated { loop, trace in
      let port = loop.makePort { _, message in
        trace.words.append("\(message)")
        _ = loop.stop()
      }
      try loop.add(port)
      _ = try loop.pollDescriptor()
      #expect(loop.pump() == .timedOut)
      onThread { try? port.post("posted") }
      #expect(loop.run() == .stopped && trace.text == "posted")
      loop.schedule(after: .seconds(3600)) { _ in trace.words.append("timer") }
      #expect(loop.run(for: .seconds(7200)) == .timedOut && trace.text == "timer")
    }
  }
}
