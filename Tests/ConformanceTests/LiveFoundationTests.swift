// Scenes that run on the toolchain's live Foundation and on a loop of ours, in the same words so
// that the traces can be compared. Where they differ on purpose, the test names the rule that
// decides.

import CoreFoundation
import Foundation
import MoonloopCore
import Testing

/// What a scene has written. Unchecked Sendable: one thread has it at a time.
final class SceneTrace: @unchecked Sendable {
  private(set) var words: [String] = []
  func log(_ word: String) { words.append(word) }
  func log(_ word: String, _ value: Bool) { words.append("\(word)=\(value)") }
  var text: String { words.joined(separator: " ") }
}

/// Performs a scene on the run loop of a fresh thread, which is Foundation's.
func inFoundation(_ scene: @escaping @Sendable (SceneTrace) -> Void) -> String {
  let trace = SceneTrace()
  let isDone = DispatchSemaphore(value: 0)
  Thread.detachNewThread {
    scene(trace)
    isDone.signal()
  }
  // Core Foundation may hang, which must not hang this test.
  return isDone.wait(timeout: .now() + 20) == .success ? trace.text : "hangs"
}

/// Performs a scene on a loop of ours, whose clock is virtual.
func inMoonloop(_ scene: (SceneTrace, Loop) throws -> Void) rethrows -> String {
  let trace = SceneTrace()
  try Loop.isolated(clock: .virtual) { loop in try scene(trace, loop) }
  return trace.text
}

@Suite("Beside live Foundation: Timer")
struct LiveTimerTests {
  @Test func `fire keeps the dates of a repeating timer, and ends one that fires once`() {
    // R141
    let live = inFoundation { trace in
      for repeats in [true, false] {
        let timer = Timer(timeInterval: 60, repeats: repeats) { trace.log("fired", $0.isValid) }
        RunLoop.current.add(timer, forMode: RunLoop.Mode("other"))
        let date = timer.fireDate
        timer.fire()
        trace.log("valid", timer.isValid)
        if repeats { trace.log("date", timer.fireDate == date) }
        timer.fire()
        timer.invalidate()
        timer.fire()
      }
    }
    let ours = inMoonloop { trace, loop in
      for interval in [Duration.seconds(60), .zero] {
        let timer = loop.schedule(after: .seconds(60), every: interval, modes: ["other"]) {
          trace.log("fired", $0.isValid)
        }
        let date = timer.nextFire
        timer.fire()
        trace.log("valid", timer.isValid)
        if interval > .zero { trace.log("date", timer.nextFire == date) }
        timer.fire()
        timer.invalidate()
        timer.fire()
      }
    }
    #expect(ours == "fired=true valid=true date=true fired=true fired=true valid=false")
    #expect(live == ours)
  }

  @Test func `fire works on a timer that is on no loop, and calls it in its own handler there`() {
    // R141: in its own handler it has no effect here, as nested runs leave it alone too (R75).
    let live = inFoundation { trace in
      let timer = Timer(timeInterval: 60, repeats: true) { timer in
        trace.log("fired")
        if trace.words.count == 1 { timer.fire() }
      }
      timer.fire()
    }
    let ours = inMoonloop { trace, loop in
      let timer = loop.makeTimer(after: .seconds(60), every: .seconds(60)) { timer in
        trace.log("fired")
        if trace.words.count == 1 { timer.fire() }
      }
      timer.fire()
      timer.invalidate()
    }
    #expect(live == "fired fired")
    #expect(ours == "fired")
  }

  @Test func `a tolerance is forgotten on Linux there, and kept here`() {
    // R142
    let live = inFoundation { trace in
      let timer = Timer(timeInterval: 60, repeats: true) { _ in }
      timer.tolerance = 5
      trace.log("\(timer.tolerance)")
    }
    let ours = inMoonloop { trace, loop in
      let timer = loop.makeTimer(after: .zero, every: .seconds(60)) { _ in }
      timer.tolerance = .seconds(5)
      trace.log("\(timer.tolerance)")
    }
    #expect(live == "0.0" && ours == "5.0 seconds")
  }
}

@Suite("Beside live CFRunLoop: equal sources")
struct LiveSourceTests {
  /// The info of a CFRunLoop source, which decides what it equals.
  private final class Info: Sendable {
    let name: String
    let identity: Int
    let trace: SceneTrace

    init(_ name: String, _ identity: Int, _ trace: SceneTrace) {
      (self.name, self.identity, self.trace) = (name, identity, trace)
    }

