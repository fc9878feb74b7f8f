// The scripts of Tests/Scripts/Tasks/ and Channels/, on the virtual clock: each checks itself.

import Moonloop
import TestSupport
import Testing

/// Helpers of the scripts: `same(actual, expected)` compares values and lists.
private let prelude = """
  local function text(value)
    if type(value) == "string" then return ("%q"):format(value) end
    if type(value) ~= "table" then return tostring(value) end
    local parts = {}
    for i = 1, value.n or #value do parts[i] = text(value[i]) end
    return "{ " .. table.concat(parts, ", ") .. " }"
  end
  function same(actual, expected)
    local a, b = text(actual), text(expected)
    if a ~= b then error("expected " .. b .. "\\n     got " .. a, 2) end
  end
  """

@Suite struct TaskScriptTests {
  /// The scripts, and how many errors each reports on purpose.
  static let scripts: [(name: String, errors: Int)] = [
    ("Tasks/adopt", 0), ("Tasks/await", 0), ("Tasks/boundary", 0), ("Tasks/cancel", 0),
    ("Tasks/failure", 7), ("Tasks/late_turns", 0), ("Tasks/scope", 1), ("Tasks/turns", 1),
    ("Tasks/wait", 0),
    ("Channels/channel", 0), ("Channels/semaphore", 0),
  ]

  @Test(arguments: scripts)
  func `a script of tasks reports what it means to report`(name: String, errors: Int) throws {
    let text = try ScriptFileTests.text("\(name).lua")
    try Loop.isolated(clock: .virtual) { loop in
      let lua = try LuaState(on: loop)
      defer { lua.shutDown() }
      let runtime = try #require(lua.runtime)
      var reports: [String] = []
      runtime.errors.write = { reports.append($0) }
      runtime.errors.verdict = .stop
      try lua.run(prelude, name: "=prelude")
      try runtime.mainChunk.start(chunk: text, name: "@\(name).lua")
      loop.run()
      #expect(lua.tasksInUse == 0)
      #expect(runtime.errors.count == errors, "\(reports.joined(separator: "\n"))")
    }
  }

  /// The waits of `Tasks/late_turns`, by name.
  private static let lateTurns: [String] = {
    let text = (try? ScriptFileTests.text("Tasks/late_turns.lua")) ?? ""
    return text.matches(of: /\nfunction kinds\.(\w+)/).map { String($0.1) }
  }()

  @Test(arguments: lateTurns)
  func `a state that is closed takes the answer of a wait with it`(kind: String) throws {
    let text = try ScriptFileTests.text("Tasks/late_turns.lua")
    try Loop.isolated(clock: .virtual) { loop in
      var lua: LuaState? = try LuaState(on: loop)
      var reports: [String] = []
      var isClosed = false
      lua!.runtime!.errors.write = { reports.append($0) }
      lua!.set("closing_kind", kind)
      lua!.register("closing") { isClosed = true }
      try lua!.runtime!.mainChunk.start(chunk: text, name: "@late_turns.lua")
      loop.run(for: .zero)
      #expect(isClosed)
      weak let runtime = lua?.runtime
      lua = nil
      #expect(runtime == nil)
      // What the state had on the loop is not called any more.
      for mode: ModeName in [.default, "later", .default] { loop.run(mode: mode, for: .seconds(1)) }
      #expect(reports == [])
    }
  }

  @Test func `there are waits to close a state in`() { #expect(Self.lateTurns.count > 25) }
}
