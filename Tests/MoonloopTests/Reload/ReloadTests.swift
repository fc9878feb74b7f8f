// Loading a file again is a transaction (D35, D36): traces on the virtual clock.

import Moonloop
import Testing

@Suite("Reloading") struct ReloadTests {
  private typealias Step = ReloadRun.Step

  @Test func `a timer made again keeps its phase and its count`() throws {
    let app = { (name: String) in
      """
      local ml = require "moonloop"
      local loop = ml.current()
      loop:timer { every = 1, name = "beat", function(timer, missed)
        print("\(name)", ml.now() - START, timer.fires, missed)
      end }
      """
    }
    let run = try ReloadRun.of(
      ["app.lua": "START = require 'moonloop'.now()\n" + app("one")],
      [Step(time: 2.25, files: ["app.lua": app("two")]), Step(time: 3.5, files: [:])], seconds: 4.5)
    #expect(
      run.lines == [
        "one 1.0 1 0", "one 2.0 2 0", "generation 2: 1 kept, 0 made, 0 ended", "two 3.0 3 0",
        "generation 3: 1 kept, 0 made, 0 ended", "two 4.0 4 0",
      ])
    #expect(run.reports == [])
  }

  @Test func `a thousand loads lose no tick of 10 ms`() throws {
    let app = """
      local ml = require "moonloop"
      local seen = ml.reload.state("seen", { start = ml.now(), ticks = 0, missed = 0, off = 0 })
      ml.current():timer { every = 0.01, name = "tick", function(timer, missed)
        seen.ticks = seen.ticks + 1
        seen.missed = seen.missed + missed
        local late = (ml.now() - seen.start) / 0.01 - seen.ticks
        if math.abs(late) > 1e-6 then seen.off = seen.off + 1 end
        if seen.ticks == 1100 then
          print(ml.reload.generation(), seen.missed, seen.off)
        end
      end }
      """
    let steps = (1...1000).map { Step(time: Double($0) * 0.01 + 0.0003, files: [:]) }
    let run = try ReloadRun.of(["app.lua": app], steps, seconds: 11.005)
    #expect(run.lines.last == "1001 0 0")
    #expect(run.lines.filter { $0.hasPrefix("generation") }.count == 1000)
    #expect(run.lines.filter { $0.hasPrefix("failed") } == [])
  }

  @Test func `why names the reload that has ended a handle, when, and what asked for it`() throws {
    let app = { (makes: String) in
      """
      local ml = require "moonloop"
      local loop = ml.current()
      loop:timer { every = 1, name = "kept", function(timer)
        if timer.fires == 3 then
          for _, handle in ipairs(old) do
            print((loop:why(handle):gsub("[%w_/.-]*/app.lua", "app.lua")))
          end
        end
      end }
      \(makes)
      """
    }
    let made = """
      old = {
        loop:timer { every = 60, name = "poll", print },
        loop:source { name = "queue", print },
      }
      """
    let run = try ReloadRun.of(
      ["app.lua": app(made)], [Step(time: 1.5, files: ["app.lua": app("")])], seconds: 4.5)
    let end =
      "it was invalidated by the reload to generation 2, 1.5 s ago, asked for at chunk:13: the file"
      + " as it is now does not make it, or not under this name; make it again"
    #expect(
      run.lines == [
        "generation 2: 1 kept, 0 made, 2 ended", "timer 'poll' (made at app.lua:11): \(end)",
        "source 'queue' (made at app.lua:12): \(end)",
      ])
    #expect(run.reports == [])
  }

  @Test func `a file does not stop the run in which it is reloaded`() throws {
    let app = """
      local loop = require "moonloop".current()
      loop:timer { every = 1, name = "beat", function() print "beat" end }
      print(loop:stop())
      """
    let run = try ReloadRun.of(
      ["app.lua": app],
      [Step(time: 1.4, files: [:]), Step(time: 1.6, files: ["app.lua": app + " error 'no'"])],
      seconds: 2.5)
    #expect(
      run.lines == [
        "false", "beat", "false", "generation 2: 1 kept, 0 made, 0 ended", "false",
        "failed: app.lua:3: no ENOEXEC", "beat",
      ])
  }

  @Test(
    arguments: [
      "loop:perform(again)", "loop:perform({ wake = false }, again)",
      "loop:observer { on = 'before_waiting', repeats = false, again }",
      "loop:source { schedule = again, again }",
    ] as [String])
  func `what requests a reload does not wait for other events`(text: String) throws {
    let app = """
      local ml = require "moonloop"
      local loop = ml.current()
      local function again()
        loop:task(function() ml.reload() print(("loaded after %.1f"):format(ml.now() - START)) end)
      end
      if ml.reload.generation() == 1 then START = ml.now() \(text) end
      loop:timer { every = 2, name = "beat", function() print "beat" end }
      """
    let run = try ReloadRun.of(["app.lua": app], seconds: 3)
    #expect(run.lines == ["loaded after 0.0", "beat"])
  }

  @Test func `an unload handler that fails is reported, and the program goes on`() throws {
    let app = """
      local ml = require "moonloop"
      local loop = ml.current()
      ml.reload.on_unload(function() print("left for", ml.reload.generation()) end)
      ml.reload.on_unload(function() error { message = "no luck" } end)
      loop:timer { every = 1, name = "beat", function() print "beat" end }
      """
    let run = try ReloadRun.of(
      ["app.lua": app], [Step(time: 1.5, files: [:])], seconds: 3.5, endsAtError: true)
    #expect(
      run.reports == [
        """
        moonloop: error in an unload handler, mode 'default'
        no luck
        stack traceback:
        \t[C]: in function 'error'
        \tapp.lua:4: in function <app.lua:4>
        \t[C]: in function 'xpcall'
        \t[C]: in ?
        """
      ])
    #expect(
      run.lines == ["beat", "left for 2", "generation 2: 1 kept, 0 made, 0 ended", "beat", "beat"])
  }

  @Test func `a file that fails changes nothing and says where`() throws {
    let good = """
      local ml = require "moonloop"
      local loop = ml.current()
      local part = require "part"
      local state = ml.reload.state("s", { list = { 1 } })
      function greet() return "old" end
      loop.on_error = function(e) print("handled", e.message) end
      local timer = loop:timer { every = 1, tolerance = 0.1, name = "beat", function(timer)
        print("beat", greet(), part.word, #state.list, new_global, timer.interval, timer.tolerance,
          table.concat(timer:modes(), ","), package.loaded.other)
      end }
      loop:after(2.5, function() error("x", 0) end)
      """
    let bad = """
      local ml = require "moonloop"
      local loop = ml.current()
      require "part"
      require "other"
      local state = ml.reload.state("s")
      state.list[2], state.more = 2, true
      ml.reload.state("fresh", { 1 })
      function greet() return "new" end
      new_global = 1
      loop.on_error = function() print "wrong handler" end
      ml.reload.on_unload(function() print "never" end)
      loop:timer { every = 0.3, name = "beat", modes = "other", keep_alive = false, print }
        .next_fire = ml.now() + 100
      loop:timer { every = 0.1, name = "brandnew", function() print "must not fire" end }
      loop:source { name = "source", function() print "must not perform" end }:signal()
      loop:task(function() print "must not run" end)
      loop:perform(function() print "must not be performed" end)
      local function fail() error "no luck" end
      fail()
      """
    let run = try ReloadRun.of(
      ["app.lua": good, "part.lua": "return { word = 'first' }", "other.lua": "return {}"],
      [
        Step(time: 1.5, files: ["app.lua": bad, "part.lua": "return { word = 'second' }"]),
        Step(time: 2.2, files: ["app.lua": "x ="]),
      ], seconds: 3.5)
    let beat = "beat old first 1 nil 1.0 0.1 default nil"
    #expect(
      run.lines == [
        beat, "failed: app.lua:18: no luck ENOEXEC", beat,
        "failed: app.lua:1: unexpected symbol near <eof> ENOEXEC", "handled x", beat,
      ])
    #expect(run.reports == [])
  }
}
