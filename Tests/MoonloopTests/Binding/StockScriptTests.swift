// We must not change Lua: the scripts of Tests/Scripts/StockLua/ pass in stock Lua, and in ours
// wherever script code runs.

import CStockLua
import Glibc
import Moonloop
import TestSupport
import Testing

@Suite(.serialized) struct StockScriptTests {
  static let scripts = ["hooks", "coroutines", "collector", "errors", "closing", "modules"]

  /// Where the script runs; each calls the function `chunk`.
  static let places: [(name: String, script: String)] = [
    ("the main chunk", "chunk() done()"),
    ("a timer", "loop:after(1, function() chunk() done() end)"),
    ("a timer that waited", "loop:after(1, function() ml.sleep(1) chunk() ml.sleep(1) done() end)"),
    ("a task", "loop:task(function() chunk() done() end)"),
    (
      "a task that waited",
      "loop:task(function() ml.sleep(0) chunk() ml.sleep(0) done() end)"
    ),
    ("a block", "loop:perform(function() chunk() done() end)"),
    (
      "a nested run",
      """
      local function inner() chunk() done() loop:stop() end
      loop:after(1, function() loop:after(1, inner) loop:run() end)
      """
    ),
  ]

  private func text(_ script: String) throws -> String {
    try ScriptFileTests.text("StockLua/\(script).lua")
  }

  @Test(arguments: scripts)
  func `a script passes in stock Lua`(script: String) throws {
    let text = try text(script)
    let result = cts_run(text, text.utf8.count, "@\(script).lua")!
    defer { free(result) }
    #expect(String(cString: result) == "")
  }

  @Test(arguments: scripts)
  func `it passes wherever scripts run as well`(script: String) throws {
    let text = try text(script)
    for place in Self.places {
      try Loop.isolated(clock: .virtual) { loop in
        let lua = try LuaState(
          on: loop, limits: LuaLimits(memory: 256 << 20, callout: .seconds(60)))
        defer { lua.shutDown() }
        let runtime = try #require(lua.runtime)
        var reports: [String] = []
        runtime.errors.write = { reports.append($0) }
        var isDone = false
        lua.register("done") { () -> Void in isDone = true }
        lua.set("text", text)
        try runtime.mainChunk.start(
          chunk: """
            local ml = require "moonloop"
            local loop = ml.current()
            local chunk = assert(load(text, "@\(script).lua"))
            \(place.script)
            """, name: "=place")
        if !runtime.runs.ranLoop { loop.run() }
        #expect(reports == [], "in \(place.name)")
        #expect(isDone, "in \(place.name)")
        #expect(lua.tasksInUse == 0, "in \(place.name)")
      }
    }
  }

  @Test func `the module adds no global and nothing to any library`() throws {
    let reach = """
      local lines = {}
      for name, value in pairs(_G) do
        lines[#lines + 1] = name
        if type(value) == 'table' and name ~= '_G' then
          for field in pairs(value) do lines[#lines + 1] = name .. '.' .. tostring(field) end
        end
      end
      table.sort(lines)
      return table.concat(lines, '\\n')
      """
    let result = cts_run(reach, reach.utf8.count, "=reach")!
    defer { free(result) }
    try Loop.isolated(clock: .virtual) { loop in
      let lua = try LuaState(on: loop)
      defer { lua.shutDown() }
      try lua.run("require 'moonloop'")
      #expect(try lua.evaluate(reach) == String(cString: result))
    }
  }
}
