// Errors in finalizers are reported as all others, and count for the exit status.

import Moonloop
import Testing

@Suite struct FinalizerReportTests {
  private static let start = """
    local ml = require "moonloop"
    local loop = ml.current()
    local function finalize(f) setmetatable({}, { __gc = f }) end

    """

  private func run(
    _ chunk: String, limits: LuaLimits = LuaLimits()
  ) throws -> (reports: [String], count: Int, log: [String]) {
    try Loop.isolated(clock: .virtual) { loop in
      let lua = try LuaState(on: loop, limits: limits)
      let runtime = try #require(lua.runtime)
      var reports: [String] = []
      var log: [String] = []
      runtime.errors.write = { reports.append($0) }
      lua.register("say") { (line: String) in log.append(line) }
      try runtime.start(chunk: Self.start + chunk, name: "=f")
      loop.run()
      lua.shutDown()
      return (reports, runtime.errors.count, log)
    }
  }

  @Test func `an error is reported once, wherever the finalizer ran; the loop goes on`() throws {
    let (reports, count, log) = try run(
      """
      finalize(function() error "in the chunk" end) collectgarbage()
      loop:after(1, function() finalize(function() error "in a timer" end) collectgarbage() end)
      loop:after(2, function() finalize(function() error "at the end" end) say "still here" end)
      """)
    #expect(
      reports == [
        "moonloop: error in a finalizer\nerror in __gc (f:4: in the chunk)",
        "moonloop: error in a finalizer, mode 'default'\nerror in __gc (f:5: in a timer)",
        "moonloop: error in a finalizer\nerror in __gc (f:6: at the end)",
      ])
    #expect(count == 3)
    #expect(log == ["still here"])
  }

  @Test func `the loop's own handler is asked`() throws {
    let (reports, count, log) = try run(
      """
      loop.on_error = function(report) say(report.handle .. ": " .. report.message) end
      finalize(function() error {} end) collectgarbage()
      """)
    #expect(reports == [])
    #expect(count == 1)
    #expect(log == ["a finalizer: error in __gc (error object is not a string)"])
  }

  @Test func `one that loops is stopped in the sleep of the loop and at its end`() throws {
    let (reports, count, _) = try run(
      """
      collectgarbage "stop"
      finalize(function() while true do end end)
      """, limits: LuaLimits(callout: .milliseconds(20)))
    #expect(
      reports == [
        "moonloop: error in a finalizer\n"
          + "in a finalizer (__gc): call-out took longer than 0.02 seconds"
      ])
    #expect(count == 1)
  }
}
