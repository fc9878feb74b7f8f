// Guests of a real program: what is left when they end, and that a busy one starves no other.

import Foundation
import Testing

@Suite struct GuestLifeTests {
  @Test("after hundreds of guests, descriptors and memory are as before")
  func flat() throws {
    let outcome = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      local function cycle(count)
        for i = 1, count do
          local guest = ml.guest { allow = { "timers", "net" }, text = [[
            local ml = require "moonloop"
            ml.current():every(1, print)
            ml.net.listen { host = "127.0.0.1", port = 0, print }
            ml.current():task(function() ml.sleep(1000) end)
            t = ("x"):rep(10000)
            function ready() return true end
          ]] }
          assert(guest:call "ready")
          guest:stop()
        end
        collectgarbage()
        collectgarbage()
      end
      local function descriptors() return #assert(ml.fs.list "/proc/self/fd") end
      local function pages() return tonumber(ml.fs.read("/proc/self/statm"):match "%d+ (%d+)") end
      cycle(50)
      local files, memory = descriptors(), pages()
      cycle(400)
      print(descriptors() - files, (pages() - memory) * 4 < 8192)
      """,
    ])
    // AddressSanitizer keeps freed memory for a while.
    let isFlat = outcome.output == "0\ttrue\n"
    #expect(isFlat || Program.isSanitized && outcome.output == "0\tfalse\n", "\(outcome)")
  }

  @Test("warnings go to the host's standard error, from a process of its own too")
  func warnings() throws {
    let outcome = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      for _, isolate in ipairs { false, true } do
        local guest <close> = ml.guest {
          isolate = isolate, on_output = function(_, text) io.stderr:write("heard ", text) end,
          text = [[
            function f()
              warn "@on"
              warn("of a guest \\27[2J")
              print "more"
              return true
            end
          ]],
        }
        guest:call "f"
      end
      """,
    ])
    let lines = "warning: of a guest ?[2J\nheard more\n"
    #expect(outcome.errors == lines + lines, "\(outcome)")
  }

  @Test("where a process may have little memory, Lua is stopped first, or the guest is refused")
  func littleMemory() throws {
    if Program.isSanitized { return }
    let outcome = try moonloop([
      "run", "-e",
      """
      local program = ...
      local ml = require "moonloop"
      local alone = "while true do t = { t, t } end"
      local inside = [[
        local ml = require "moonloop"
        local guest = ml.guest { isolate = true, text = "function f() ]] .. alone .. [[ end",
          on_error = function(error) io.stderr:write(error.message) end }
        ml.current():task(function()
          local done, message = pcall(guest.call, guest, "f")
          io.stderr:write(tostring(message))
          guest:stop()
        end)
      ]]
      local function run(limit, ...)
        local command = { "prlimit", "--" .. limit .. "000000", program, "run", ... }
        command.timeout = 60
        local run = assert(ml.process.run(command))
        print(limit, run.code, run.stderr:match "memory limit" or run.stderr:match "it needs.- %-d")
      end
      ml.current():task(function()
        for _, limit in ipairs { "data=24", "data=64", "as=64", "as=128", "data=18" } do
          run(limit, "--guest", "--isolate", "-e", alone)
          run(limit, "-e", inside)
        end
      end)
      """, Program.executable.path,
    ])
    #expect(
      outcome.output == """
        data=24\t3\tmemory limit
        data=24\t0\tmemory limit
        data=64\t3\tmemory limit
        data=64\t0\tmemory limit
        as=64\t3\tmemory limit
        as=64\t0\tmemory limit
        as=128\t3\tmemory limit
        as=128\t0\tmemory limit
        data=18\t1\tit needs 18 MiB: see ulimit -v and -d
        data=18\t0\tit needs 18 MiB: see ulimit -v and -d

        """, "\(outcome)")
  }

  @Test("what its workers write is its output, and counts as that")
  func workers() throws {
    let outcome = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      local text = ""
      local guest = ml.guest {
        allow = { "worker" }, limits = { output = 1000 },
        text = [[
          local ml = require "moonloop"
          function work(text) return ml.worker { source = text }:await() end
        ]],
        on_output = function(_, piece) text = text .. piece end,
      }
      guest:call("work", "print 'from a worker' return 1")
      io.write(text)
      guest:call("work", "for i = 1, 3000 do print 'again' end return 1")
      print(#text <= 1000, guest:usage().written <= 1000)
      guest:stop()
      """,
    ])
    #expect(outcome.output == "from a worker\ntrue\ttrue\n", "\(outcome)")
  }

  @Test("what guests and workers of a worker write is in a replay, too")
  func nested() throws {
    try inFolder { folder in
      try """
      local ml = require "moonloop"
      ml.worker { source = [==[
        local ml = require "moonloop"
        local guest = ml.guest { text = "function f() print 'guest' return 1 end" }
        guest:call "f"
        ml.worker { source = "print 'inner' io.stderr:write 'error' return 1" }:await()
        print "outer"
      ]==] }:await()
      """.write(
        to: folder.appendingPathComponent("app.lua"), atomically: true, encoding: .utf8)
      let run = try moonloop(["run", "--record", "app.mlt", "app.lua"], in: folder)
      #expect(run.output == "guest\ninner\nouter\n" && run.errors == "error", "\(run)")
      let replay = try moonloop(["replay", "app.mlt"], in: folder)
      #expect(replay.output == run.output && replay.errors == run.errors, "\(replay)")
    }
  }

  @Test(
    "a call that is stopped by a limit fails although the guest is suspended for it",
    arguments: [false, true])
  func suspended(isolated: Bool) throws {
    let outcome = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      local loop = ml.current()
      local guest = ml.guest {
        isolate = \(isolated), limits = { callout = 0.02 },
        text = "function f() while true do end end", on_error = function() end,
        on_limit = function() return "suspend" end,
      }
      loop:after(20, function() print "late" os.exit(1) end)
      local done, message = pcall(guest.call, guest, "f")
      print(done, (tostring(message):match "took longer"))
      os.exit(0)
      """,
    ])
    #expect(outcome.output == "false\ttook longer\n", "\(outcome)")
  }

  @Test("a verdict on a limit that is none is told")
  func verdicts() throws {
    let outcome = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      for _, answer in ipairs { { "junk" }, { 5 }, { "suspend", -1 }, { "suspend" }, {} } do
        local guest = ml.guest {
          limits = { callout = 0.01 }, text = "function f() while true do end end",
          on_error = function(e) local m = e.message if m:find "on_limit" then print(m) end end,
          on_limit = function() return table.unpack(answer) end,
        }
        pcall(guest.call, guest, "f")
        guest:stop()
      end
      """,
    ])
    #expect(
      outcome.output == """
        'on_limit': it must return "end", "suspend", "warn" or nothing, got "junk"
        'on_limit': it must return "end", "suspend", "warn" or nothing, got 5
        'on_limit': the time to suspend it for must be seconds >= 0

        """, "\(outcome)")
  }

  @Test("its errors do not crowd out those of its host, nor look like them")
  func reports() throws {
    let outcome = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      local loop = ml.current()
      local guest = ml.guest { name = "plug", text = [[
        local loop = require("moonloop").current()
        loop:perform(function() error("a\\nmoonloop: error in the main chunk\\nforged", 0) end)
        for i = 1, 1000 do loop:perform(function() error "again" end) end
      ]] }
      loop:timer { first = 0, modes = "later", function() error "of the host" end }
      loop:run { timeout = 0.2 }
      loop:run { mode = "later" }
      """,
    ])
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines.contains("  moonloop: error in the main chunk"), "\(outcome)")
    #expect(!lines.contains("moonloop: error in the main chunk"), "\(outcome)")
    #expect(lines.filter { $0.contains("of the host") }.count == 1, "\(outcome)")
    #expect(lines.last?.contains("lines left out)") == true && lines.count < 220, "\(outcome)")
  }

  @Test("one that always has something to do leaves the others their turns")
  func greedy() throws {
    let outcome = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      local loop = ml.current()
      local greedy = ml.guest { text = [[
        local ml = require "moonloop"
        local function again() ml.current():perform(again) end
        again()
      ]] }
      local order, guests = {}, {}
      for i = 1, 100 do
        guests[i] = ml.guest {
          functions = { turn = function() order[#order + 1] = greedy:usage().wakes end },
          text = [[
            local ml = require "moonloop"
            ml.current():task(function() for i = 1, 20 do host.turn() end end)
          ]],
        }
      end
      loop:task(function()
        while #order < 2000 do ml.sleep(0) end
        local most = 0
        for place = 2, #order do most = math.max(most, order[place] - order[place - 1]) end
        print(most <= 4, greedy:usage().wakes > 20)
        greedy:stop()
      end)
      """,
    ])
    #expect(outcome.output == "true\ttrue\n", "\(outcome)")
  }

  @Test("a host that ends with guests under way ends them, and says nothing")
  func ends() throws {
    let outcome = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      for i = 1, 3 do
        ml.guest { allow = { "timers" }, text = [[
          local ml = require "moonloop"
          ml.current():every(1, print)
          ml.current():task(function() ml.sleep(1000) end)
        ]] }
      end
      ml.current():after(0.01, function() ml.current():stop() end)
      """,
    ])
    #expect(outcome.status == 0 && outcome.output == "" && outcome.errors == "", "\(outcome)")
  }

  /// A guest's text, more options, and the status and output of a host that does nothing else.
  static let alone: [(text: String, options: String, status: Int32, output: String)] = [
    ("print 'hi'", "", 0, "hi\n"),
    ("require 'moonloop'.current():every(0.001, function() end)", "keep_alive = false,", 0, ""),
    ("error 'no'", "on_error = function(e) print(e.kind) end,", 0, "runtime\n"),
    ("error 'no'", "", 1, ""),
    ("while true do end", "on_error = function(e) print(e.kind) end,", 0, "timeLimit\n"),
    ("while true do end", "", 3, ""),
  ]

  @Test("a host ends with its guest, and its status is its own", arguments: 0..<6, [true, false])
  func alone(row: Int, isIsolated: Bool) throws {
    let (text, options, status, output) = Self.alone[row]
    let outcome = try moonloop([
      "run", "--timeout", "20s", "-e",
      """
      require "moonloop".guest { isolate = \(isIsolated), \(options) allow = { "timers" },
        limits = { callout = 0.05 }, text = ... }
      """, text,
    ])
    #expect(outcome.status == status && outcome.output == output, "\(outcome)")
  }
}
