// Runs inside runs: what the inner one serves, and how the outer one goes on.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct NestedRunTests {
  /// The callbacks that may run the loop again (R96).
  enum Place: CaseIterable { case source, timer, port, descriptor, observer, block, request }

  @Test("a callback of any kind may run the loop again", arguments: Place.allCases, [false, true])
  func nests(place: Place, sameMode: Bool) throws {
    try withLoop { rig in  // R96, R97, R98
      let (near, far) = try rig.kernel.socketPair()
      let mode: ModeName = sameMode ? .default : "inner"
      try rig.timer("inner", after: 1, modes: [mode])
      try rig.source("holds", modes: [mode])
      var hasNested = false
      let nest = {
        if hasNested { return }
        hasNested = true
        rig.run(mode, for: 1.5)
        #expect(rig.loop.currentMode == .default && rig.loop.depth == 1)
      }
      switch place {
      case .source: try rig.source("x", signalled: true) { _ in nest() }
      case .timer: try rig.timer("x", after: 0) { _ in nest() }
      case .port: try rig.port("x") { _ in nest() }.post(0)
      case .descriptor:
        try rig.descriptor("x", near) { _ in
          _ = try rig.receive(from: near)
          nest()
        }
        try rig.send("x", to: far)
      case .observer: try rig.observe(.beforeWaiting, name: "x", repeats: false) { _, _ in nest() }
      case .block: rig.block("x") { nest() }
      case .request: rig.block("x", asSource: true) { nest() }
      }
      try rig.source("outer")
      rig.run(for: 3)
      #expect(rig.trace.dropFirst() == ["inner@1", "timedOut", "timedOut"])
      #expect(rig.clock == "3")
      rig.kernel.close(near)
      rig.kernel.close(far)
    }
  }

  @Test func `runs nest up to the limit`() throws {
    try withLoop { rig in  // R96
      rig.loop.nestingLimit = 10
      var deepest = 0
      func nest() {
        deepest = rig.loop.depth
        if rig.loop.canRun {
          rig.block("", then: nest)
          rig.loop.run(for: .zero)
        }
      }
      nest()
      #expect(deepest == 10)
    }
  }

  @Test func `a run beyond the limit traps`() async {
    await #expect(processExitsWith: .failure) {
      Loop.isolated { loop in
        loop.nestingLimit = 2
        func nest() {
          loop.performHere(modes: [.default]) { nest() }
          loop.run(for: .zero)
        }
        nest()
      }
    }
  }

  @Test func `equal timers that a nested run has waited for keep their order`() throws {
    try withLoop { rig in  // R135
      for name in ["a", "b", "c"] { try rig.timer(name, after: 1) }
      try rig.timer("d", after: 1.5)
      try rig.observe(.afterWaiting, repeats: false) { _, _ in rig.run(for: 1) }
      rig.run(for: 3)
      rig.expect("afterWaiting d@1.5 timedOut a@2 b@2 c@2 finished")
    }
  }
}
