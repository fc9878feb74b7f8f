// All messages about tasks in one table, and reports: a changed wording is a visible diff.

import Moonloop
import Testing

@Suite struct TaskMessageTests {
  /// A chunk that raises, and the message; `ml` and `loop` are defined.
  static let messages: [(chunk: String, message: String)] = [
    ("loop:task()", "loop:task: takes a function, got no value (m:1)"),
    ("loop:task(5)", "loop:task: takes a function, got 5 (m:1)"),
    (
      "loop:task {}",
      "loop:task: the handler is missing: give a function as the first element of the table (m:1)"
    ),
    (
      "loop:task({ nam = 'x' }, print)",
      "loop:task: unknown option 'nam' (m:1); did you mean 'name'?"
    ),
    (
      "loop:task({ owner = 'me' }, print)",
      "loop:task: 'owner' must be \"none\", got \"me\"; a task with an owner is made by scope:task "
        + "(m:1)"
    ),
    (
      "loop.task(print)",
      "loop:task: must be called with a colon; got a function for the loop (m:1)"
    ),
    (
      "t:task({ owner = 'none' }, print)",
      "task:task: unknown option 'owner' (m:1); the options are name, modes, on_error"
    ),
    (
      "t.await()",
      "task:await: must be called with a colon; got no value for the task (m:1)"
    ),
    (
      "t:await { timeout = 1 }",
      "task:await: takes no options; use task:wait { timeout = … } (m:1)"
    ),
    ("t:wait(5)", "task:wait: takes a table of options, such as { timeout = 5 }; got 5 (m:1)"),
    (
      "t:wait { timeout = 'x' }",
      "task:wait: 'timeout' must be seconds, a finite number, got \"x\" (m:1)"
    ),
    (
      "t:wait { mode = 'common' }",
      "task:wait: 'common' is a set of modes; wait in one mode of it, such as 'default' (m:1)"
    ),
    ("t.nme = 1", "task: unknown field 'nme' (m:1); did you mean 'name'?"),
    (
      "ml.channel():values()",
      "channel: unknown field 'values' (m:1); it has capacity, close, count, invalidate, is_valid, "
        + "items, name, receive, send, try_receive, try_send"
    ),
    ("t.name = 1", "task: cannot set field 'name' (m:1)"),
    ("t.on_error = 1", "task.on_error: the handler must be a function, got 1 (m:1)"),
    ("ml.sleep(-1)", "ml.sleep: the time must be seconds, a number >= 0, got -1 (m:1)"),
    ("ml.sleep(0/0)", "ml.sleep: the time must be seconds, a number >= 0, got nan (m:1)"),
    (
      "ml.await(1)",
      "ml.await: the function that starts the operation must be a function, got 1 (m:1)"
    ),
    (
      "ml.await(function() return 1 end)",
      "ml.await: the function must return a handle to be closed on cancelling, or nothing, got 1 "
        + "(m:1)"
    ),
    (
      "ml.await(function() return {} end)",
      "ml.await: the function must return a handle to be closed on cancelling, or nothing, got a "
        + "table (m:1)"
    ),
    ("ml.timeout(1)", "ml.timeout: takes a function, got no value (m:1)"),
    (
      "ml.timeout('x', print)",
      "ml.timeout: the time must be seconds, a number >= 0, got \"x\" (m:1)"
    ),
    (
      "coroutine.wrap(function() ml.sleep(1) end)()",
      "m:1: ml.sleep: cannot wait here: inside a coroutine of the script's own; use :wait on a "
        + "task (m:1)"
    ),
  ]