    static func of(_ info: UnsafeRawPointer?) -> Info {
      Unmanaged<Info>.fromOpaque(info!).takeUnretainedValue()
    }
  }

  private static func liveSource(_ info: Info, order: Int = 0) -> CFRunLoopSource {
    var context = CFRunLoopSourceContext()
    context.info = Unmanaged.passUnretained(info).toOpaque()
    context.retain = { UnsafeRawPointer(Unmanaged<Info>.fromOpaque($0!).retain().toOpaque()) }
    context.release = { Unmanaged<Info>.fromOpaque($0!).release() }
    context.equal = { Info.of($0).identity == Info.of($1).identity }
    context.hash = { CFHashCode(Info.of($0).identity) }
    context.schedule = { info, _, _ in Info.of(info).trace.log("\(Info.of(info).name)+") }
    context.cancel = { info, _, _ in Info.of(info).trace.log("\(Info.of(info).name)-") }
    context.perform = { Info.of($0).trace.log(Info.of($0).name) }
    return CFRunLoopSourceCreate(nil, order, &context)
  }

  @Test func `a mode takes the first of several equal sources`() throws {
    // R143. Here the source that leaves gets the cancel call, as each that was added got a schedule
    // call (R46); in Core Foundation the one that was passed gets it.
    let live = inFoundation { trace in
      let loop = CFRunLoopGetCurrent()
      let mode = kCFRunLoopDefaultMode
      let a = Self.liveSource(Info("a", 1, trace))
      let b = Self.liveSource(Info("b", 1, trace))
      let c = Self.liveSource(Info("c", 1, trace), order: 5)
      for source in [a, b, c] { CFRunLoopAddSource(loop, source, mode) }
      for source in [a, b, c] { CFRunLoopSourceSignal(source) }
      CFRunLoopRunInMode(mode, 0, false)
      trace.log("contains b", CFRunLoopContainsSource(loop, b, mode))
      CFRunLoopRemoveSource(loop, b, mode)
      trace.log("contains a", CFRunLoopContainsSource(loop, a, mode))
      CFRunLoopSourceInvalidate(c)
    }
    let ours = try inMoonloop { trace, loop in
      let make = { (name: String, order: Int) in
        loop.makeSource(
          order: order, name: name, identity: 1, schedule: { _, _, _ in trace.log("\(name)+") },
          cancel: { _, _, _ in trace.log("\(name)-") }, perform: { _ in trace.log(name) })
      }
      let (a, b, c) = (make("a", 0), make("b", 0), make("c", 5))
      for source in [a, b, c] { try loop.add(source) }
      for source in [a, b, c] { source.signal() }
      loop.run(for: .zero)
      trace.log("contains b", loop.contains(b))
      loop.remove(b)
      trace.log("contains a", loop.contains(a))
      c.invalidate()
    }
    #expect(ours == "a+ c+ a c contains b=true a- contains a=false c-")
    #expect(live == "a+ c+ a c contains b=true b- contains a=false c-")
  }
}

