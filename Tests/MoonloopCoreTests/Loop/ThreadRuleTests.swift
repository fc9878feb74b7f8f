// The thread rule: off its thread, a loop stops the program with a message that names both threads.

import Glibc
internal import MoonloopCore
internal import TestSupport
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
    ("add", { try? $0.add(Loop.Source { _ in }) }),
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

  @Test func `threads are named though the loop of the item has gone meanwhile`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let timer = Loop.Timer(after: .seconds(1), name: "late") { _ in }
      // As if its thread had ended between the look at the owner and the sentence.
      do {
        let loop = try Loop(name: "a loop", kernel: try LinuxKernel(clock: .virtual), thread: 1)
        _ = timer.claim(for: loop)
      }
      _ = timer.nextFire
    }
    expectTwoThreads(result, "timer.nextFire")
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("timer 'late' is on a loop of thread 1, called on thread "), "\(said)")
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

  /// Something that a handler holds; records where it is released.
  private final class Held {
    let gone: (_ thread: pthread_t) -> Void
    init(_ gone: @escaping (pthread_t) -> Void) { self.gone = gone }
    deinit { gone(pthread_self()) }
  }

  private static let making: [(name: String, make: @Sendable (Loop, Held) -> Loop.Item)] = [
    ("source", { loop, held in loop.makeSource { _ in withExtendedLifetime(held) {} } }),
    ("port", { loop, held in loop.makePort { _, _ in withExtendedLifetime(held) {} } }),
    (
      "timer", { loop, held in loop.makeTimer(after: .zero) { _ in withExtendedLifetime(held) {} } }
    ),
    ("observer", { loop, held in loop.makeObserver { _, _ in withExtendedLifetime(held) {} } }),
    (
      "descriptor",
      { loop, held in loop.makeDescriptorSource(0) { _, _ in withExtendedLifetime(held) {} } }
    ),
  ]

  /// Drops the last reference to an item on another thread.
  private func dropElsewhere(_ make: () -> Loop.Item) {
    let box = ItemBox(Guarded(make()))
    let crew = Crew()
    crew.start { box.item.withLock { $0 = nil } }
    crew.join()
  }

  private final class ItemBox: Sendable {
    let item: Guarded<Loop.Item?>
    init(_ item: consuming Guarded<Loop.Item?>) { self.item = item }
  }

  @Test(arguments: making.indices)
  func `the handler of an item made for one thread is let go of there`(index: Int) {
    // On a thread of its own: this one may have a loop already.
    onThread { [index] in
      var threads: [pthread_t] = []
      func makeAndDrop(_ loop: Loop) {
        dropElsewhere { Self.making[index].make(loop, Held { threads.append($0) }) }
      }
      Loop.isolated { loop in
        makeAndDrop(loop)
        #expect(threads == [])
        loop.run(mode: .default, for: .zero)
        #expect(threads == [pthread_self()])
        makeAndDrop(loop)
      }
      #expect(threads == [pthread_self(), pthread_self()])

      // If the thread has no loop any more, its next loop gets them.
      var item: Loop.Item? = Loop.isolated { loop in
        Self.making[index].make(loop, Held { threads.append($0) })
      }
      dropElsewhere { item.take()! }
      Loop.isolated { _ in }
      #expect(threads == [pthread_self(), pthread_self(), pthread_self()])
    }
  }

  @Test func `a notification queue names both threads when it is counted elsewhere`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      struct Smuggled: @unchecked Sendable {  // what this test is about
        let queue: Loop.NotificationQueue
      }
      Loop.isolated { loop in
        let smuggled = Smuggled(queue: Loop.NotificationQueue(on: loop) { _ in })
        let crew = Crew()
        crew.start { _ = smuggled.queue.count }
        crew.join()
      }
    }
    expectTwoThreads(result, "NotificationQueue.count")
  }

  private final class RefusalBox: Sendable {
    let value: Guarded<[LoopError]>
    init(_ value: consuming Guarded<[LoopError]>) { self.value = value }
  }
}
