// Scenes that run on the live Foundation of the toolchain and on a loop of ours; the same words, so
// that the traces can be compared. Where they are not to be equal, the test says which rule
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
  isDone.wait()
  return trace.text
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
  /// The info of a source of CFRunLoop, which says what equals what.
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
    // R143. The one that leaves gets its cancel call here, as each that came got a schedule call
    // (R46); there it is the one that was named.
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
