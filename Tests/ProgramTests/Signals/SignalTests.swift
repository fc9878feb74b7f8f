// Real signals: the loop ends in order, wherever the script is.

import Foundation
import Testing

@Suite("Signals")
struct SignalTests {
  @Test("of the real-time sort arrive, though the user's queue for them is full")
  func fullQueue() throws {
    let script = """
      local ml = require "moonloop"
      local loop = ml.current()
      loop:signal("rtmin+1", function(_, name, info)
        print(name, info.count, info.pid)
        loop:stop()
      end)
      print((assert(ml.process.kill(ml.process.id(), "rtmin+1"))))
      """
    let outcome = try moonloop([
      "run", "-e",
      """
      local script, program = ...
      local ml = require "moonloop"
      ml.current():task(function()
        local result = assert(ml.process.run {
          "prlimit", "--sigpending=0", program, "run", "-e", script, timeout = 60 })
        io.write(result.stdout, result.stderr)
      end)
      """, script, Program.executable.path,
    ])
    #expect(outcome.output == "true\nrtmin+1\t1\t0\n" && outcome.errors == "", "\(outcome)")
  }

  /// The script prints "ready" first.
  static let scripts: [(what: String, script: String, output: String)] = [
    (
      "a sleeping main chunk, whose variables are closed",
      """
      local ml = require "moonloop"
      local x <close> = setmetatable({}, { __close = function() print "closed" end })
      print "ready"
      ml.sleep(1000)
      """, "ready\nclosed\n"
    ),
    (
      "a loop that waits, whose observers are notified of the exit",
      """
      local loop = require "moonloop".current()
      loop:after(1000, function() end)
      loop:observer { on = "exit", function() print "exit" end }
      loop:perform(function() print "ready" end)
      """, "ready\nexit\n"
    ),
    ("a busy chunk", "print 'ready' while true do end", "ready\n"),
    ("a busy chunk that catches", "print 'ready' while true do pcall(error) end", "ready\n"),
    (
      "a busy handler",
      """
      local loop = require "moonloop".current()
      loop:after(0, function() print "ready" while true do end end)
      loop:observer { on = "exit", function() print "exit" end }
      """, "ready\nexit\n"
    ),
    (
      "a pattern match",
      "print 'ready' local a = ('a'):rep(40) string.find(a, ('a?'):rep(40) .. a)", "ready\n"
    ),
    (
      "nested runs, all of them",
      """
      local loop = require "moonloop".current()
      loop:after(0, function()
        loop:timer { first = 0, modes = "private", function()
          loop:timer { first = 1000, modes = "inner", function() end }
          print "ready"
          print("inner", (loop:run { mode = "inner" }))
        end }
        loop:timer { first = 1000, modes = "private", function() end }
        print("private", (loop:run { mode = "private" }))
      end)
      loop:after(1000, function() end)
      print("outer", (loop:run()))
      """, "ready\ninner\tstopped\nprivate\tstopped\nouter\tstopped\n"
    ),
    (
      "a script that runs its loop again and again",
      """
      local loop = require "moonloop".current()
      loop:timer { first = 1000, modes = "private", function() end }
      print "ready"
      while true do loop:run { mode = "private", timeout = 1 } end
      """, "ready\n"
    ),
    (
      "a handler that begins runs again and again: the run under way and the next say so",
      """
      local loop = require "moonloop".current()
      loop:timer { first = 0, every = 0.001, modes = "private", function() end }
      loop:after(0, function()
        local stopped = 0
        print "ready"
        while stopped < 3 do
          local why = loop:run { mode = "private", timeout = 0.01 }
          if why == "stopped" then stopped = stopped + 1 end
        end
        print "not stopped"
      end)
      """, "ready\n"
    ),
    (
      "a busy guest",
      """
      require "moonloop".guest {
        text = "host.ready() while true do end", limits = { callout = 1000 },
        functions = { ready = function() print "ready" end },
      }
      """, "ready\n"
    ),
    ("a read that blocks", "print 'ready' io.read() while true do end", "ready\n"),
  ]

  static let sent = scripts.indices.filter { index in
    let isHeldBack = ["busy", "pattern", "blocks"].contains { scripts[index].what.contains($0) }
    return !(isHeldBack && Program.holdsSignals)
  }

  @Test("end the script in order", arguments: sent, [SIGINT, SIGTERM])
  func endsInOrder(_ index: Int, _ signal: Int32) throws {
    let script = Self.scripts[index]
    let program = try Program(["run", "-e", script.script], input: nil)
    try program.waitFor("ready\n")
    program.send(signal)
    let outcome = try program.wait()
    #expect(outcome.status == 128 + signal, "\(script.what): \(outcome)")
    #expect(!outcome.wasKilled, "\(script.what)")
    #expect(outcome.output == script.output, "\(script.what)")
    #expect(outcome.isOurs, "\(script.what): \(outcome.errors)")
  }

