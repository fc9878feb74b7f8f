// Errors in finalizers are reported like all others, and count for the exit status.

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
      try runtime.mainChunk.start(chunk: Self.start + chunk, name: "=f")
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

  static let makers: [(what: String, name: String, call: String)] = [
    ("a timer", "loop:after", "loop:after(0, say)"),
    ("a made timer", "ml.timer", "ml.timer { first = 0, say }"),
    ("a task", "loop:task", "loop:task(say, 'task')"),
    ("a request", "loop:perform", "loop:perform(say, 'x')"),
    ("a source", "loop:source", "loop:source { perform = say }"),
    ("an observer", "loop:observer", "loop:observer { on = 'exit', say }"),
    ("a port", "loop:port", "loop:port { say }"), ("a channel", "ml.channel", "ml.channel(1)"),
  ]

  @Test(arguments: makers)
  func `what is made at the end of the state does not outlive it`(
    what: String, name: String, call: String
  ) throws {
    try Loop.isolated(clock: .virtual) { loop in
      let lua = try LuaState(on: loop)
      var log: [String] = []
      lua.runtime!.errors.write = { log.append($0) }
      lua.register("say") { log.append("called") }
      try lua.runtime!.mainChunk.start(
        chunk: Self.start + "x = setmetatable({}, { __gc = function() \(call) end })",
        name: "=f")
      lua.shutDown()
      #expect(
        log == [
          "moonloop: error in a finalizer\nerror in __gc (\(name): the script has ended; a "
            + "finalizer can only clean up (f:4))"
        ])
      loop.run(for: .seconds(1))
      #expect(log.count == 1 && !loop.hasItems)
    }
  }

  @Test func `a handle that was collected before is an error of the finalizer that uses it`() throws
  {
    let (reports, _, log) = try run(
      """
      -- Whatever is made last is finalized first: the handles before the objects that use them.
      local function late(make, use)
        local box = {}
        setmetatable(box, { __gc = function() say(select(2, pcall(use, box[1]))) end })
        box[1] = make()
      end
      late(function() return ml.source { perform = print } end, function(h) h:invalidate() end)
      late(function() return ml.channel(1) end, function(h) h:try_send(1) end)
      late(function() return ml.semaphore(1) end, function(h) return h.available end)
      for _ = 1, 4 do collectgarbage() end
      """)
    #expect(reports == [])
    let sorted = log.sorted()
    #expect(sorted.count == 3 && sorted.allSatisfy { $0.contains("uses it too late") }, "\(log)")
  }

  @Test func `at the end of the state no handler is asked, not even one set in a finalizer`() throws
  {
    let (reports, _, log) = try run(
      """
      x = setmetatable({}, { __gc = function() error "told" end })
      y = setmetatable({}, { __gc = function() loop.on_error = function() say "asked" end end })
      """)
    #expect(reports.count == 1 && log == [])
  }

  @Test func `a finalizer may make tasks while a coroutine for another is made`() throws {
    let (reports, _, log) = try run(
      """
      local begun = 0
      local function work() begun = begun + 1 ml.sleep(1) end
      for _ = 1, 5000 do loop:task(work) end
      ml.sleep(10)  -- there are records without a coroutine now
      collectgarbage("generational")
      for _ = 1, 3000 do
        finalize(function() for _ = 1, 3 do loop:task(work) end end)
        loop:task(work)
      end
      collectgarbage()
      loop:after(100, function() say(tostring(begun)) end)
      """)
    #expect(reports == [] && log == ["17000"])
  }
}
