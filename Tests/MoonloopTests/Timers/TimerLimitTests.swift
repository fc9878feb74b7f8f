// A loop at its limit of timers: scripts get an error, and tasks still go on.

import Moonloop
import Testing

@Suite struct TimerLimitTests {
  /// Runs a chunk on a loop that may hold few timers, and returns what it put into `out`.
  private func run(_ chunk: String, limit: Int) throws -> [String] {
    try Loop.isolated(clock: .virtual) { loop in
      loop.timerLimit = limit
      let lua = try LuaState(on: loop)
      defer { lua.shutDown() }
      let runtime = try #require(lua.runtime)
      var lines: [String] = []
      runtime.errors.write = { lines.append($0) }
      lua.register("out") { (line: String) in lines.append(line) }
      try runtime.mainChunk.start(
        chunk: "local ml = require 'moonloop' local loop = ml.current() " + chunk, name: "@a.lua")
      loop.run()
      return lines
    }
  }

  static let calls: [(call: String, name: String)] = [
    ("loop:after(1, print)", "loop:after"), ("ml.sleep(1)", "ml.sleep"),
    ("ml.timeout(1, print)", "ml.timeout"),
    ("ml.channel(0):receive { timeout = 1 }", "channel:receive"),
    ("loop:perform_after(1, print)", "loop:perform_after"),
    ("ml.timer { first = 1, print }", "ml.timer"),
  ]

  @Test(arguments: calls)
  func `no room for a timer is an error of the call`(call: String, name: String) throws {
    let lines = try run(
      """
      for _ = 1, 4 do loop:after(1, function() end) end
      local ok, e = pcall(function() \(call) end)
      out(tostring(e))
      """, limit: 4)
    #expect(lines == ["\(name): the loop has 4 timers, and cannot hold more (a.lua:2)"])
  }

  @Test func `tasks begin, and go on from waits without a timer, when there is no room`() throws {
    let lines = try run(
      """
      local c = ml.channel(0)
      for _ = 1, 4 do loop:after(1, function() end) end
      local tasks = {}
      for i = 1, 3 do tasks[i] = loop:task(function() return c:receive() end) end
      local cancelled = loop:task(function() c:receive() end)
      ml.sleep(0)
      cancelled:cancel "no"
      for i = 1, 3 do c:send(i) end
      for i = 1, 3 do out(tostring(tasks[i]:await())) end
      out(tostring(select(2, pcall(cancelled.await, cancelled))))
      """, limit: 4)
    #expect(lines == ["1", "2", "3", "no"])
  }
}