  @Test("kill a program at the second one, though it is ending by its own wish")
  func secondWhileEnding() throws {
    // The finalizer waits for a program that no signal interrupts; it ends with our input.
    let script = """
      setmetatable({}, { __gc = function()
        print "ready"
        io.stdout:flush()
        io.popen("cat >/dev/null"):close()
      end })
      os.exit(3, true)
      """
    let program = try Program(["run", "-e", script], input: nil)
    try program.waitFor("ready\n")
    program.send(SIGINT)
    program.send(SIGTERM)  // a different signal, so that both arrive
    program.waitForEnd()
    try program.closeInput()
    let outcome = try program.wait()
    #expect(outcome.wasKilled && outcome.status != 128 + SIGKILL, "\(outcome)")
  }

  @Test(
    "end a busy script though the system has no timer for that",
    .disabled(if: Program.holdsSignals, "no signal ends a busy script"))
  func endsWithoutTimers() throws {
    // Each timer of the system counts as a signal that may be pending.
    let script = """
      local ml = require "moonloop"
      local command = [[ulimit -i 0; exec "$0" run -e 'print "ready" while true do end']]
      local child <close> = assert(ml.process.spawn {
        "sh", "-c", command, "\(Program.executable.path)", stdout = "pipe" })
      print(child.stdout:read "l")
      child:kill "int"
      print(child:wait().code)
      """
    let outcome = try Program(["run", "-e", script], input: nil).wait()
    #expect(outcome.output == "ready\n130\n", "\(outcome)")
  }

  @Test(
    "kill a program that is busy outside Lua after a grace period",
    .disabled(if: Program.holdsSignals, "no signal reaches a busy call"),
    arguments: [
      // Takes as long as the age of the universe.
      (
        """
        local lpeg = require "lpeg"
        local S = lpeg.V "S"
        lpeg.match({ "S"; S = "a" * S * "b" + "a" * S * "c" + "a" }, ("a"):rep(99))
        """, SIGINT, []
      ),
      ("os.execute 'cat >/dev/null'", SIGTERM, []), ("os.execute 'cat >/dev/null'", SIGINT, []),
      ("os.execute 'cat >/dev/null'", SIGINT, ["run", "--record", "/dev/null"]),
    ] as [(String, Int32, [String])])
  func killsAfterGrace(_ call: String, _ signal: Int32, _ options: [String]) throws {
    let program = try Program(options + ["-e", "print 'ready' \(call) print 'on'"], input: nil)
    try program.waitFor("ready\n")
    let began = ContinuousClock.now
    program.send(signal)
    program.waitForEnd()
    let took = ContinuousClock.now - began
    try program.closeInput()
    let outcome = try program.wait()
    #expect(outcome.wasKilled && outcome.status == 128 + signal, "\(outcome)")
    #expect(outcome.output == "ready\n")
    #expect(outcome.errors.contains("busy outside Lua for 3 s"), "\(outcome)")
    #expect(took > .seconds(2), "the grace period: \(took)")
  }

  @Test("kill at the second one")
  func killsAtTheSecond() throws {
    // The first one ends the run; the closing cannot be stopped: a child that waits for input.
    let script = """
      local x <close> = setmetatable({}, { __close = function()
        print "closing"
        os.execute "read line"
      end })
      print "ready"
      require "moonloop".sleep(1000)
      """
    let program = try Program(["run", "-e", script], input: nil)
    try program.waitFor("ready\n")
    program.send(SIGTERM)
    try program.waitFor("closing\n")
    program.send(SIGTERM)
    try program.closeInput()  // ends the child, which Foundation waits for too
    let outcome = try program.wait()
    #expect(outcome.status == 128 + SIGTERM)
    #expect(outcome.wasKilled)
  }

  static let printers: [String] = [
    "while true do print 'y' end",
    "local l = require 'moonloop'.current() l:every(0.001, function() print 'y' end)",
    "local l = require 'moonloop'.current() l:every(0.001, function() io.write 'y' end)",
  ]

  @Test("of an output without a reader end the script quietly", arguments: printers)
  func endsWithoutReader(_ script: String) throws {
    let pipe = Pipe()
    let program = try Program(
      ["run", "-e", script], output: pipe.fileHandleForWriting)
    try pipe.fileHandleForWriting.close()
    _ = try pipe.fileHandleForReading.read(upToCount: 1)
    try pipe.fileHandleForReading.close()
    let outcome = try program.wait(untilOutputEnds: false)
    #expect(outcome.status == 128 + SIGPIPE)
    #expect(outcome.errors == "")
  }

  @Test("a real-time signal that nobody watches is ignored once many came, but not by children")
  func stormIsIgnored() throws {
    let outcome = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      local loop, me = ml.current(), ml.process.id()
      local function ignored(id)
        local status = io.open(("/proc/%s/status"):format(id)):read "a"
        return tonumber(status:match "SigIgn:%s*(%x+)", 16) >> 43 & 1
      end
      local function send(count)
        local line = "for i in $(seq %d); do kill -44 %d; done"
        ml.process.run { "sh", "-c", line:format(count, me) }
      end
      send(5)
      local few = ignored(me)
      send(100)
      local child <close> = ml.process.spawn { "sleep", "100" }
      print(few, ignored(me), ignored(child.pid))
      local watch = loop:signal(44, function(_, _, info) print "watched" loop:stop() end)
      send(1)
      loop:run()
      """,
    ])
    #expect(outcome.output == "0\t1\t0\nwatched\n", "\(outcome)")
  }
}
