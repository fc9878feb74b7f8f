// Consoles of loops that are busy, or run in a private mode: they answer in the middle of it.

import Foundation
import Testing

// Under ThreadSanitizer signals reach a script that makes no system call too late.
@Suite("Consoles of a busy loop", .disabled(if: Program.holdsSignals))
struct BusyConsoleTests {
  /// Where the same script is busy, until `over` is set from outside.
  private static let places: [(name: String, start: String, busy: String)] = [
    ("in a timer", "loop:after(0, function() work() end)", "timer (made at "),
    ("in the main chunk", "work()", "the main chunk"),
    ("in a task", "loop:task({ name = 'job' }, function() ml.sleep(0) work() end)", "task 'job'"),
    (
      "in a coroutine, in a comparator, in a nested run",
      """
      loop:after(0, function()
        loop:perform({ modes = { "inner" } }, function()
          table.sort({ 2, 1 }, function(a, b) return coroutine.wrap(work)(a < b) end)
          loop:stop()
        end)
        loop:run { mode = "inner" }
      end)
      """, "perform"
    ),
  ]

  /// `ready` is printed before it is busy, `done` and the value of a local after it.
  private static func script(_ start: String) -> String {
    """
    local ml = require "moonloop"
    local loop = ml.current()
    over = false
    local function work(result)
      local mine = "as it was"
      print "ready" io.stdout:flush()
      while not over do pcall(string.rep, "x", 10) end
      print("done", mine)
      return result
    end
    \(start)
    """
  }

  @Test("it is answered, says what is busy, and can stop there to look around", arguments: 0..<4)
  func broken(place: Int) throws {
    let place = Self.places[place]
    try withReady(Self.script(place.start), name: "busy.lua") { program in
      let console = try moonloop(
        ["attach", "\(program.pid)"],
        input: "6 * 7\n:break\nmine\n:locals\nmine = 'changed'\nover = true\n:continue\n")
      let lines = console.output.split(separator: "\n").map(String.init)
      #expect(lines.first == "42")
      #expect(lines.contains { $0.hasPrefix("stopped in \(place.busy)") }, "\(console)")
      #expect(lines.contains { $0.contains("busy.lua:7: in ") && $0.hasPrefix("-> 1  ") })
      #expect(lines.contains("\"as it was\""))
      #expect(lines.contains("mine = \"as it was\""))
      #expect(console.errors.contains("busy for at least 0."), "\(console)")
      #expect(console.errors.contains(" s: \(place.busy)"), "\(console)")
      #expect(console.errors.contains("; :break or Ctrl-C stops it there"))
      let outcome = try program.wait()
      #expect(outcome.output == "ready\ndone\tchanged\n")
      #expect(outcome.errors == "" && outcome.status == 0, "\(outcome)")
    }
  }

  @Test("Ctrl-C stops it as at a breakpoint, once nothing of the console's own is to be given up")
  func interrupted() throws {
    try withReady(Self.script(Self.places[0].start), name: "busy.lua") { program in
      let session = try TerminalSession(["attach", "\(program.pid)"])
      try session.waitFor("Ctrl-D to leave.\r\n")
      try session.waitFor("> ")
      try session.enter("print 'own' while true do end", "own\r\n")
      try session.type("\u{3}", "interrupted\r\n")
      try session.waitFor("> ")
      try session.type("\u{3}", "stopped in timer (made at ")
      try session.waitFor("debug> ")
      try session.enter("mine", "\"as it was\"\r\ndebug> ")
      try session.enter("over = true", "debug> ")
      session.type("\u{4}")  // the last console leaves: the program goes on
      #expect(try session.wait() == 0)
      #expect(try program.wait().output == "ready\ndone\tas it was\n")
    }
  }

  @Test("what a console runs ends with the console, even if that was killed")
  func abandoned() throws {
    let text = """
      local loop = require("moonloop").current()
      loop:timer { every = 0.01, function() if left then print "alive" loop:stop() end end }
      print "ready" io.stdout:flush()
      """
    try withReady(text, name: "busy.lua") { program in
      let session = try TerminalSession(["attach", "\(program.pid)"])
      try session.waitFor("> ")
      try session.enter("left = true print 'own' while true do end", "own\r\n")
      session.send(SIGKILL)
      let outcome = try program.wait()
      #expect(outcome.output == "ready\nalive\n" && outcome.status == 0, "\(outcome)")
    }
  }

  @Test("the prompt of the program itself stops it too", arguments: ["\u{3}", ":break\r"])
  func prompt(keys: String) throws {
    try withFile(Self.script(Self.places[0].start), name: "busy.lua") { file in
      let session = try TerminalSession(["repl", file])
      try session.waitFor("ready\r\n")
      try session.waitFor("> ")
      session.type(keys)
      try session.waitFor("stopped in timer (made at ")
      try session.waitFor("debug> ")
      try session.enter("mine", "\"as it was\"\r\ndebug> ")
      try session.enter(":continue", "continues\r\n")
      try session.waitFor("> ")
      try session.enter("6 * 7", "(busy for at least 0.")
      try session.waitFor("42\r\n")
      try session.waitFor("> ")
      try session.enter("over = true", "done\tas it was\r\n")
      try session.waitFor("> ")
      try session.quit()
    }
  }

