// Threads with a loop of their own: their start and end, requests between them, and actors on them.

import Glibc
internal import MoonloopCore
internal import Synchronization
internal import Testing

@Suite struct LoopThreadTests {
  @Test func `its loop runs until it is stopped, and ends in order`() throws {
    let thread = LoopThread(name: "a thread with a long name")
    let log = Log()
    #expect(thread.loop.name == "a thread with a long name")
    thread.loop.change { loop in
      let source = Loop.Source(cancel: { _, _, mode in log.add("cancel \(mode)") }) { _ in }
      try? loop.add(source, modes: [.default, "other"])
    }
    #expect(thread.loop.performAndWait { log.add("performed on its thread") } == .performed)
    let late = thread.loop.perform(modes: ["never"]) { log.add("never") }
    #expect(!thread.hasEnded)
    thread.stop()
    thread.stop()
    #expect(thread.join(timeout: .seconds(60)))
    #expect(thread.hasEnded && late.isCancelled)
    #expect(thread.loop.performAndWait {} == .ended)
    #expect(log.lines == ["performed on its thread", "cancel default", "cancel other"])
  }

  @Test func `stopping ends runs inside runs, and those that begin later`() throws {
    let thread = LoopThread(name: "nested")
    let log = Log()
    let isInside = LinuxGateBox()
    thread.loop.perform {
      let loop = Loop.current
      let holder = Loop.Source { _ in }
      try? loop.add(holder, modes: ["inner"])
      isInside.open()
      log.add("inner: \(loop.run(mode: "inner"))")
      log.add("again: \(loop.run(mode: "inner"))")
    }
    #expect(isInside.wait())
    thread.stop()
    #expect(thread.join(timeout: .seconds(60)))
    #expect(log.lines == ["inner: stopped", "again: stopped"])
  }

  @Test func `it has no signals of the program, and a stack for scripts`() {
    let thread = LoopThread(name: "bare")
    let found = Guarded<(blocked: Bool, stack: Int)>((false, 0))
    let box = GuardedBox(found)
    thread.loop.performAndWait {
      var mask = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &mask)
      let blocked = [SIGINT, SIGTERM, SIGHUP, SIGCHLD].allSatisfy { sigismember(&mask, $0) == 1 }
      // A smaller stack ends the process here.
      let depth = Self.useStack(6 << 20)
      box.value.withLock { $0 = (blocked, depth) }
    }
    thread.stop()
    thread.join()
    let (blocked, stack) = box.value.withLock { $0 }
    #expect(blocked && stack == 6 << 20)
  }

  /// Uses this many bytes of stack.
  private static func useStack(_ bytes: Int) -> Int {
    if bytes <= 0 { return 0 }
    return withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in
      buffer.initializeMemory(as: UInt8.self, repeating: 1)
      return useStack(bytes - 65_536) + buffer.count
    }
  }

  @Test func `requests between threads are performed in order, once, and can be taken back`() {
    // R111, R112, R115, R116, between two threads that both run.
    let a = LoopThread(name: "a")
    let b = LoopThread(name: "b")
    let log = Log()
    let done = LinuxGateBox()
    a.loop.perform {
      // b is held, so that its next look finds all requests.
      let isHeld = LinuxGateBox()
      let goesOn = LinuxGateBox()
      b.loop.perform {
        isHeld.open()
        _ = goesOn.wait()
      }
      _ = isHeld.wait()
      for number in 1...3 { b.loop.perform(asSource: true) { log.add("\(number)") } }
      let cancelled = b.loop.perform(asSource: true) { log.add("cancelled") }
      b.loop.perform(modes: [.default, "other"], asSource: true) { log.add("once") }
      #expect(cancelled.cancel() && !cancelled.cancel())
      goesOn.open()
      // R113: waits for the requests before it.
      log.add("\(b.loop.performAndWait { log.add("waited for") })")
      // R113 on the thread itself: at once.
      log.add("\(a.loop.performAndWait { log.add("here") })")
      done.open()
    }
    #expect(done.wait())
    #expect(
      log.lines == ["1", "2", "3", "once", "waited for", "performed", "here", "performed"])
    for thread in [a, b] { thread.stop() }
    for thread in [a, b] { #expect(thread.join(timeout: .seconds(60))) }
  }

  @Test func `a wait says why it goes on, and ends when the other thread does`() throws {
    // R113
    let busy = LoopThread(name: "busy")
    let other = busy.loop.performAndWait(modes: ["other"], timeout: .milliseconds(20)) {}
    #expect(other == .timedOut(.otherModeOrBusy))
    let waits = LoopThread(name: "waits")
    let outcome = Log()
    let begins = LinuxGateBox()
    waits.loop.perform {
      begins.open()
      outcome.add("\(busy.loop.performAndWait(modes: ["never"]) {})")
    }
    #expect(begins.wait())
    busy.stop()
    #expect(busy.join(timeout: .seconds(60)))
    waits.stop()
    #expect(waits.join(timeout: .seconds(60)))
    #expect(outcome.lines == ["ended"])
  }

  @Test func `two threads that wait for each other's delayed requests both go on`() throws {
    // R114 across threads: the delay is asked for on the loop's own thread.
    let a = LoopThread(name: "a")
    let b = LoopThread(name: "b")
    let log = Log()
    let done = LinuxGateBox()
    a.loop.change { loop in
      loop.perform(after: .milliseconds(1)) {
        log.add("a")
        b.loop.change { loop in
          loop.perform(after: .zero) {
            log.add("b")
            done.open()
          }
        }
      }
    }
    #expect(done.wait())
    for thread in [a, b] {
      thread.stop()
      #expect(thread.join(timeout: .seconds(60)))
    }
    #expect(log.lines == ["a", "b"])
  }

  @Test func `an actor runs on the loop that is its executor`() async {
    let thread = LoopThread(name: "actor")
    let counter = LoopActor(thread.loop)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<50 { group.addTask { await counter.increment() } }
    }
    let (count, wasOnThread) = await counter.result
    #expect(count == 50 && wasOnThread)
    thread.stop()
    #expect(thread.join(timeout: .seconds(60)))
  }
}

