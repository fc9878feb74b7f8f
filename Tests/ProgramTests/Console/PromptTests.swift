// `moonloop repl`: a prompt on a running loop, at a terminal and without one.

import Foundation
import Testing

@Suite("The prompt")
struct PromptTests {
  @Test("prints what expressions give, and goes on after errors")
  func evaluates() throws {
    let session = try TerminalSession(["repl"])
    try session.waitFor("Ctrl-D to quit.\r\n> ")
    try session.enter("1 + 1, 'two'", "\r\n2\t\"two\"\r\n> ")
    try session.enter("t = { 3, x = { y = true } } t.t = t", "> ")
    try session.enter("t", "{ 3, t = (this table again), x = { y = true } }\r\n> ")
    try session.enter("loop", "loop (the main loop)\r\n> ")
    try session.enter("error 'no'", "console:1: no\r\nstack traceback:")
    try session.enter("for i = 1, 2 do", "\r\n>> ")
    try session.enter("print('i', i) end", "i\t1\r\ni\t2\r\n> ")
    try session.enter("ml.sleep(0.01) return _", "> ")
    try session.enter("help(ml.sleep)", "ml.sleep(time)")
    try session.waitFor("> ")
    try session.quit()
    let history = session.folder.appendingPathComponent("moonloop/history")
    #expect(try String(contentsOf: history, encoding: .utf8).contains("help(ml.sleep)"))
  }

  @Test("keeps what is typed, below what timers print")
  func redraws() throws {
    let session = try TerminalSession.prompt()
    try session.enter("go = loop:source { modes = 'default', perform = function()", ">> ")
    try session.enter("print 'from the loop' end }", "> ")
    try session.enter("loop:timer { every = 0.05, function() go:signal() end }", "> ")
    try session.type("1 + ", "from the loop\r\n> 1 + ")
    try session.enter("10", "11\r\n")
    try session.quit()
  }

  @Test("removes all rows of a long line before something is printed above it")
  func longLines() throws {
    let session = try TerminalSession.prompt()
    let text = String(repeating: "long ", count: 30)
    try session.enter("function go() loop:after(0.01, function() print 'above' end) end", "> ")
    try session.enter("go() ml.sleep(0.02)", "above\r\n")
    try session.waitFor("> ")
    // 2 columns of the prompt and 150 of the text take two rows of 100.
    try session.enter("loop:after(0.1, function() go() end)", "> ")
    try session.type("'\(text)'", "\u{1B}[1A\r\u{1B}[Jabove\r\n> '\(text.prefix(97))")
    try session.type("\u{3}", "^C\r\n> ")
    try session.quit()
  }

  @Test("restores the terminal when a signal ends it", arguments: [SIGHUP, SIGUSR1])
  func restores(signal: Int32) throws {
    let session = try TerminalSession.prompt()
    #expect(session.isRaw)
    session.send(signal)
    _ = try session.wait()
    #expect(!session.isRaw)
  }

  @Test("takes what is typed right after Ctrl-C for the next line")
  func goesOnAfterInterrupt() throws {
    let session = try TerminalSession.prompt()
    for _ in 1...10 {
      try session.type("abc", "abc")
      session.type("\u{3}")
      try session.type("1000+2\r", "\r\n1002\r\n> ")
    }
    try session.quit()
  }

  @Test("shows once what a limit has stopped, and ends if it was stopped itself")
  func limits() throws {
    let message = "memory limit of 8388608 bytes exceeded\n"
    let one = try Program(["repl", "--memory", "8M"], input: "x = ('x'):rep(1e7)\n").wait()
    #expect(one.errors == message && one.status == 1, "\(one)")
    let full = "x = {} while true do x[#x + 1] = {} end\n"
    let all = try Program(["repl", "--memory", "8M"], input: full + full).wait()
    #expect(all.errors.contains(message) && all.status == 3, "\(all)")
  }

  @Test("asks for the rest of a value that a line begins")
  func continues() throws {
    let session = try TerminalSession.prompt()
    try session.enter("1 +", ">> ")
    try session.enter("2", "3\r\n> ")
    try session.quit()
    let piped = try Program(["repl"], input: "1 +\n").wait()
    #expect(piped.errors == "console:1: unexpected symbol near <eof>\n")
  }

  @Test("keeps what was typed in two terminals at once")
  func histories() throws {
    let first = try TerminalSession(["repl"])
    let second = try TerminalSession(["repl"], folder: first.folder)
    for (session, number) in [(first, 1), (second, 2), (first, 3)] {
      if number < 3 { try session.waitFor("> ") }
      try session.enter("'ü \\\\', \(number)", "\t\(number)\r\n")
      try session.waitFor("> ")
    }
    for session in [first, second] {
      try session.quit()
    }
    let third = try TerminalSession(["repl"], folder: first.folder)
    try third.waitFor("> ")
    for number in [3, 2, 1] {
      try third.type("\u{1B}[A", "\(number)")
    }
    try third.enter("", "\"ü \\\\\"\t1\r\n")
    try third.waitFor("> ")
    try third.quit()
  }

  @Test("is there on a terminal that cannot edit, and takes UTF-8 without a locale")
  func poorTerminals() throws {
    let plain = try TerminalSession(["repl"], terminal: "dumb")
    try plain.waitFor("Lines cannot be edited: the terminal cannot edit.\r\n> ")
    try plain.enter("do", ">> ")
    try plain.enter("return 'ü' end", "\"ü\"\r\n> ")
    try plain.quit()
    let unlocal = try TerminalSession(["repl"], locale: "C")
    try unlocal.waitFor("> ")
    try unlocal.enter("'ü'", "\r\n\"ü\"\r\n> ")
    try unlocal.quit()
  }

