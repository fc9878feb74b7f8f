// How a run begins and ends, and its result.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct RunAndResultTests {
  @Test func `an unknown or empty mode is finished at once, and no observer is called`() throws {
    // R7, R8: observers do not make a mode non-empty.
    try withLoop { rig in
      try rig.observe()
      try rig.observe(modes: ["other"])
      rig.run()
      rig.run("other")
      rig.run("never used")
      rig.expect("finished finished finished")
      #expect(!rig.loop.modeNames.contains("never used"))
    }
  }

  /// What makes a mode non-empty (R8).
  enum Content: CaseIterable {
    case unsignalledSource, port, descriptor, timer, block, request
  }

  @Test("a mode with anything but observers runs until its timeout", arguments: Content.allCases)
  func contents(content: Content) throws {
    // R6, R8, R11, R21
    try withLoop { rig in
      let loop = rig.loop
      let (near, far) = try rig.kernel.socketPair()
      switch content {
      case .unsignalledSource: try rig.source("s")
      case .port: try rig.port("p")
      case .descriptor: try rig.descriptor("d", near)
      case .timer: try rig.timer("t", after: 100)
      case .block: rig.block("b")
      case .request: rig.block("r", asSource: true)
      }
      let result = loop.run(for: .seconds(5))
      switch content {
      case .block, .request:
        // Performed; nothing is left: R9, and R10: the mode is looked at before sleep.
        #expect(result == .finished)
        #expect(rig.clock == "0")
      default:
        #expect(result == .timedOut)
        #expect(rig.clock == "5")
      }
      rig.kernel.close(near)
      rig.kernel.close(far)
    }
  }

  @Test func `another thread that takes the last item out wakes and finishes the run`() throws {
    try withLoop { rig in  // R9, R10
      try rig.observe()
      let source = try rig.source("s")
      let thread = rig.thread {
        rig.spend(2)
        rig.loop.change { $0.remove(source) }
      }
      rig.run(for: 10)
      rig.expect("entry \(slept) exit finished")
      #expect(rig.clock == "2")
      rig.world.join(thread)
    }
  }

  @Test func `a mode that empties before the sleep does not sleep for ever`() throws {
    try withLoop { rig in  // R10
      let source = try rig.source("s")
      try rig.observe(.beforeTimers) { _, _ in rig.loop.remove(source) }
      rig.run()
      rig.expect("beforeTimers finished")
    }
  }

  @Test func `a poll serves one port message, and timers only if no port is ready`() throws {
    try withLoop { rig in  // R12, R56
      let port = try rig.port("p")
      try port.post(1)
      try port.post(2)
      try rig.timer("t", after: 0)
      for _ in 1...3 { rig.run(for: 0) }
      rig.expect("p:1 timedOut p:2 timedOut t@0 timedOut")
    }
  }

  /// Which of two reasons is the result (R14).
  struct Precedence: CustomTestStringConvertible {
    var testDescription: String
    var expected: RunResult
    var returns = false
    var act: @Sendable (Rig, Loop.Source) -> Void
  }
  static let precedence = [
    Precedence(
      testDescription: "handledSource beats timedOut", expected: .handledSource, returns: true
    ) { rig, _ in rig.spend(9) },
    Precedence(
      testDescription: "handledSource beats stopped", expected: .handledSource, returns: true
    ) { rig, _ in rig.loop.stop() },
    Precedence(
      testDescription: "handledSource beats finished", expected: .handledSource, returns: true
    ) { _, source in source.invalidate() },
    Precedence(testDescription: "timedOut beats stopped", expected: .timedOut) { rig, _ in
      rig.loop.stop()
      rig.spend(9)
    },
    Precedence(testDescription: "timedOut beats finished", expected: .timedOut) { rig, source in
      source.invalidate()
      rig.spend(9)
    },
    Precedence(testDescription: "stopped beats finished", expected: .stopped) { rig, source in
      rig.loop.stop()
      source.invalidate()
    },
  ]

  @Test("the first of several reasons is the result", arguments: precedence.indices)
  func reasons(row: Int) throws {
    let row = Self.precedence[row]
    try withLoop { rig in  // R14
      try rig.source("s", signalled: true) { row.act(rig, $0) }
      let result = rig.loop.run(for: .seconds(5), returnAfterSource: row.returns)
      #expect(result == row.expected, "\(row.testDescription)")
    }
  }

  @Test func `the unconditional run goes on until it is stopped or finished`() throws {
    try withLoop { rig in  // R20
      try rig.observe([.entry, .exit])
      try rig.timer("t", after: 1, every: 1) { if rig.clock == "3" { $0.invalidate() } }
      #expect(rig.loop.run() == .finished)
      rig.expect("entry t@1 t@2 t@3 exit")
      try rig.timer("t", after: 1, every: 1) { _ in rig.loop.stop() }
      #expect(rig.loop.run() == .stopped)
      rig.expect("entry t@4 exit")
    }
  }

  @Test func `the common pseudo-mode cannot be run`() throws {
    try withLoop { rig in  // R22
      try rig.source("s", modes: [.common], signalled: true)
      try rig.observe(modes: [.common])
      rig.run(.common)
      rig.expect("finished")
      #expect(!rig.loop.run(mode: .common, before: .distantFuture))
    }
  }

  @Test func `the mode and the depth of the innermost run are reported`() throws {
    try withLoop { rig in  // R4
      #expect(rig.loop.currentMode == nil)
      #expect(rig.loop.depth == 0)
      #expect(!rig.loop.isRunning)
      try rig.source("s", modes: ["a"], signalled: true) { _ in
        #expect(rig.loop.currentMode == "a")
        #expect(rig.loop.depth == 1)
        #expect(rig.loop.isRunning)
      }
      rig.run("a", for: 0)
      #expect(rig.loop.currentMode == nil)
      rig.expect("s timedOut")
    }
  }
}