@Suite("Beside live Foundation: RunLoop")
struct LiveRunLoopTests {
  /// A source that can be signalled by its name, in both.
  private static func liveSource(
    _ name: String, _ trace: SceneTrace, _ body: @escaping () -> Void = {}
  ) -> CFRunLoopSource {
    final class Info {
      let perform: () -> Void
      init(_ perform: @escaping () -> Void) { self.perform = perform }
    }
    var context = CFRunLoopSourceContext()
    context.info = Unmanaged.passRetained(
      Info {
        trace.log(name)
        body()
      }
    ).toOpaque()
    context.perform = { Unmanaged<Info>.fromOpaque($0!).takeUnretainedValue().perform() }
    let source = CFRunLoopSourceCreate(nil, 0, &context)!
    CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode)
    return source
  }

  @Test func `run(mode:before:) and acceptInput serve a mode once`() throws {
    // R128
    let live = inFoundation { trace in
      let loop = RunLoop.current
      trace.log("empty", loop.run(mode: .default, before: .distantFuture))
      loop.acceptInput(forMode: RunLoop.Mode.default.rawValue, before: .distantFuture)
      let sources = ["a", "b"].map { Self.liveSource($0, trace) }
      for source in sources { CFRunLoopSourceSignal(source) }
      trace.log("one", loop.run(mode: .default, before: .distantFuture))
      loop.acceptInput(forMode: RunLoop.Mode.default.rawValue, before: .distantFuture)
      trace.log("past", loop.run(mode: .default, before: .distantPast))
      loop.acceptInput(forMode: RunLoop.Mode.default.rawValue, before: .distantPast)
      for source in sources { CFRunLoopSourceInvalidate(source) }
    }
    let ours = try inMoonloop { trace, loop in
      trace.log("empty", loop.run(mode: .default, before: .distantFuture))
      loop.acceptInput(mode: .default, before: .distantFuture)
      let sources = ["a", "b"].map { name in loop.makeSource { _ in trace.log(name) } }
      for source in sources {
        try loop.add(source)
        source.signal()
      }
      let past = loop.now.advanced(by: .seconds(-1))
      trace.log("one", loop.run(mode: .default, before: .distantFuture))
      loop.acceptInput(mode: .default, before: .distantFuture)
      trace.log("past", loop.run(mode: .default, before: past))
      loop.acceptInput(mode: .default, before: past)
      for source in sources { source.invalidate() }
    }
    #expect(ours == "empty=false a one=true b past=true")
    #expect(live == ours)
  }

  @Test func `limitDate polls for one source, fires what is due, returns the next date`() throws {
    // R129
    let live = inFoundation { trace in
      let loop = RunLoop.current
      let say = { (date: Date?) in
        trace.log(date == nil ? "none" : date == .distantFuture ? "never" : "soon")
      }
      say(loop.limitDate(forMode: .default))
      loop.add(
        Timer(timeInterval: 0, repeats: false) { _ in trace.log("due") }, forMode: .default)
      say(loop.limitDate(forMode: .default))
      let sources = ["a", "b"].map { Self.liveSource($0, trace) }
      for source in sources { CFRunLoopSourceSignal(source) }
      say(loop.limitDate(forMode: .default))
      let later = Timer(fire: Date(timeIntervalSinceNow: 60), interval: 0, repeats: false) { _ in }
      loop.add(later, forMode: .default)
      say(loop.limitDate(forMode: .default))
      later.invalidate()
      for source in sources { CFRunLoopSourceInvalidate(source) }
    }
    let ours = try inMoonloop { trace, loop in
      let say = { (date: LoopTime?) in
        trace.log(date == nil ? "none" : date == .distantFuture ? "never" : "soon")
      }
      say(loop.limitDate(mode: .default))
      loop.schedule(after: .zero) { _ in trace.log("due") }
      say(loop.limitDate(mode: .default))
      let sources = ["a", "b"].map { name in loop.makeSource { _ in trace.log(name) } }
      for source in sources {
        try loop.add(source)
        source.signal()
      }
      say(loop.limitDate(mode: .default))
      let later = loop.schedule(after: .seconds(60)) { _ in }
      say(loop.limitDate(mode: .default))
      later.invalidate()
      for source in sources { source.invalidate() }
    }
    #expect(ours == "none due none a never b soon")
    #expect(live == ours)
  }

  @Test func `run(until:) serves what is there at least once, also for a date in the past`() throws
  {
    // R128
    let live = inFoundation { trace in
      let source = Self.liveSource("a", trace)
      CFRunLoopSourceSignal(source)
      RunLoop.current.perform { trace.log("block") }
      RunLoop.current.run(until: .distantPast)
      CFRunLoopSourceInvalidate(source)
      RunLoop.current.run(until: .distantFuture)
      trace.log("over")
    }
    let ours = try inMoonloop { trace, loop in
      let source = loop.makeSource { _ in trace.log("a") }
      try loop.add(source)
      source.signal()
      loop.perform(wakes: false) { trace.log("block") }
      loop.run(until: loop.now.advanced(by: .seconds(-1)))
      source.invalidate()
      loop.run(until: .distantFuture)
      trace.log("over")
    }
    #expect(ours == "block a over")
    #expect(live == ours)
  }

  @Test func `perform(inModes:) performs a block once, by the first of its modes that runs`() {
    // R103, R105, R95
    let live = inFoundation { trace in
      let loop = RunLoop.current
      let (m, n) = (RunLoop.Mode("m"), RunLoop.Mode("n"))
      loop.perform(inModes: [m, n]) { trace.log("mn") }
      loop.perform(inModes: [.common]) { trace.log("common") }
      loop.perform { trace.log("default") }
      loop.perform(inModes: [n]) { trace.log("n") }
      for mode in [n, m, .default] {
        trace.log(mode == n ? "run n:" : mode == m ? "run m:" : "run default:")
        trace.log("ran", loop.run(mode: mode, before: .distantPast))
      }
    }
    let ours = inMoonloop { trace, loop in
      loop.perform(modes: ["m", "n"], wakes: false) { trace.log("mn") }
      loop.perform(modes: [.common], wakes: false) { trace.log("common") }
      loop.perform(wakes: false) { trace.log("default") }
      loop.perform(modes: ["n"], wakes: false) { trace.log("n") }
      for mode in ["n", "m", .default] as [ModeName] {
        trace.log("run \(mode):")
        trace.log("ran", loop.run(mode: mode, before: loop.now.advanced(by: .seconds(-1))))
      }
    }
    #expect(
      ours == "run n: mn n ran=true run m: ran=false run default: common default ran=true")
    #expect(live == ours)
  }
}

