// Loops of several threads in one virtual time, which waits for work of one thread for another.

internal import MoonloopCore
internal import Synchronization
internal import Testing

@Suite struct SharedTimeTests {
  /// One thread's request to another: an answer after so many seconds of its time.
  private static func serve(_ loop: Loop, _ requests: Loop.Port) {
    try? loop.add(requests)
    while !loop.mustEnd { loop.run() }
    requests.invalidate()
  }

  @Test(arguments: [ClockMode.virtual, .skipIdle])
  func `an answer that takes time comes before a later timer`(mode: ClockMode) throws {
    let kernel = try LinuxKernel(clock: mode)
    let loop = try Loop.makeIsolated("asks", kernel)
    try loop.isolate { loop in
      let thread = try Thread(sharingTimeOf: kernel)
      let begin = loop.now
      var lines: [String] = []
      let log = { (text: String) in
        let elapsed = begin.duration(to: loop.now).loopNanoseconds
        lines.append("\(text) at \((elapsed + 500_000_000) / 1_000_000_000)")
      }
      let answers = Loop.Port(name: "answers") { port, message in
        log("answer \(message)")
        if message as? Int == 3 { port.invalidate() }
      }
      try loop.add(answers)
      for number in 1...3 {
        loop.schedule(after: .seconds(number * 10)) { _ in
          log("ask")
          try? thread.requests.post(Request(seconds: number * 3, number: number, to: answers))
        }
        loop.schedule(after: .seconds(number * 10 + 5)) { _ in log("timer") }
      }
      #expect(loop.run(for: .seconds(1000)) == .finished)
      #expect(
        lines == [
          "ask at 10", "answer 1 at 13", "timer at 15", "ask at 20", "timer at 25",
          "answer 2 at 26", "ask at 30", "timer at 35", "answer 3 at 39",
        ])
      thread.stop()
    }
    kernel.clock.leaveSharedTime()
  }

  @Test func `a hold of one thread keeps the time of all`() throws {
    let kernel = try LinuxKernel(clock: .virtual)
    let loop = try Loop.makeIsolated("waits", kernel)
    try loop.isolate { loop in
      let thread = try Thread(sharingTimeOf: kernel)
      let hold = thread.kernel.clock.holds.open("a child")
      let begin = loop.now
      var fired = false
      loop.schedule(after: .seconds(5)) { _ in fired = true }
      // Virtual time stands still: only a wake-up from elsewhere can end this run.
      let helper = LoopThread(name: "helper")
      helper.loop.change { helper in
        helper.schedule(after: .milliseconds(20)) { _ in loop.stop() }
      }
      #expect(loop.run() == .stopped && !fired && loop.now == begin)
      hold.release()
      #expect(loop.run() == .finished && fired)
      helper.stop()
      #expect(helper.join(timeout: .seconds(60)))
      thread.stop()
    }
  }

  @Test func `time moved by hand is moved for all`() throws {
    let kernel = try LinuxKernel(clock: .virtual)
    let loop = try Loop.makeIsolated("moves", kernel)
    try loop.isolate { loop in
      let thread = try Thread(sharingTimeOf: kernel)
      let begin = loop.now
      kernel.clock.advance(by: 7_000_000_000)
      #expect(begin.duration(to: loop.now) == .seconds(7))
      var other: Int64 = 0
      let seen = Atomic<Int64>(0)
      let box = AtomicBox(seen)
      let answers = Loop.Port { port, _ in port.invalidate() }
      try loop.add(answers)
      try thread.requests.post(Request(seconds: 0, number: 0, to: answers, time: box))
      #expect(loop.run(for: .seconds(60)) == .finished)
      other = box.value.load(ordering: .acquiring)
      #expect(other == loop.now.nanoseconds)
      thread.stop()
    }
  }

  private final class AtomicBox: Sendable {
    let value: Atomic<Int64>
    init(_ value: consuming Atomic<Int64>) { self.value = value }
  }

  private struct Request: Sendable {
    let seconds: Int
    let number: Int
    let answers: Loop.Port
    let time: AtomicBox?

    init(seconds: Int, number: Int, to answers: Loop.Port, time: AtomicBox? = nil) {
      self.seconds = seconds
      self.number = number
      self.answers = answers
      self.time = time
    }
  }

  /// A thread that answers requests after the time that they ask for.
  private final class Thread {
    let requests: Loop.Port
    let kernel: LinuxKernel
    private let thread: LoopThread

    init(sharingTimeOf other: LinuxKernel) throws {
      let kernel = try LinuxKernel(sharingTimeOf: other)
      let requests = Loop.Port(name: "requests") { _, message in
        guard let request = message as? Request else { return }
        let loop = Loop.current
        request.time?.value.store(loop.now.nanoseconds, ordering: .releasing)
        loop.schedule(after: .seconds(request.seconds)) { _ in
          try? request.answers.post(request.number)
        }
      }
      self.requests = requests
      self.kernel = kernel
      thread = try LoopThread(name: "answers", kernel: kernel) { loop in serve(loop, requests) }
    }

    func stop() {
      thread.stop()
      #expect(thread.join(timeout: .seconds(60)))
    }

    deinit { thread.stop() }
  }
}
