// Workers in the program: how it ends while they run, and what it reports about them.

import Foundation
import Testing

@Suite("Workers")
struct WorkerTests {
  @Test("that loop for ever do not keep the program from its end")
  func endless() throws {
    try withFile(
      """
      local ml = require "moonloop"
      local loop = ml.current()
      for _ = 1, 3 do
        assert(ml.worker { source = "while true do pcall(function() while true do end end) end" })
      end
      loop:after(0.05, function() print "stops"; loop:stop() end)
      """
    ) { path in
      let outcome = try moonloop(["run", path])
      #expect(outcome.output == "stops\n" && outcome.errors == "" && outcome.status == 0)
    }
  }

  @Test("end with the program on SIGTERM, those inside workers too")
  func signal() throws {
    let program = try Program([
      "run", "-e",
      """
      local ml = require "moonloop"
      local inner = [[
        local ml = require("moonloop")
        ml.parent:send "ready"
        while true do end
      ]]
      local worker = assert(ml.worker { args = inner, source = [[
        local ml = require("moonloop")
        local worker = assert(ml.worker { source = ... })
        worker.port:on("message", function(message) ml.parent:send(message) end)
      ]] })
      worker.port:on("message", function(message) print(message); io.stdout:flush() end)
      """,
    ])
    try program.waitFor("ready")
    program.send(SIGTERM)
    let outcome = try program.wait()
    #expect(outcome.status == 143 && outcome.errors == "" && !outcome.wasKilled, "\(outcome)")
  }

  @Test("blocked in C are named, and left behind")
  func blocked() throws {
    let program = try Program([
      "run", "-e",
      """
      local ml = require "moonloop"
      local worker = assert(ml.worker { name = "sleeper", source = [[
        local ml = require("moonloop")
        ml.parent:send "ready"
        ml.sleep(0)
        os.execute "exec sleep 60 >/dev/null 2>&1"
      ]] })
      worker.port:on("message", function() ml.current():after(0.2, function()
        ml.current():stop()
      end) end)
      """,
    ])
    let outcome = try program.wait(untilOutputEnds: false)
    #expect(outcome.status == 1)
    #expect(
      outcome.errors.contains(
        "worker 'sleeper' (made at (command line):2) does not end: it is in os.execute (worker:4), "
          + "which blocks its thread; it is left behind"), "\(outcome)")
    #expect(outcome.isOurs)
  }

  @Test("that pass a limit are ended, and the program says so")
  func limits() throws {
    let outcome = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      assert(ml.worker { name = "greedy", memory = "4M", source = [[
        local list = {}
        while true do list[#list + 1] = ("x"):rep(1000) .. #list end
      ]] })
      assert(ml.worker { name = "slow", callout = 0.05, source = "while true do end" })
      """,
    ])
    #expect(outcome.status == 3, "\(outcome)")
    #expect(outcome.errors.contains("worker 'greedy'") && outcome.errors.contains("memory limit"))
    #expect(outcome.errors.contains("worker 'slow'") && outcome.errors.contains("took longer"))
    #expect(outcome.isOurs)
  }

  @Test("tell their errors with their own traceback")
  func errors() throws {
    let outcome = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      assert(ml.worker { name = "unlucky", source = "local function f() error 'no luck' end f()" })
      """,
    ])
    #expect(outcome.status == 1)
    #expect(
      outcome.errors.hasPrefix(
        """
        moonloop: error in worker 'unlucky' (made at (command line):2), mode 'default'
        worker:1: no luck
        stack traceback:
        """), "\(outcome)")
  }

  @Test("find modules and scripts beside the script that makes them")
  func files() throws {
    try withFile("return { answer = 42 }", name: "values.lua") { module in
      let folder = URL(fileURLWithPath: module).deletingLastPathComponent()
      let text = "local values = require \"values\"\nreturn values.answer + ...\n"
      try Data(text.utf8).write(to: folder.appendingPathComponent("adder.lua"))
      let main = folder.appendingPathComponent("main.lua")
      let script = """
        local ml = require "moonloop"
        print(assert(ml.worker { "adder.lua", args = 1 }):await())
        """
      try Data(script.utf8).write(to: main)
      let outcome = try moonloop(["run", main.path])
      #expect(outcome.output == "43\n" && outcome.status == 0, "\(outcome)")
    }
  }
}
