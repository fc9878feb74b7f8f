// A thread with its two run loops, one attached to the other.

import CoreFoundation
import Foundation
import MoonloopCore
import MoonloopFoundation
import Testing

/// What a scene has written. Unchecked Sendable: one thread has it at a time.
final class SceneTrace: @unchecked Sendable {
  private(set) var words: [String] = []
  func log(_ word: String) { words.append(word) }
  func log(_ word: String, _ value: Any) { words.append("\(word)=\(value)") }
  var text: String { words.joined(separator: " ") }
}

typealias Scene = @Sendable (SceneTrace, Loop, CFRunLoop) throws -> Void

/// Performs a scene on a fresh thread, whose loop is attached to its run loop of Foundation.
func hosted(_ scene: @escaping Scene) -> String {
  onFreshThread { trace, loop, host in
    try loop.attach(to: host)
    try scene(trace, loop, host)
  }
}

/// Performs a scene on a fresh thread with its two run loops.
func onFreshThread(_ scene: @escaping Scene) -> String {
  let trace = SceneTrace()
  let isDone = DispatchSemaphore(value: 0)
  Thread.detachNewThread {
    do {
      try scene(trace, Loop.current, CFRunLoopGetCurrent())
    } catch { trace.log("\(error)") }
    isDone.signal()
  }
  return isDone.wait(timeout: .now() + 120) == .success ? trace.text : "hangs"
}

/// Adds a source of the host that calls a closure.
func addHostSource(
  to host: CFRunLoop, _ mode: CFString = kCFRunLoopDefaultMode, order: Int = 0,
  _ body: @escaping () -> Void
) -> CFRunLoopSource {
  final class Call {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }
  var context = CFRunLoopSourceContext()
  context.info = Unmanaged.passRetained(Call(body)).toOpaque()
  context.perform = { Unmanaged<Call>.fromOpaque($0!).takeUnretainedValue().body() }
  let source = CFRunLoopSourceCreate(nil, order, &context)!
  CFRunLoopAddSource(host, source, mode)
  return source
}

/// A mode of the host by its name.
func mode(_ name: String) -> CFString {
  let units = Array(name.utf16)
  return CFStringCreateWithCharacters(nil, units, units.count)
}

/// Runs the host until it is stopped, or for a minute if the test fails.
@discardableResult
func runHost(_ mode: CFString = kCFRunLoopDefaultMode, _ seconds: Double = 60) -> Int32 {
  CFRunLoopRunInMode(mode, seconds, false).rawValue
}

let finished: Int32 = 1
let stopped: Int32 = 2
