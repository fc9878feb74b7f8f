// The order within a pass, and what a pass leaves out.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct PassOrderTests {
  @Test func `a pass has the documented order`() throws {
    try withLoop { rig in  // R24, R28
      try rig.observe()
      let source = try rig.source("s") { _ in rig.block("after sources") }
      source.signal()
      rig.block("before sources")
      try rig.timer("t", after: 1) { _ in rig.block("at the end") }
      rig.run(for: 2)
      rig.expect(
        "entry \(busy) before sources s after sources \(slept) t@1 "
          + "at the end \(slept) exit timedOut"
      )
    }
  }

  @Test func `a due timer ends the sleep at once`() throws {
    try withLoop { rig in  // R24, R30
      try rig.observe()
      try rig.timer("t", after: 0)
      rig.run(for: 1)
      rig.expect("entry \(slept) t@0 exit finished")
    }
  }

  @Test func `a descriptor that is ready before the sleep is served without one`() throws {
    try withLoop { rig in  // R27
      try rig.observe()
      let (near, far) = try rig.kernel.socketPair()
      try rig.descriptor("d", near) { _ in _ = try rig.receive(from: near) }
      try rig.send("x", to: far)
      rig.run(for: 1)
      rig.expect("entry \(busy) d:read \(slept) exit timedOut")
      rig.kernel.close(near)
      rig.kernel.close(far)
    }
  }

  @Test(
    "one event a pass, with or without an observer of the sleep", arguments: [false, true])
  func oneEvent(isWatched: Bool) throws {
    try withLoop { rig in  // R29, R54
      if isWatched { try rig.observe([.beforeWaiting]) }
      try rig.observe(.beforeTimers, name: "-")
      let port = try rig.port("p")
      for number in 1...3 { try port.post(number) }
      rig.run(for: 0)
      try rig.source("s") { _ in }
      rig.loop.perform { rig.log("block") }
      rig.run(for: 0)
      rig.run(for: 0)
      rig.expect(
        "-:beforeTimers p:1 timedOut -:beforeTimers block p:2 timedOut -:beforeTimers p:3 timedOut")
    }
  }

  @Test("a ready port goes before a due timer", arguments: [false, true])
  func portFirst(isWatched: Bool) throws {
    try withLoop { rig in  // R56, R31
      if isWatched { try rig.observe([.beforeWaiting]) }
      let port = try rig.port("p")
      try rig.timer("t1", after: 1)
      try rig.timer("t2", after: 2)
      try rig.source("s", signalled: true) { _ in
        rig.spend(3)
        try port.post(1)
        try port.post(2)
      }
      rig.run(for: 4)
      // The source's pass serves one event too; then due timers go first, once.
      rig.expect(
        "s p:1 \(isWatched ? "beforeWaiting " : "")t1@3 t2@3 p:2 "
          + "\(isWatched ? "beforeWaiting " : "")timedOut")
    }
  }

  @Test func `a due timer fires in the second pass at the latest, however busy ports are`() throws {
    try withLoop { rig in  // R31
      let port = try rig.port("p") { port in
        rig.spend(1)
        if rig.elapsed < 6_000_000_000 { try port.post("again") }
      }
      try port.post("first")
      try rig.timer("t", after: 0.5, every: 1) {
        if rig.elapsed > 4_000_000_000 { $0.invalidate() }
      }
      rig.run(for: 20)
      rig.expect(
        "p:first t@1 p:again t@2 p:again t@3 p:again t@4 p:again t@5 p:again timedOut")
    }
  }

  @Test func `ports and timers are served between sources that signal themselves`() throws {
    try withLoop { rig in  // R31
      var rounds = 0
      try rig.source("s", signalled: true) { source in
        rounds += 1
        if rounds < 5 { source.signal() }
      }
      let port = try rig.port("p")
      try port.post(1)
      try port.post(2)
      try rig.timer("t", after: 0)
      rig.run(for: 0.5)
      rig.expect("s p:1 s t@0 s p:2 s s timedOut")
    }
  }

  @Test func `blocks that add themselves do not stop timers`() throws {
    try withLoop { rig in  // R31, R106
      func again(_ left: Int) {
        rig.block("b\(left)") { if left > 1 { again(left - 1) } }
      }
      again(4)
      try rig.timer("t", after: 0)
      rig.run(for: 0)
      rig.run(for: 0)
      rig.expect("b4 t@0 b3 timedOut b2 b1 timedOut")
    }
  }

  @Test func `a port that is always ready keeps no descriptor from its turn`() throws {
    try withLoop { rig in  // R31, R54
      let (near, far) = try rig.kernel.socketPair()
      try rig.descriptor("d", near) { _ in _ = try rig.receive(from: near) }
      try rig.send("x", to: far)
      var left = 3
      let port = try rig.port("p") { port in
        left -= 1
        if left > 0 { try port.post(left) }
      }
      try port.post(3)
      rig.run(for: 1)
      rig.expect("p:3 d:read p:2 p:1 timedOut")
      rig.kernel.close(near)
      rig.kernel.close(far)
    }
  }

  @Test func `the date of a timer that is gone ends no sleep`() throws {
    try withLoop { rig in  // R30
      try rig.observe()
      try rig.source("s")
      let one = try rig.timer("one", after: 2)
      let two = try rig.timer("two", after: 3)
      try rig.timer("t", after: 1) { _ in
        one.invalidate()
        rig.loop.remove(two)
      }
      rig.run(for: 5)
      rig.expect("entry \(slept) t@1 \(slept) exit timedOut")
      two.invalidate()
    }
  }

  @Test func `a timer that fired in a batch ends no sleep later`() throws {
    try withLoop { rig in  // R30, R73
      try rig.observe()
      try rig.source("s")
      try rig.timer("a", after: 1) { _ in rig.spend(2) }
      try rig.timer("b", after: 2)
      rig.run(for: 5)
      rig.expect("entry \(slept) a@1 \(slept) b@3 \(slept) exit timedOut")
    }
  }

  @Test func `a message that was served in another mode ends no sleep`() throws {
    try withLoop { rig in  // R30: nothing stale in the rings.
      try rig.observe(modes: ["a", "b"])
      let port = try rig.port("p", modes: ["a", "b"])
      try port.post(1)
      rig.run("a", for: 0)
      rig.expect("entry \(busy) p:1 exit timedOut")
      rig.run("b", for: 1)
      rig.expect("entry \(slept) exit timedOut")
    }
  }

  @Test func `a port that was removed while it was ready ends no sleep`() throws {
    try withLoop { rig in  // R30, R57
      try rig.source("s")
      let one = try rig.port("one")
      let two = try rig.port("two")
      try one.post(1)
      try two.post(2)
      rig.run(for: 0)
      rig.expect("one:1 timedOut")
      rig.loop.remove(two)
      try rig.observe()
      rig.run(for: 1)
      rig.expect("entry \(slept) exit timedOut")
      two.invalidate()
    }
  }

  @Test func `a descriptor that is disabled while it waits for its turn ends no sleep`() throws {
    try withLoop { rig in  // R30, R65
      let (near, far) = try rig.kernel.socketPair()
      let (near2, far2) = try rig.kernel.socketPair()
      var second: Loop.DescriptorSource?
      try rig.descriptor("one", near) { _ in
        _ = try rig.receive(from: near)
        second?.disable(.read)
      }
      second = try rig.descriptor("two", near2)
      try rig.send("x", to: far)
      try rig.send("x", to: far2)
      try rig.observe()
      rig.run(for: 1)
      rig.expect("entry \(busy) one:read \(slept) exit timedOut")
      second?.enable(.read)
      rig.run(for: 0, returnAfterSource: true)
      rig.expect("entry \(busy) two:read exit handledSource")
      for fd in [near, far, near2, far2] { rig.kernel.close(fd) }
    }
  }
}