  @Test func `each mistake with tasks has its message`() throws {
    try Loop.isolated { loop in
      let lua = try LuaState(on: loop)
      defer { lua.shutDown() }
      let runtime = try #require(lua.runtime)
      var report = ""
      runtime.errors.write = { report = $0 }
      for (chunk, message) in Self.messages {
        let setup =
          "local ml = require 'moonloop'; local loop = ml.current(); "
          + "local t = loop:task(function() end); "
        try runtime.mainChunk.start(chunk: setup + chunk, name: "=m")
        loop.run()
        let lines = report.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count > 1 && lines[1] == message, "\(chunk): \(report)")
        report = ""
      }
      #expect(lua.tasksInUse == 0)
    }
  }

  /// What is written to stderr when a script fails in the main chunk.
  private func report(of script: String) throws -> String {
    try Loop.isolated { loop in
      let lua = try LuaState(on: loop)
      defer { lua.shutDown() }
      let runtime = try #require(lua.runtime)
      var reports: [String] = []
      runtime.errors.write = { reports.append($0) }
      try runtime.mainChunk.start(chunk: script, name: "@app.lua")
      loop.run()
      #expect(lua.tasksInUse == 0)
      return reports.joined(separator: "\n")
    }
  }

  @Test func `a traceback crosses the awaits, and names each task and where it was made`() throws {
    let report = try report(
      of: """
        local ml = require "moonloop"
        local loop = ml.current()
        local function parse(text) return text.field.name end
        local function fetch() ml.sleep(1); local text = parse {}; return text end
        local job = loop:task({ name = "both" }, function(scope)
          local part = scope:task({ name = "part" }, fetch)
          return part:await()
        end)
        local function main() return (job:await()) end
        main()
        """)
    #expect(
      report == """
        moonloop: error in the main chunk, mode 'default'
        app.lua:3: attempt to index a nil value (field 'field')
        stack traceback:
        \tapp.lua:3: in upvalue 'parse'
        \tapp.lua:4: in function 'app.lua:4'
        \ttask 'part' made at app.lua:6
        \t[C]: in function 'await'
        \tapp.lua:7: in function 'app.lua:5'
        \ttask 'both' made at app.lua:5
        \t[C]: in function 'await'
        \tapp.lua:9: in local 'main'
        \tapp.lua:10: in main chunk
        """)
  }

  @Test func `an error in the main chunk closes its variables; both are reported`() throws {
    let report = try report(
      of: """
        local ml = require "moonloop"
        local closed <close> = setmetatable({}, { __close = function() error("close", 0) end })
        ml.sleep(1)
        error("first", 0)
        """)
    #expect(
      report == """
        moonloop: error in the main chunk, mode 'default'
        close
        moonloop: error in the main chunk, mode 'default'
        first
        stack traceback:
        \t[C]: in function 'error'
        \tapp.lua:4: in main chunk
        """)
  }

  @Test func `a limit that ends a task is reported, and its awaiter gets the error`() throws {
    try Loop.isolated(clock: .real) { loop in
      let lua = try LuaState(on: loop, limits: LuaLimits(callout: .milliseconds(30)))
      defer { lua.shutDown() }
      let runtime = try #require(lua.runtime)
      var reports: [String] = []
      runtime.errors.write = { reports.append($0) }
      try runtime.mainChunk.start(
        chunk: """
          local ml = require "moonloop"
          local job = ml.current():task({ name = "busy" }, function() while true do end end)
          local ok, e = pcall(job.await, job)
          told = e
          """, name: "@app.lua")
      loop.run()
      #expect(reports.count == 1 && reports[0].hasPrefix("moonloop: error in task 'busy'"))
      #expect(try lua.evaluate("return told") == "call-out took longer than 0.03 seconds")
    }
  }

  @Test func `closing the state with everything pending ends all, in any order`() throws {
    for steps in 0..<12 {
      try Loop.isolated { loop in
        let lua = try LuaState(on: loop)
        let runtime = try #require(lua.runtime)
        runtime.errors.write = { Issue.record("\($0)") }
        try runtime.mainChunk.start(
          chunk: """
            local ml = require "moonloop"
            local loop = ml.current()
            local job = loop:task(function(scope)
              local x <close> = setmetatable({}, { __close = function() scope:cancel() end })
              for i = 1, 3 do scope:task(ml.sleep, i) end
              scope:task(function() ml.await(function() return loop:after(5, print) end) end)
              ml.timeout(3, function() ml.sleep(10) end)
              coroutine.yield()
            end)
            loop:after(1, function() ml.sleep(2) end)
            loop:task({ owner = "none" }, function() pcall(job.await, job) end)
            job:await()
            """, name: "@app.lua")
        for _ in 0..<steps { loop.run(for: .zero) }
        let tasks = runtime.tasks.all.map { WeakTask(task: $0) }
        #expect(!tasks.isEmpty)
        lua.shutDown()
        #expect(tasks.allSatisfy { $0.task == nil }, "tasks hold each other")
      }
    }
  }
}

private struct WeakTask {
  weak var task: ScriptTask?
}