@Suite("Beside live Foundation: NotificationQueue")
struct LiveNotificationQueueTests {
  typealias Ours = Loop.NotificationQueue

  /// A Foundation queue whose notifications are traced, and what keeps it alive.
  private static func liveQueue(
    _ names: [String], _ trace: SceneTrace
  ) -> NotificationQueue {
    let center = NotificationCenter()
    for name in names {
      _ = center.addObserver(forName: Notification.Name(name), object: nil, queue: nil) {
        trace.log($0.name.rawValue)
      }
    }
    return NotificationQueue(notificationCenter: center)
  }

  private static func live(_ name: String) -> Notification {
    Notification(name: Notification.Name(name), object: nil)
  }

  @Test func `what is alike is posted once, in the run that serves its mode`() {
    // R148, R149: the order is that of enqueueing here, the opposite there, the idle ones first.
    let live = inFoundation { trace in
      let queue = Self.liveQueue(["a", "b", "idle", "m"], trace)
      for name in ["a", "a", "b"] { queue.enqueue(Self.live(name), postingStyle: .asap) }
      for _ in 1...2 { queue.enqueue(Self.live("idle"), postingStyle: .whenIdle) }
      queue.enqueue(
        Self.live("m"), postingStyle: .asap, coalesceMask: [.onName],
        forModes: [RunLoop.Mode("m")])
      RunLoop.current.perform {
        trace.log("stop")
        CFRunLoopStop(CFRunLoopGetCurrent())
      }
      CFRunLoopRun()
    }
    let ours = inMoonloop { trace, loop in
      let queue = Ours(on: loop) { trace.log($0.name) }
      for name in ["a", "a", "b"] { queue.enqueue(.init(name), .asSoonAsPossible) }
      for _ in 1...2 { queue.enqueue(.init("idle"), .whenIdle) }
      queue.enqueue(.init("m"), .asSoonAsPossible, coalescing: .onName, modes: ["m"])
      loop.performHere(modes: [.default]) {
        trace.log("stop")
        loop.stop()
      }
      loop.run()
    }
    #expect(ours == "a b stop idle")
    #expect(live == "idle stop b a")
  }

  @Test func `now is at once, in one of the modes or outside of runs`() {
    // R148
    let live = inFoundation { trace in
      // Unsafe: the block runs on this thread.
      nonisolated(unsafe) let queue = Self.liveQueue(
        ["outside", "default", "other", "dropped"], trace)
      queue.enqueue(Self.live("dropped"), postingStyle: .asap)
      queue.enqueue(Self.live("dropped"), postingStyle: .whenIdle)
      queue.dequeueNotifications(matching: Self.live("dropped"), coalesceMask: [.onName])
      queue.enqueue(Self.live("outside"), postingStyle: .now)
      RunLoop.current.perform {
        queue.enqueue(Self.live("default"), postingStyle: .now)
        queue.enqueue(
          Self.live("other"), postingStyle: .now, coalesceMask: [],
          forModes: [RunLoop.Mode("other")])
        trace.log("block")
      }
      RunLoop.current.run(until: .distantPast)
    }
    let ours = inMoonloop { trace, loop in
      let queue = Ours(on: loop) { trace.log($0.name) }
      queue.enqueue(.init("dropped"), .asSoonAsPossible)
      queue.enqueue(.init("dropped"), .whenIdle)
      queue.dequeue(matching: .init("dropped"), coalescing: .onName)
      queue.enqueue(.init("outside"), .now)
      loop.performHere(modes: [.default]) {
        queue.enqueue(.init("default"), .now)
        queue.enqueue(.init("other"), .now, coalescing: [], modes: ["other"])
        trace.log("block")
      }
      loop.run()
    }
    #expect(ours == "outside default block")
    #expect(live == ours)
  }
}
