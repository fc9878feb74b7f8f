// Breakpoints: nested runs that serve only the console, while the loop's clock stands still.

import Foundation
import Testing

@Suite("Breakpoints")
struct BreakpointTests {
  /// A timer that repeats, and a breakpoint in a comparator in a block in a nested run in a timer.
  private static let nested = """
    local ml = require "moonloop"
    local loop = ml.current()
    local late, fires, spent = 0, 0, 0
    loop:every(0.02, function(_, missed) late, fires = late + missed, fires + 1 end)
    loop:after(0.05, function()
      local list = { 3, 1, 2 }
      loop:perform({ modes = { "private" } }, function()
        local up = "upvalue"
        table.sort(list, function(a, b)
          local smaller = a < b
          if up then
            local before, used = ml.now(), os.clock()
            ml.break_here()
            spent = os.clock() - used
            print(up, "stood", ml.now() - before < spent)
            up = nil
          end
          return smaller
        end)
        print("sorted", table.concat(list, " "), list.extra)
        loop:stop()
      end)
      loop:run { mode = "private" }
      local fired = fires
      loop:after(0.1, function() print("missed", late * 0.02 < spent, fires > fired) end)
    end)
    """

  @Test("in a comparator in a nested run, with locals to look at and to set, and no timer lost")
  func nestedDeeply() throws {
    try withFile(Self.nested, name: "nested.lua") { file in
      let session = try TerminalSession(["repl", file])
      try session.waitFor("breakpoint at ")
      try session.waitFor("nested.lua:13: in function")
      try session.waitFor("[C]: in field 'sort'")
      try session.waitFor("debug> ")
      try session.enter("a + b, smaller, up", "\t\"upvalue\"\r\ndebug> ")
      try session.enter("up = 'changed'", "debug> ")
      try session.enter(":up", "2  [C]: in field 'sort'\r\ndebug> ")
      try session.enter(":up", "3  ")
      try session.enter("list.extra = #list", "debug> ")
      try session.enter(":locals", "list = { 3, 1, 2, extra = 3 }   (upvalue)\r\n")
      try session.enter("ml.sleep(1)", "(it waits, but the clock is stopped")
      try session.type("\u{3}", "interrupted\r\ndebug> ")
      // The clock stands while real time passes: as long as many periods of the timer.
      try session.enter("for i = 1, 1e8 do end", "debug> ")
      try session.enter(":trace", "-> 3  ")
      try session.enter(":continue", "changed\tstood\ttrue\r\n")
      try session.waitFor("sorted\t1 2 3\t3\r\n")
      try session.waitFor("missed\ttrue\ttrue\r\n")
      try session.waitFor("> ")
      try session.quit()
    }
  }

  @Test("see the coroutines that have resumed one another, as far as the call-out")
  func coroutines() throws {
    let script = """
      local ml = require "moonloop"
      local function inner() local mine = "inner" ml.break_here() print(mine) end
      local function middle()
        local mine = "middle"
        coroutine.resume(coroutine.create(inner))
        print(mine)
      end
      ml.current():after(0, function()
        local mine = "outer"
        coroutine.wrap(function() pcall(middle) end)()
        print(mine)
      end)
      """
    try withFile(script, name: "coroutines.lua") { file in
      let session = try TerminalSession(["repl", file])
      try session.waitFor("-> 1  ")
      for text in ["resumed by\r\n", "   2  ", "[C]: in global 'pcall'\r\n", "   4  "] {
        try session.waitFor(text)
      }
      for text in ["resumed by\r\n", "   5  "] { try session.waitFor(text) }
      try session.waitFor("debug> ")
      try session.enter(":up", "2  ")
      try session.enter("mine = mine .. ' was set'", "debug> ")
      for place in 3...5 { try session.enter(":up", "\(place)  ") }
      try session.enter("mine = mine .. ' was set, too'", "debug> ")
      try session.enter(
        ":continue", "inner\r\nmiddle was set\r\nouter was set, too\r\n")
      try session.waitFor("> ")
      try session.quit()
    }
  }

  @Test("one inside the other, from what is typed")
  func insideTheOther() throws {
    let session = try TerminalSession.prompt()
    try session.enter("local x = 1; ml.break_here(); print('x', x)", "debug> ")
    try session.enter("x = 2", "debug> ")
    try session.enter("local y = 5; ml.break_here(); return y", "debug> ")
    try session.enter("y, x", "5\tnil\r\ndebug> ")
    try session.enter(":c", "continues\r\n")
    try session.waitFor("5\r\n")
    try session.waitFor("debug> ")
    try session.enter("x", "2\r\ndebug> ")
    try session.enter(":c", "x\t2\r\n")
    try session.waitFor("> ")
    try session.enter(":break", "stopped\r\n")
    try session.waitFor("debug> ")
    try session.enter(":c", "continues\r\n")
    try session.enter(":locals", "the program is not stopped")
    try session.quit()
  }

