// The libdispatch main queue, with a kernel whose queue is a list in the test.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct MainQueueTests {
  @Test func `the queue is drained in common modes only, all of it in one go`() throws {
    try withMainQueue { rig, queue in  // R122, R125
      try rig.source("holds", modes: ["other"])
      queue.add("a")
      queue.add("b")
      rig.run("other", for: 1)
      rig.run(for: 1)
      rig.expect("timedOut a b timedOut")
    }
  }

  @Test func `the queue makes common modes non-empty and counts as a source`() throws {
    try withMainQueue { rig, queue in  // R8, R123
      rig.run(for: 1)
      rig.run("other")
      queue.add("a")
      rig.run(for: 5, returnAfterSource: true)
      rig.loop.mainQueueHolds = false
      rig.run(for: 1)
      rig.expect("timedOut finished a handledSource finished")
    }
  }

  @Test func `a block from another thread wakes the loop`() throws {
    try withMainQueue { rig, queue in  // R122
      let thread = rig.thread {
        rig.spend(1)
        queue.add("a")
      }
      rig.run(for: 5, returnAfterSource: true)
      rig.expect("a handledSource")
      #expect(rig.clock == "1")
      rig.world.join(thread)
    }
  }

  @Test func `a nested run inside a block does not drain the queue`() throws {
    try withMainQueue { rig, queue in  // R124
      queue.add("a") {
        queue.add("b")
        rig.run(for: 1)
        rig.log("end of a")
      }
      rig.run(for: 2)
      rig.expect("a finished end of a b timedOut")
    }
  }

  private func withMainQueue(_ body: (Rig, FakeQueue) throws -> Void) throws {
    try withLoop { rig in
      let queue = try FakeQueue(rig)
      try body(rig, queue)
      rig.kernel.mainQueue = {}
    }
  }
}

/// Blocks that wait for the main thread, and a stream that is readable while there are any.
/// Unchecked Sendable: threads of the world take turns.
final class FakeQueue: @unchecked Sendable {
  private let rig: Rig
  private let pair: (near: Int32, far: Int32)
  private var blocks: [(String, () -> Void)] = []

  init(_ rig: Rig) throws {
    self.rig = rig
    pair = try rig.kernel.socketPair()
    rig.kernel.mainQueueDescriptor = pair.near
    rig.kernel.mainQueue = { [unowned self] in drain() }
  }

  func add(_ name: String, _ body: @escaping () -> Void = {}) {
    blocks.append((name, body))
    try? rig.send("x", to: pair.far)
  }

  /// Runs the queued blocks; what a block adds waits for the next time.
  private func drain() {
    _ = try? rig.receive(from: pair.near)
    let taken = blocks
    blocks = []
    for (name, body) in taken {
      rig.log(name)
      body()
    }
  }
}
