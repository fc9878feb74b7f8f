// Perform blocks: in order, taken together, each in the first of its modes to run.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct BlockTests {
  @Test func `a block of a batch stays in it when a nested run in another of its modes passes`()
    throws
  {
    try withLoop { rig in  // R105, R109
      rig.block("first", modes: ["a"]) {
        rig.block("own", modes: ["b"])
        rig.run("b", for: 0)
      }
      rig.block("ab", modes: ["a", "b"])
      rig.block("common", modes: ["a", .common])
      rig.run("a", for: 0)
      rig.run(for: 0)
      rig.expect("first own timedOut ab common timedOut finished")
    }
  }

  @Test func `a block for several modes is let go of by all when it was performed`() throws {
    try withLoop { rig in  // R105
      final class Held {}
      weak var held: Held?
      do {
        let object = Held()
        held = object
        rig.loop.performHere(modes: ["a", "b", .common]) { _ = object }
      }
      #expect(held != nil)
      rig.run("a", for: 0)
      #expect(held == nil)
      rig.run("b", for: 0)
    }
  }

  @Test func `a block added by a block runs in a later step`() throws {
    try withLoop { rig in  // R104, R106
      try rig.observe(.beforeWaiting)
      try rig.source("s", signalled: true)
      rig.block("one") { rig.block("two") { rig.block("three") { rig.block("four") } } }
      rig.run(for: 1)
      // Before the sources, after them, at the end of the pass; then the next pass.
      rig.expect("one s two three four beforeWaiting timedOut")
    }
  }

  @Test func `adding a block does not wake; added in beforeWaiting it waits out the sleep`() throws
  {
    try withLoop { rig in  // R107
      try rig.source("s")
      try rig.observe(.beforeWaiting, repeats: false) { _, _ in
        rig.block("late") { rig.log("@\(rig.clock)") }
      }
      let thread = rig.thread {
        rig.spend(1)
        rig.loop.perform(wakes: false) { rig.log("other") }
      }
      rig.run(for: 3)
      rig.expect("beforeWaiting late @3 other timedOut")
      rig.world.join(thread)
    }
  }

  @Test func `the everyday form wakes`() throws {
    try withLoop { rig in  // the "better" of R107
      try rig.source("s")
      let thread = rig.thread {
        rig.spend(1)
        rig.loop.perform { rig.log("block@\(rig.clock)") }
      }
      rig.run(for: 3)
      rig.expect("block@1 timedOut")
      rig.world.join(thread)
    }
  }

  @Test func `a queued block makes its mode non-empty and creates it`() throws {
    try withLoop { rig in  // R108
      let request = rig.block("b", modes: ["new"])
      #expect(rig.loop.modeNames.contains("new"))
      request.cancel()
      rig.run("new")
      rig.block("c", modes: ["new"])
      rig.run("new")
      rig.expect("finished c finished")
    }
  }

  @Test func `a cancelled block releases what it holds outside of the queue`() throws {
    final class Canary {
      let act: () -> Void
      init(_ act: @escaping () -> Void) { self.act = act }
      deinit { act() }
    }
    try withLoop { rig in  // R127
      let canary = Canary { rig.block("from deinit") }
      let request = rig.loop.performHere(modes: [.default], wakes: false) { [canary] in
        _ = canary
      }
      request.cancel()
      _ = consume canary
      rig.block("b")
      rig.run(for: 0)
      rig.run(for: 0)
      rig.expect("b from deinit timedOut finished")
    }
  }
}
