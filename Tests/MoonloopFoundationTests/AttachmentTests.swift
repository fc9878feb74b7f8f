// A loop in the runs of CFRunLoop: items of both in one order, nested runs, the end.

import CoreFoundation
import Foundation
import MoonloopCore
import MoonloopFoundation
import Testing

@Suite("A loop attached to a run loop of Foundation")
struct AttachmentTests {
  /// Timers, sources, blocks and observers of both loops, run by one or the other.
  private static func mixed(_ run: @escaping @Sendable (Loop) -> Void) -> String {
    hosted { trace, loop, host in
      let theirs = addHostSource(to: host, order: 1) { trace.log("their-source") }
      let ours = loop.makeSource(order: 0) { _ in trace.log("our-source") }
      try loop.add(ours)
      loop.observe([.entry, .exit]) { _, activity in
        trace.log(activity == .entry ? "our-entry" : "our-exit")
      }
      CFRunLoopPerformBlock(host, kCFRunLoopDefaultMode) { trace.log("their-block") }
      loop.perform(wakes: false) { trace.log("our-block") }
      CFRunLoopSourceSignal(theirs)
      ours.signal()
      loop.schedule(after: .milliseconds(1)) { _ in
        trace.log("our-timer")
        trace.log("mode", loop.currentMode ?? "none")
        loop.stop()
      }
      run(loop)
      trace.log("running", loop.isRunning)
    }
  }

  @Test func `items of both are served at the same steps, whichever of the two is run`() {
    let expected = """
      our-entry their-block our-block our-source their-source our-timer mode=default our-exit \
      result=stopped running=false
      """
    let byUs = Self.mixed { loop in
      let result = loop.run()
      #expect(loop.wasStopped && result == .stopped)
    }
    let byThem = Self.mixed { _ in #expect(runHost() == stopped) }
    #expect(byUs == expected.replacingOccurrences(of: "result=stopped ", with: ""))
    #expect(byThem == byUs)
  }

  @Test func `runs are nested in each other's call-outs, in both directions`() {
    let text = hosted { trace, loop, host in
      let inner = loop.makeSource { _ in
        trace.log("depth", loop.depth)
        trace.log("mode", loop.currentMode ?? "none")
        loop.stop("inner")
      }
      try loop.add(inner, modes: ["m"])
      let theirs = addHostSource(to: host) {
        inner.signal()
        trace.log("ours", loop.run(mode: "m"))
        trace.log("value", loop.stopValue as? String ?? "")
        loop.stop()
      }
      let last = addHostSource(to: host, mode("n")) { trace.log("their-inner") }
      loop.schedule(after: .zero) { _ in
        CFRunLoopSourceSignal(last)
        trace.log("theirs", runHost(mode("n"), 0))
        CFRunLoopSourceSignal(theirs)
      }
      loop.run()
      trace.log("depth", loop.depth)
    }
    #expect(
      text == "their-inner theirs=3 depth=2 mode=m ours=stopped value=inner depth=0")
  }

  @Test func `a nested run in a timer's call-out serves other timers, and not that one`() {
    let text = hosted { trace, loop, _ in
      loop.schedule(after: .zero, every: .milliseconds(1)) { timer in
        trace.log("outer")
        trace.log("result", runHost(kCFRunLoopDefaultMode))
        timer.invalidate()
        loop.stop()
      }
      loop.schedule(after: .milliseconds(3)) { _ in
        trace.log("inner")
        loop.stop()
      }
      loop.run()
    }
    #expect(text == "outer inner result=2")
  }

  @Test func `an observer's call-out may run the host, whose observers are called again`() {
    let text = hosted { trace, loop, _ in
      loop.observe([.entry, .exit], modes: ["m"]) { _, activity in
        trace.log(activity == .entry ? "m-entry" : "m-exit")
      }
      let other = loop.makeSource { _ in trace.log("source") }
      try loop.add(other, modes: ["m"])
      loop.observe(.entry) { _, _ in
        other.signal()
        loop.run(mode: "m", for: .zero)
        loop.stop()
      }
      try loop.add(loop.makeSource { _ in })
      trace.log("result", loop.run())
    }
    #expect(text == "m-entry source m-exit result=stopped")
  }

