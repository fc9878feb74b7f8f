// Attachments used as they should not be: twice, dropped, from other threads, and at their ends.

import CoreFoundation
import Foundation
import MoonloopCore
import MoonloopFoundation
import Testing

@Suite("Attachments that are misused")
struct AttachmentMisuseTests {
  @Test func `a second attachment throws, and the first goes on`() {
    let text = onFreshThread { trace, loop, host in
      let first = try loop.attach(to: host)
      for _ in 0..<100 {
        if (try? loop.attach(to: host)) != nil { trace.log("twice") }
        if (try? loop.attach(to: .current)) != nil { trace.log("twice") }
      }
      loop.schedule(after: .zero) { _ in
        trace.log("timer")
        do { try loop.attach(to: host) } catch { trace.log("refused") }
        first.detach()
        // Until the call-out is over, the first is there.
        do { try loop.attach(to: host) } catch { trace.log("refused") }
      }
      trace.log("host", runHost())
      try loop.attach(to: host)
      loop.schedule(after: .zero) { _ in trace.log("again") }
      trace.log("host", runHost())
    }
    #expect(text == "timer refused refused host=1 again host=1")
  }

  @Test func `two loops may be attached to one run loop, each with its own items`() {
    let text = onFreshThread { trace, loop, host in
      try loop.attach(to: host)
      let ours = loop.makeSource { _ in trace.log("outer") }
      try loop.add(ours)
      try Loop.isolated(clock: .real) { inner in
        try inner.attach(to: host)
        inner.schedule(after: .milliseconds(2)) { _ in
          trace.log("inner")
          inner.stop()
        }
        ours.signal()
        trace.log("result", inner.run())
        trace.log("running", loop.isRunning)
        inner.schedule(after: .zero) { _ in trace.log("never") }
      }
      ours.signal()
      loop.schedule(after: .zero) { _ in CFRunLoopStop(host) }
      trace.log("host", runHost())
    }
    #expect(text == "outer inner result=stopped running=false outer host=2")
  }

  @Test func `a dropped attachment goes on, and ends with its thread`() {
    nonisolated(unsafe) var kept: Loop?  // The scene is over when this thread reads it.
    let text = onFreshThread { trace, loop, host in
      weak let dropped = try loop.attach(to: host)
      trace.log("there", dropped != nil)
      loop.schedule(after: .zero, every: .milliseconds(1)) { _ in
        trace.log("timer")
        CFRunLoopStop(host)
      }
      runHost()
      kept = loop  // The thread ends with all of this, attached.
    }
    #expect(text == "there=true timer")
    // Code that still has the loop may do what other threads may.
    kept?.perform {}
    kept?.wakeUp()
    kept?.stop()
    #expect(kept?.changeAndWait { _ in } == false)
    kept = nil
  }

  @Test func `an attachment that is kept beyond its loop has nothing to detach`() {
    let text = onFreshThread { trace, _, host in
      var kept: RunLoopAttachment?
      try Loop.isolated(clock: .real) { kept = try $0.attach(to: host) }
      trace.log("attached", kept!.isAttached)
      kept!.detach()
      weak let gone = kept
      kept = nil
      trace.log("gone", gone == nil)
      trace.log("host", runHost())
    }
    #expect(text == "attached=false gone=true host=1")
  }

  @Test func `attached in the host's call-out, in its run, a loop is served by that run`() {
    let text = onFreshThread { trace, loop, host in
      let source = addHostSource(to: host) {
        guard let attachment = try? loop.attach(to: host) else { return trace.log("refused") }
        loop.schedule(after: .zero) { _ in
          trace.log("timer")
          attachment.detach()
          loop.schedule(after: .zero) { _ in trace.log("later") }
          CFRunLoopStop(host)
        }
      }
      CFRunLoopSourceSignal(source)
      trace.log("host", runHost())
      CFRunLoopSourceInvalidate(source)
      trace.log("host", runHost())
      trace.log("ours", loop.run())
    }
    #expect(text == "timer host=2 host=1 later ours=finished")
  }

  @Test func `attached and detached in each other's call-outs a thousand times, nothing is lost`() {
    let text = onFreshThread { trace, loop, host in
      var random = Pseudorandom(seed: 14)
      var attachment: RunLoopAttachment?
      var fired = 0
      var planned = 0
      func turn() {
        switch random.next() % 6 {
        case 0: attachment = (try? loop.attach(to: host)) ?? attachment
        case 1: attachment?.detach()
        case 2: attachment = nil
        case 3:
          planned += 1
          loop.schedule(after: .zero) { _ in
            fired += 1
            if random.next() % 3 == 0, loop.depth < 8 { turn() }
          }
        case 4: CFRunLoopPerformBlock(host, kCFRunLoopDefaultMode) { turn() }
        default: if loop.depth < 8 { runHost(kCFRunLoopDefaultMode, 0) }
        }
      }
      for _ in 0..<1000 { turn() }
      attachment?.detach()
      while loop.run(for: .zero) != .finished || runHost(kCFRunLoopDefaultMode, 0) == 4 {}
      trace.log("lost", planned - fired)
    }
    #expect(text == "lost=0")
  }

  private enum Misuse: String, CaseIterable {
    case attach, attachRunLoop, isAttached, detach
  }

  private static func misuse(_ way: Misuse) throws {
    let loop = Loop.current
    let attachment = try loop.attach(to: .current)
    if way == .attach || way == .attachRunLoop { attachment.detach() }
    let isDone = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      switch way {
      case .attach: _ = try? loop.attach(to: CFRunLoopGetCurrent())
      case .attachRunLoop: _ = try? loop.attach(to: RunLoop.current)
      case .isAttached: _ = attachment.isAttached
      case .detach: attachment.detach()
      }
      isDone.signal()
    }
    isDone.wait()
  }

  private func expect(_ result: ExitTest.Result?, says entry: String) {
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("\(entry): the loop of thread") || said.contains("\(entry): the main"))
    #expect(said.contains(/(called|used) on thread \d+/), "\(said)")
  }

  @Test func `on another thread each entry stops the program, with both threads named`() async {
    var said = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Self.misuse(.attach)
    }
    expect(said, says: "attach")
    said = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Self.misuse(.attachRunLoop)
    }
    expect(said, says: "attach")
    said = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Self.misuse(.isAttached)
    }
    expect(said, says: "isAttached")
    said = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Self.misuse(.detach)
    }
    expect(said, says: "detach")
  }
}

private struct Pseudorandom {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33)
  }
}
