// What the system refuses when a child is started, a signal handled or a file watched: a value for
// the script, and nothing left behind.

import Glibc
import Moonloop
import Testing

@Suite("Refusals of the system")
struct ProcessFaultTests {
  static let calls: [(call: SystemCall, script: String)] = [
    (.pipe, "return ml.process.spawn { 'true', stdin = 'pipe', stdout = 'pipe' }"),
    (.clone, "return ml.process.spawn { 'true', stdout = 'pipe' }"),
    (.open, "return ml.process.spawn { 'true', stdin = 'null' }"),
    (.fcntl, "return ml.process.spawn { 'true', stdout = 'pipe' }"),
    (.signalfd, "return ml.signal { 'rtmin+9', print }"),
    (.inotifyInit, "return ml.watch { '/tmp/nothing', print }"),
    (.inotifyAdd, "return ml.watch { '/tmp/nothing', print }"),
  ]

  @Test("are values, whichever call fails", arguments: calls.indices)
  func areValues(_ index: Int) throws {
    let (call, script) = Self.calls[index]
    try Loop.isolated(clock: .virtual) { loop in
      let state = try LuaState(on: loop)
      defer { state.shutDown() }
      try state.run("ml = require 'moonloop'; function try() \(script) end")
      let (code, strikes): (String, Int) = try SystemFault.during(
        call, after: call == .inotifyAdd ? 1 : 0, code: EMFILE
      ) {
        try state.evaluate("local handle, message, code = try(); return tostring(code)")
      }
      #expect(strikes == 1 && code == "EMFILE", "\(call.name): \(code)")
      #expect(state.runtime!.handles.items.isEmpty, "\(call.name)")
    }
  }

  @Test("of watches say which limit it is, and what to do")
  func limitOfWatches() throws {
    try Loop.isolated(clock: .virtual) { loop in
      let state = try LuaState(on: loop)
      defer { state.shutDown() }
      try state.run("ml = require 'moonloop'")
      let (text, _): (String, Int) = try SystemFault.during(.inotifyAdd, after: 1, code: ENOSPC) {
        try state.evaluate("return (select(2, ml.watch { '/tmp/x', print }))")
      }
      #expect(text.hasPrefix("ml.watch: cannot watch '/tmp/x': all "), "\(text)")
      #expect(text.hasSuffix("watch fewer, or raise fs.inotify.max_user_watches"), "\(text)")
    }
  }
}