  @Test(
    "without a terminal, is ended by signals as other programs are",
    arguments: [["repl"], ["-i"]], [SIGINT, SIGTERM])
  func signals(arguments: [String], signal: Int32) throws {
    let text = """
      require("moonloop").current():after(0.1, function()
        print "ready"
        io.stdout:flush()
      end)
      """
    try withFile(text) { file in
      let program = try Program(arguments + [file], input: nil)
      try program.waitFor("ready")
      program.send(signal)
      let outcome = try program.wait()
      #expect(outcome.status == 128 + signal && outcome.errors == "", "\(outcome)")
    }
  }

  @Test("fills the lines of a long table, and shows bytes that are no text as numbers")
  func tables() throws {
    let input = "t = {} for i = 1, 40 do t[i] = i end\nt\n'\\200\\nü', '\\xff'"
    let outcome = try moonloop(["repl"], input: input)
    #expect(
      outcome.output == """
        {
          1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
          22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40
        }
        "\\xc8\\n\\xc3\\xbc"\t"\\xff"

        """, "\(outcome)")
  }

  @Test("leaves a line whole that is written in pieces")
  func pieces() throws {
    let session = try TerminalSession.prompt()
    for _ in 1...10 {
      session.type(
        "loop:after(0.01, function() io.stderr:write('a', 'line ', 'of ', 'it\\n') end)\r")
      try session.waitFor("aline of it\r\n")
      try session.waitFor("> ")
    }
    try session.quit()
  }

  @Test("completes globals, fields, and methods of handles")
  func completes() throws {
    let session = try TerminalSession.prompt()
    try session.type("string.rev\t", "erse(")
    try session.enter("'abc')", "\"cba\"")
    try session.enter("timer = loop:every(60, print)", "> ")
    try session.type("timer:inv\t", "alidate(")
    try session.enter(")", "> ")
    try session.type("loop:add\t\t", "add_common_mode(")
    try session.type("\u{3}", "^C\r\n> ")
    try session.quit()
  }

  @Test("takes what was typed before it stood there, line by line, whatever it was busy with")
  func typedAhead() throws {
    let session = try TerminalSession(["repl"])
    var sum = 0
    // It waits for no answer: lines arrive during evaluations, waits and other prompts.
    for number in 1...60 {
      sum += number
      let before = ["", "for i = 1, 30000 do end ", "ml.sleep(0.002) ", "do\r"][number % 4]
      let after = number % 4 == 3 ? "\rend" : ""
      session.type("\(before)sum = (sum or 0) + \(number)\(after)\r")
    }
    session.type("print('the sum is', sum)\r\u{4}")
    try session.waitFor("\nthe sum is\t\(sum)\r\n")
    #expect(try session.wait() == 0)
  }

  @Test("gives up by Ctrl-C what is typed, what waits, and what is busy")
  func interrupts() throws {
    let session = try TerminalSession.prompt()
    try session.type("never run", "never run")
    try session.type("\u{3}", "^C\r\n> ")
    try session.enter("print 'waits' ml.sleep(1000)", "waits\r\n")
    try session.type("\u{3}", "interrupted\r\n> ")
    if !Program.holdsSignals {
      try session.enter("print 'busy' while true do end", "busy\r\n")
      try session.type("\u{3}", "interrupted\r\n> ")
      let endless =
        "setmetatable({}, { __tostring = function() print 'shown' while true do end end })"
      try session.enter(endless, "shown\r\n")
      try session.type("\u{3}", "interrupted\r\n> ")
    }
    try session.enter("6 * 7", "42\r\n> ")
    try session.quit()
  }

  @Test("is none without a terminal: lines are answered one after the other")
  func reads() throws {
    let lines = "1 + 1\nfor i = 1, 2 do\n  print(i)\nend\nerror 'no'\nreturn 'end'"
    let outcome = try moonloop(["repl"], input: lines)
    #expect(outcome.output == "2\n1\n2\n\"end\"\n")
    #expect(outcome.errors.hasPrefix("console:1: no\nstack traceback:"))
    #expect(outcome.status == 1)
    #expect(try moonloop(["repl"], input: "os.exit(7)").status == 7)
    #expect(try moonloop(["repl"], input: "").status == 0)
  }

  @Test("has what a file made, and outlives its mistakes")
  func files() throws {
    try withFile("value = 41 ...") { file in
      let broken = try moonloop(["repl", file], input: "1")
      #expect(broken.output == "1\n")
      #expect(broken.errors.contains("unexpected symbol"))
    }
    try withFile("first, value = ..., 41 require 'moonloop'.current():every(60, print)") { file in
      let outcome = try moonloop(["repl", file, "x"], input: "value + 1, first, arg[1]")
      #expect(outcome.output == "42\t\"x\"\t\"x\"\n")
      #expect(outcome.status == 0)
    }
  }

  @Test(
    "':quit' and 'exit' leave, as the end of the input does",
    arguments: [":quit", ":q", "exit", "exit()"])
  func leaves(_ word: String) throws {
    let outcome = try moonloop(["repl"], input: "1 + 1\n\(word)\n2 + 2\n")
    #expect(outcome.status == 0 && outcome.output == "2\n" && outcome.errors == "")
    let named = try moonloop(["repl"], input: "exit = 7\nexit\n")
    #expect(named.output == "7\n")
  }
}