private actor LoopActor {
  private let loop: Loop
  private var count = 0
  private var wasOnThread = true

  init(_ loop: Loop) { self.loop = loop }

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  func increment() {
    count += 1
    wasOnThread = wasOnThread && loop.isOnThread
  }

  var result: (Int, Bool) { (count, wasOnThread) }
}

@Suite struct SharedInboxTests {
  @Test func `a loop that never looks keeps one note for each source and port that others serve`()
    throws
  {
    try withLoop { rig in  // R48
      let source = try rig.source("s")
      let port = try rig.port("p")
      let idle = LoopThread(name: "idle")
      let isHeld = LinuxGateBox()
      let goesOn = LinuxGateBox()
      #expect(
        idle.loop.changeAndWait { loop in
          try? loop.add(source, modes: ["never"])
          try? loop.add(port, modes: ["never"])
        })
      idle.loop.perform {
        isHeld.open()
        _ = goesOn.wait()
      }
      #expect(isHeld.wait())
      for number in 1...100 {
        source.signal()
        try port.post(number)
        rig.run(for: 0)
      }
      #expect(source.callouts == 100 && port.callouts == 100)
      #expect(idle.loop.shared.inbox.waiting == 2)
      source.invalidate()
      port.invalidate()
      goesOn.open()
      idle.stop()
      #expect(idle.join(timeout: .seconds(60)))
    }
  }
}

/// Lines that several threads add to.
final class Log: Sendable {
  private let content = Guarded<[String]>([])
  func add(_ line: String) { content.withLock { $0.append(line) } }
  var lines: [String] { content.withLock { $0 } }
}

/// A gate of the real kernel, with a generous limit.
final class LinuxGateBox: Sendable {
  private let gate: any Gate

  init() {
    do { gate = try LinuxKernel().makeGate() } catch { fatalError("gate: \(error)") }
  }

  func open() { gate.open() }
  func wait() -> Bool { gate.wait(atMost: 60_000_000_000) }
}

private final class GuardedBox<Value>: Sendable {
  let value: Guarded<Value>
  init(_ value: consuming Guarded<Value>) { self.value = value }
}