  @Test func `a mode that is common in one is common in the other`() {
    let text = hosted { trace, loop, host in
      let ours = loop.makeSource { _ in trace.log("ours") }
      try loop.add(ours, modes: [.common])
      let theirs = addHostSource(to: host, kCFRunLoopCommonModes) { trace.log("theirs") }
      CFRunLoopAddCommonMode(host, mode("tracking"))
      loop.addCommonMode("dragging")
      for name in ["tracking", "dragging", "private"] {
        ours.signal()
        CFRunLoopSourceSignal(theirs)
        trace.log(name, runHost(mode(name), 0))
      }
    }
    #expect(
      text == "ours theirs tracking=3 ours theirs dragging=3 private=1"
        || text == "theirs ours tracking=3 theirs ours dragging=3 private=1")
  }

  @Test func `a run ends as finished when neither has anything left`() {
    let text = hosted { trace, loop, host in
      trace.log("empty", loop.run())
      loop.schedule(after: .zero) { _ in trace.log("timer") }
      trace.log("ours", loop.run())
      var theirs: CFRunLoopSource?
      theirs = addHostSource(to: host) {
        trace.log("theirs")
        CFRunLoopSourceInvalidate(theirs)
      }
      loop.schedule(after: .zero) { _ in CFRunLoopSourceSignal(theirs) }
      trace.log("both", runHost())
    }
    #expect(text == "empty=finished timer ours=finished theirs both=1")
  }

  @Test func `signals, messages, blocks and stops of other threads arrive`() {
    let text = hosted { trace, loop, _ in
      // Each sends the next: their order depends on no thread's pace.
      let port = loop.makePort { _, message in
        trace.log("\(message)")
        Thread.detachNewThread {
          loop.perform {
            trace.log("block")
            Thread.detachNewThread { loop.stop() }
          }
        }
      }
      let source = loop.makeSource { _ in
        trace.log("signalled")
        Thread.detachNewThread { try? port.post("message") }
      }
      try loop.add(source)
      try loop.add(port)
      Thread.detachNewThread {
        source.signal()
        loop.wakeUp()
      }
      trace.log("result", loop.run())
    }
    #expect(text == "signalled message block result=stopped")
  }

  @Test func `descriptors take their turns, and what is left is served in the next pass`() {
    let text = hosted { trace, loop, _ in
      var ends: [Int32] = [0, 0]
      #expect(pipe(&ends) == 0)
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }  // not for children of other tests
      _ = write(ends[1], "abc", 3)
      let reading = ends[0]
      let source = loop.makeDescriptorSource(reading, closesDescriptor: true) { source, _ in
        var byte: UInt8 = 0
        let count = read(reading, &byte, 1)
        if count == 0 { return source.invalidate() }
        trace.log(String(UnicodeScalar(byte)))
      }
      try loop.add(source)
      close(ends[1])
      trace.log("result", loop.run())
    }
    #expect(text == "a b c result=finished")
  }

  private actor Counter {
    let loop: Loop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    init(_ loop: Loop) { self.loop = loop }
    func check(_ trace: SceneTrace) {
      trace.log("on", loop.isOnThread)
      loop.stop()
    }
  }

  private static func runActor() {
    let text = hosted { trace, loop, _ in
      let counter = Counter(loop)
      try loop.add(loop.makeSource { _ in })
      Task { await counter.check(trace) }
      runHost()
    }
    if text != "on=true" { exit(1) }
  }

  // In its own process: here other tests may occupy all threads that perform tasks.
  @Test func `tasks of an actor on the loop are performed by the host's runs`() async {
    await #expect(processExitsWith: .success) { Self.runActor() }
  }
}

@Suite("The end of an attachment, and its misuse")
struct DetachTests {
  @Test func `detaching in a call-out takes effect after it, and the items stay`() {
    let text = onFreshThread { trace, loop, host in
      let attachment = try loop.attach(to: host)
      loop.schedule(after: .zero) { _ in
        attachment.detach()
        trace.log("attached", attachment.isAttached)
        loop.schedule(after: .zero) { _ in trace.log("later") }
      }
      let theirs = addHostSource(to: host) { CFRunLoopStop(host) }
      CFRunLoopSourceSignal(theirs)
      trace.log("host", runHost())
      trace.log("ours", loop.run())
    }
    #expect(text == "attached=false host=2 later ours=finished")
  }

  @Test func `detaching in a nested run of the host does not disturb the outer one`() {
    let text = onFreshThread { trace, loop, host in
      let attachment = try loop.attach(to: host)
      loop.schedule(after: .zero) { _ in
        CFRunLoopPerformBlock(host, mode("m")) { attachment.detach() }
        _ = addHostSource(to: host, mode("m")) {}
        trace.log("nested", runHost(mode("m"), 0))
        trace.log("depth", loop.depth)
        CFRunLoopStop(host)
      }
      _ = addHostSource(to: host) {}
      trace.log("outer", runHost())
      trace.log("depth", loop.depth)
      trace.log("ours", loop.run())
    }
    #expect(text == "nested=3 depth=1 outer=2 depth=0 ours=finished")
  }

  @Test func `the second detach has no effect, and attaching again works`() {
    let text = onFreshThread { trace, loop, host in
      let attachment = try loop.attach(to: host)
      attachment.detach()
      attachment.detach()
      try loop.attach(to: .current)
      attachment.detach()
      loop.schedule(after: .zero) { _ in trace.log("timer") }
      trace.log("\(runHost())")
    }
    #expect(text == "timer 1")
  }

  @Test func `what cannot be attached says why`() {
    let text = onFreshThread { trace, loop, host in
      func attempt(_ loop: Loop, _ host: CFRunLoop) {
        do { try loop.attach(to: host) } catch { trace.log("\(error);") }
      }
      let attachment = try loop.attach(to: host)
      attempt(loop, host)
      attempt(loop, CFRunLoopGetMain())
      attachment.detach()
      Loop.isolated(clock: .virtual) { attempt($0, host) }
      attempt(Loop.isolated { $0 }, host)
      loop.schedule(after: .zero) { _ in attempt(loop, host) }
      loop.run()
    }
    #expect(
      text.replacingOccurrences(of: #"thread \d+"#, with: "thread N", options: .regularExpression)
        == """
        the loop of thread N is attached already; detach it first; the run loop belongs to another \
        thread; attach the loop of that thread; an isolated loop has a time of its own; make it \
        with the real clock; an isolated loop has ended; the loop of thread N runs by itself; \
        attach it before its run, or after it;
        """)
  }

  @Test func `a loop that ends detaches itself, and the attachment may be dropped before`() {
    let text = onFreshThread { trace, _, host in
      Loop.isolated(clock: .real) { loop in
        _ = try? loop.attach(to: host)
        loop.schedule(after: .zero) { _ in
          trace.log("timer")
          CFRunLoopStop(host)
        }
        runHost()
        loop.schedule(after: .zero) { _ in trace.log("never") }
      }
      trace.log("host", runHost())
    }
    #expect(text == "timer host=1")
  }
}
