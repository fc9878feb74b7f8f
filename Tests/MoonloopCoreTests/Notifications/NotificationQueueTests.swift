// Notification queues: when they post, in which modes, and what they coalesce.

internal import MoonloopCore
internal import Testing

@Suite struct NotificationQueueTests {
  typealias Notification = Loop.NotificationQueue.Notification

  /// A queue that writes each name, with the sender's if there is one.
  private func queue(
    _ rig: Rig, then: @escaping (String) -> Void = { _ in }
  ) -> Loop.NotificationQueue {
    Loop.NotificationQueue(on: rig.loop) { notification in
      rig.log(notification.name + (notification.info.map { "\($0)" } ?? ""))
      then(notification.name)
    }
  }

  @Test func `as soon as possible is in the pass, when idle before the sleep, in order`() throws {
    try withLoop { rig in  // R148
      try rig.observe(.all)
      let queue = queue(rig)
      try rig.timer("t", after: 1) { _ in
        for name in ["idle1", "idle2"] { queue.enqueue(Notification(name), .whenIdle) }
        for name in ["soon1", "soon2"] { queue.enqueue(Notification(name), .asSoonAsPossible) }
        queue.enqueue(Notification("now"), .now)
      }
      try rig.timer("u", after: 2)
      rig.run()
      rig.expect(
        "entry \(slept) t@1 now soon1 soon2 \(busy) beforeWaiting idle1 idle2 afterWaiting u@2 "
          + "exit finished")
      #expect(queue.count == 0 && rig.loop.modes(of: queue.observer) == [])
    }
  }

  @Test func `what is to be posted soon wakes the loop and keeps its mode, idle does not`() throws {
    try withLoop { rig in  // R148, R150
      let queue = queue(rig)
      queue.enqueue(Notification("idle"), .whenIdle)
      rig.run()
      queue.enqueue(Notification("soon"), .asSoonAsPossible)
      rig.run()
      rig.expect("finished soon idle finished")
      let source = try rig.source("s")
      try rig.observe(.beforeWaiting, repeats: false) { _, _ in
        queue.enqueue(Notification("late"), .asSoonAsPossible)
      }
      rig.run(for: 5)
      rig.expect("beforeWaiting late timedOut")
      source.invalidate()
    }
  }

  @Test func `a notification is posted in its modes alone`() throws {
    try withLoop { rig in  // R148
      let queue = queue(rig)
      try rig.source("s", modes: [.default, "m"])
      rig.loop.addCommonMode("m")
      for style in [Loop.NotificationQueue.PostingStyle.whenIdle, .asSoonAsPossible] {
        queue.enqueue(Notification("m", info: style), style, coalescing: [], modes: ["m"])
        queue.enqueue(
          Notification("common", info: style), style, coalescing: [], modes: [.common])
      }
      try rig.timer("t", after: 1, modes: ["m"]) { _ in
        rig.log("\(queue.enqueue(Notification("x"), .now))")
        rig.log("\(queue.enqueue(Notification("y"), .now, modes: [.common]))")
      }
      rig.run(for: 1)
      rig.run("m", for: 1)
      rig.expect(
        "commonasSoonAsPossible commonwhenIdle timedOut "
          + "masSoonAsPossible mwhenIdle t@1 false y true timedOut")
    }
  }

  @Test func `a new one takes the place of those that are like it, whatever their style`() throws {
    try withLoop { rig in  // R149
      let (a, b) = (PerformTargetTests.Door(), PerformTargetTests.Door())
      let queue = queue(rig)
      let enqueue = {
        (name: String, sender: AnyObject?, info: Int, mask: Loop.NotificationQueue.Coalescing) in
        _ = queue.enqueue(
          Notification(name, from: sender, info: info), .asSoonAsPossible, coalescing: mask)
      }
      let both: Loop.NotificationQueue.Coalescing = [.onName, .onSender]
      enqueue("n", a, 1, both)
      enqueue("n", b, 2, both)
      enqueue("n", nil, 3, both)
      enqueue("o", a, 4, both)
      enqueue("n", a, 5, both)
      rig.run()
      rig.expect("n2 n3 o4 n5 finished")
      for info in 1...3 { enqueue("n", a, info, []) }
      enqueue("o", a, 4, .onName)
      rig.run()
      rig.expect("n1 n2 n3 o4 finished")
      queue.enqueue(Notification("n", from: a, info: 1), .whenIdle)
      enqueue("n", b, 2, .onName)
      enqueue("o", b, 3, .onSender)
      #expect(queue.count == 1 && rig.loop.modes(of: queue.observer) == [])
      queue.enqueue(Notification("p", from: b, info: 4), .now, coalescing: .onSender)
      rig.run()
      rig.expect("p4 finished", "what was posted at once has taken the place too")
    }
  }

  @Test func `what is removed from the queue is not posted`() throws {
    try withLoop { rig in  // R149
      let queue = queue(rig)
      queue.enqueue(Notification("a"), .asSoonAsPossible)
      queue.enqueue(Notification("b"), .whenIdle)
      #expect(queue.dequeue(matching: Notification("a"), coalescing: []) == 0)
      #expect(queue.dequeue(matching: Notification("a")) == 1)
      #expect(queue.dequeue(matching: Notification("x"), coalescing: .onSender) == 1)
      rig.run()
      rig.expect("finished")
      queue.enqueue(Notification("a"), .asSoonAsPossible)
      queue.invalidate()
      #expect(!queue.enqueue(Notification("a"), .now) && queue.count == 0)
      rig.run()
      rig.expect("finished")
    }
  }

  @Test func `what a post enqueues waits for a later step`() throws {
    try withLoop { rig in  // R148, R106
      var queue: Loop.NotificationQueue!
      defer { queue = nil }
      queue = self.queue(rig) { name in
        if name.count < 3 {
          queue.enqueue(Notification(name + "a"), .asSoonAsPossible)
          queue.enqueue(Notification(name + "i"), .whenIdle)
        }
      }
      try rig.observe(.beforeTimers, name: "-")
      queue.enqueue(Notification("b"), .asSoonAsPossible)
      try rig.source("s")
      rig.run(for: 1)
      rig.expect("-:beforeTimers b bi ba bia -:beforeTimers baa bii bai timedOut")
    }
  }

  @Test func `a nested run posts what is for its mode, each once`() throws {
    try withLoop { rig in  // R148, R109
      try rig.source("s", modes: ["m"])
      var queue: Loop.NotificationQueue!
      queue = self.queue(rig) { name in
        if name == "first" { rig.run("m", for: 1) }
      }
      for name in ["first", "second"] {
        queue.enqueue(Notification(name), .asSoonAsPossible, modes: [.default, "m"])
      }
      rig.run()
      rig.expect("first timedOut second finished")
    }
  }

  @Test func `one of many that wait is made one with a new one`() throws {
    try withLoop { rig in  // R149
      let queue = queue(rig)
      for number in 0..<2000 { queue.enqueue(Notification("\(number)"), .whenIdle) }
      for _ in 0..<2000 { queue.enqueue(Notification("7"), .whenIdle) }
      #expect(queue.count == 2000)
    }
  }
}