  @Test("it is answered in a private mode as well, where nothing else is served")
  func privately() throws {
    let script = """
      local ml = require "moonloop"
      local loop = ml.current()
      loop:after(0, function()
        other = loop:after(0, function() end)
        local gate = loop:source { modes = "private", perform = function() loop:stop() end }
        function go() gate:signal() loop:wake_up() end
        print "ready" io.stdout:flush()
        print((loop:run { mode = "private" }))
        os.exit()
      end)
      """
    try withFile(script, name: "private.lua") { file in
      let program = try Program(["run", file])
      try program.waitFor("ready")
      let console = try moonloop(
        ["attach", "\(program.pid)"], input: "other:is_valid(), 6 * 7\ngo()\n")
      #expect(console.output == "true\t42\n")
      #expect(try program.wait().output == "ready\nstopped\n")
      let session = try TerminalSession(["repl", file])
      try session.waitFor("ready\r\n")
      try session.waitFor("> ")
      try session.enter("other:is_valid()", "true\r\n")
      try session.waitFor("> ")
      try session.enter("go()", "stopped\r\n")
      #expect(try session.wait() == 0)
    }
  }

  @Test("nothing of Lua's is nested too deeply to be reached")
  func deeply() throws {
    let deep = """
      over = false
      local function dig(n)
        if n > 0 then return (string.gsub("x", "x", function() dig(n - 1) end)) end
        local mine = "as it was"
        print "ready" io.stdout:flush()
        while not over do end
        print(mine)
      end
      print(pcall(dig, 195))
      """
    try withReady(deep, name: "deep.lua") { program in
      let console = try moonloop(
        ["attach", "\(program.pid)"], input: ":break\nmine = 'changed'\nover = true\n")
      #expect(console.output.contains("\n   40  "), "\(console)")
      #expect(console.output.contains(" more calls)\n   41  "), "\(console)")
      #expect(try program.wait().output == "ready\nchanged\ntrue\tx\n")
    }
  }

  /// A function that keeps the loop busy in C for longer than any console waits.
  private static let matching = """
    local ml = require "moonloop"
    local loop = ml.current()
    loop:every(60, print)
    function match(count)
      loop:after(0, function()
        print "matching"
        print(("a"):rep(count):find((".-"):rep(5) .. "b"))
      end)
    end
    print "ready" io.stdout:flush()
    """

  @Test("what cannot be reached is reported, and not touched")
  func outOfReach() throws {
    try withReady(Self.matching, name: "matching.lua") { program in
      let session = try TerminalSession(["attach", "\(program.pid)"])
      try session.waitFor("Ctrl-D to leave.\r\n")
      try session.waitFor("> ")
      let words = "does not answer: its loop is busy outside Lua, in a guest or in a finalizer"
      try session.enter("match(1000)\r6 * 7", "(process \(program.pid) \(words)")
      try session.waitFor("; Ctrl-C twice stops it if possible, three times leaves)\r\n")
      let console = try moonloop(["attach", "--timeout", "0.7", "\(program.pid)"], input: "1\n")
      #expect(
        console.errors
          == "moonloop: attach: process \(program.pid) does not answer: its loop is busy"
          + " outside Lua, in a guest or in a finalizer, or its runs are nested too deeply\n")
      program.send(SIGKILL)
      try session.waitFor("moonloop: attach: the program has ended\r\n")
      #expect(try session.wait() == 1)
    }
    try withFile(Self.matching, name: "matching.lua") { file in
      let session = try TerminalSession(["repl", file])
      try session.waitFor("> ")
      try session.enter("match(1000)", "matching\r\n")
      let words = "(no answer yet: the loop is busy outside Lua, in a guest or in a finalizer"
      try session.type("\u{3}", words)
      try session.waitFor("; Ctrl-C twice stops it if possible, Ctrl-\\ ends the program)\r\n")
      try session.type("\u{3}", "interrupted\r\n")
      try session.waitFor("> ")
      session.type("\u{1c}")
      try session.waitFor("did not exit normally")  // its setsid
      _ = try session.wait()
    }
  }

  @Test("a system call that blocks is reported, and can be left")
  func blocked() throws {
    let script = """
      local loop = require "moonloop".current()
      loop:every(60, print)
      function block() loop:after(0, function() io.read() end) end
      print 'ready' io.stdout:flush()
      """
    try withReady(script, name: "reads.lua", input: nil) { program in
      let session = try TerminalSession(["attach", "\(program.pid)"])
      try session.waitFor("> ")
      try session.enter("block()\r6 * 7", "does not answer: a system call blocks its thread")
      try session.waitFor("three times leaves)\r\n")
      // Presses in quick succession count as one.
      try session.waitFor(
        "moonloop: attach: left a program that does not answer\r\n", typing: "\u{3}")
      #expect(try session.wait() == 1)
      let console = try moonloop(["attach", "--timeout", "0.7", "\(program.pid)"], input: "1\n")
      #expect(console.errors.contains("a system call blocks its thread"), "\(console)")
      try program.closeInput()
      program.send(SIGTERM)
      #expect(try program.wait().status == 128 + SIGTERM)
    }
  }
}
