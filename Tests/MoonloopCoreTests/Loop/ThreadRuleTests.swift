// The rule of threads: what is for the loop's thread stops the program elsewhere, and names both.

import Glibc
internal import MoonloopCore
internal import Testing

@Suite struct ThreadRuleTests {
  private static let loopMembers: [(name: String, use: @Sendable (Loop) -> Void)] = [
    ("now", { _ = $0.now }), ("wallTime", { _ = $0.wallTime }), ("depth", { _ = $0.depth }),
    ("currentMode", { _ = $0.currentMode }), ("canRun", { _ = $0.canRun }),
    ("passes", { _ = $0.passes }), ("wasStopped", { _ = $0.wasStopped }),
    ("stopValue", { _ = $0.stopValue }), ("nestingLimit", { $0.nestingLimit = 3 }),
    ("mainQueueHolds", { $0.mainQueueHolds = false }), ("tracer", { $0.tracer = nil }),
    ("modeNames", { _ = $0.modeNames }), ("isCommonMode", { _ = $0.isCommonMode(.default) }),
    ("nextTimerDate", { _ = $0.nextTimerDate(mode: .default) }),
    ("contains", { _ = $0.contains(Loop.Source { _ in }) }),
    ("modes(of:)", { _ = $0.modes(of: Loop.Source { _ in }) }),
    ("run", { _ = $0.run(mode: .default, before: .distantFuture) }),
    ("schedule", { $0.schedule(after: .zero) { _ in } }), ("observe", { $0.observe { _, _ in } }),
    ("makeSource", { _ = $0.makeSource { _ in } }),
  ]
  private static let timerMembers: [(name: String, use: @Sendable (Loop.Timer) -> Void)] = [
    ("timer.nextFire", { _ = $0.nextFire }), ("timer.missed", { _ = $0.missed }),
    ("timer.keepsLoopAlive", { $0.keepsLoopAlive = false }),
    ("timer.again", { $0.again(after: .zero) }), ("timer.invalidate", { $0.invalidate() }),
  ]

  private func expectTwoThreads(_ result: ExitTest.Result?, _ name: String) {
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("Fatal error: \(name): "), "\(said)")
    #expect(said.contains(/thread \d+, called on thread \d+/), "\(said)")
  }

  @Test(arguments: loopMembers.indices)
  func `a member of a loop names both threads`(index: Int) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [index] in
      Loop.isolated { loop in
        let crew = Crew()
        crew.start { Self.loopMembers[index].use(loop) }
        crew.join()
      }
    }
    expectTwoThreads(result, Self.loopMembers[index].name)
  }

  @Test(arguments: timerMembers.indices)
  func `a member of a timer names both threads`(index: Int) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [index] in
      Loop.isolated { loop in
        let timer = Loop.Timer(after: .seconds(1)) { _ in }
        try? loop.add(timer)
        let crew = Crew()
        crew.start { Self.timerMembers[index].use(timer) }
        crew.join()
      }
    }
    expectTwoThreads(result, Self.timerMembers[index].name)
  }

  @Test func `an item made for one thread is refused by loops of others`() throws {
    try Loop.isolated { loop in
      let items: [Loop.Item] = [
        loop.makeSource(name: "jobs") { _ in }, loop.makePort { _, _ in },
        loop.makeTimer(after: .zero) { _ in }, loop.makeObserver { _, _ in },
        loop.makeDescriptorSource(0) { _, _ in }, loop.schedule(after: .zero) { _ in },
        loop.observe { _, _ in },
      ]
      for item in items {
        try loop.add(item)
        loop.remove(item)
        let thread = LoopThread()
        let refused = Guarded<[LoopError]>([])
        let box = RefusalBox(refused)
        thread.loop.changeAndWait { loop in
          do throws(LoopError) { try loop.add(item) } catch {
            box.value.withLock { $0.append(error) }
          }
        }
        thread.stop()
        #expect(thread.join(timeout: .seconds(60)))
        #expect(box.value.withLock { $0 } == [.madeForAnotherThread(item.label)])
      }
    }
  }

  private final class RefusalBox: Sendable {
    let value: Guarded<[LoopError]>
    init(_ value: consuming Guarded<[LoopError]>) { self.value = value }
  }
}