  @Test("go on without a console, which is reported once")
  func goOn() throws {
    let script = """
      local ml = require "moonloop"
      print(ml.break_here(), ml.break_here())
      print(select(2, pcall(ml.break_here, { wiat = true })))
      """
    try withFile(script, name: "alone.lua") { file in
      let outcome = try moonloop(["run", file])
      #expect(outcome.output.hasPrefix("false\tfalse\n"))
      #expect(
        outcome.output.contains("\nml.break_here: unknown option 'wiat' ("))
      #expect(outcome.output.hasSuffix("/alone.lua:3); did you mean 'wait'?\n"))
      let lines = outcome.errors.split(separator: "\n")
      #expect(lines.count == 3)
      #expect(lines.first?.contains("no console for the breakpoint at ") == true)
      #expect(lines.dropFirst().first?.contains("moonloop attach ") == true)
      #expect(outcome.status == 0)
    }
  }

  @Test("go on in a worker, which no console looks into")
  func inWorker() throws {
    let script = """
      local ml = require "moonloop"
      ml.worker { source = "print(require 'moonloop'.break_here { wait = true })" }
      """
    try withFile(script, name: "worker.lua") { file in
      let outcome = try moonloop(["run", file])
      #expect(outcome.output == "false\n")
      #expect(
        outcome.errors.hasSuffix("'moonloop run', 'repl' and 'test', not workers.\n"), "\(outcome)")
      #expect(outcome.status == 0)
    }
  }

  @Test("wait for a console where that was asked for")
  func wait() throws {
    let script = """
      local ml = require "moonloop"
      local value = 1
      print 'ready' io.stdout:flush()
      ml.break_here { wait = true }
      print("value", value)
      """
    try withReady(script, name: "waiting.lua") { program in
      let console = try moonloop(
        ["attach", "\(program.pid)"], input: ":locals\nvalue = 2\n:continue\n")
      #expect(console.output.contains("value = 1\n"))
      let outcome = try program.wait()
      #expect(outcome.output == "ready\nvalue\t2\n")
      #expect(outcome.errors.contains("open a console with 'moonloop attach \(program.pid)'"))
      #expect(outcome.status == 0)
    }
  }

  @Test("are where an error was not caught, at the terminal of the program")
  func errors() throws {
    let script = """
      local loop = require "moonloop".current()
      local function fails(depth) local twice = depth * 2 return 1 + fails(depth + nil) end
      loop:after(0, function() local list = { 1, 2 } fails(1) end)
      loop:after(0.01, function() print "goes on" end)
      """
    try withFile(script, name: "failing.lua") { file in
      let session = try TerminalSession(["run", "--break-on-error", file])
      try session.waitFor("error: ")
      try session.waitFor("attempt to perform arithmetic on a nil value")
      try session.waitFor("debug> ")
      try session.enter("depth, twice", "1\t2\r\ndebug> ")
      try session.enter(":up", "failing.lua:3: in function")
      try session.enter("list", "{ 1, 2 }\r\ndebug> ")
      session.type("\u{4}")  // the console ends, and the program goes on
      try session.waitFor("moonloop: error in timer")
      try session.waitFor("goes on")
      #expect(try session.wait() == 1)
    }
  }

  @Test("end with the program")
  func ended() throws {
    try withFile("require 'moonloop'.break_here()") { file in
      let session = try TerminalSession(["run", file])
      try session.waitFor("debug> ")
      session.type("os.exit(3, true)\r")
      #expect(try session.wait() == 3)
    }
  }

  @Test("no prompt of a breakpoint is drawn once it is over")
  func promptsAfterwards() throws {
    let session = try TerminalSession.prompt()
    try session.enter("function go() loop:after(0, function() ml.break_here() end) end", "> ")
    for _ in 1...20 {
      try session.enter("go()", "debug> ")
      try session.enter(":continue", ":continue\r\ncontinues\r\n> ")
    }
    try session.quit()
  }

  @Test("all of them go on when the last console has left")
  func abandoned() throws {
    let script = """
      local ml = require "moonloop"
      ml.current():every(60, print)
      ml.current():after(0, function()
        print "ready" io.stdout:flush()
        ml.break_here { wait = true }
        ml.break_here()
        print "gone on"
        os.exit(0)
      end)
      """
    try withReady(script, name: "abandoned.lua") { program in
      let session = try TerminalSession(["attach", "\(program.pid)"])
      try session.waitFor("debug> ")
      try session.enter(":continue", "continues\r\n")
      try session.waitFor("debug> ")
      try session.enter("local inner = 1 ml.break_here()", "debug> ")
      try session.enter("inner", "1\r\ndebug> ")
      try session.quit()
      let outcome = try program.wait()
      #expect(outcome.output == "ready\ngone on\n")
      #expect(outcome.errors.hasSuffix("has left the breakpoint: the program continues\n"))
      #expect(outcome.status == 0)
    }
  }

  @Test("an overflow of the stack is reported in few lines")
  func overflow() throws {
    let script = """
      local function dig(n) return 1 + dig(n + 1) end
      require "moonloop".current():after(0, function() local mine = 1 dig(mine) end)
      """
    try withFile(script, name: "overflow.lua") { file in
      let session = try TerminalSession(["run", "--break-on-error", file])
      try session.waitFor("stack overflow")
      try session.waitFor(" more calls)\r\n   41  ")
      try session.waitFor("   45  ")
      try session.waitFor("debug> ")
      try session.enter("n > 1000", "true\r\ndebug> ")
      session.type("\u{4}")
      #expect(try session.wait() == 1)
    }
  }
}
