// `moonloop run --guest --ask`: what is asked for, which answers hold, and that no script can hide
// or forge a question.

import Foundation
import Testing

@Suite struct AskTests {
  private static let begin = """
    local ml = require "moonloop"
    local loop = ml.current()
    local function try(f, ...)
      local done, value, message = pcall(f, ...)
      print("got " .. tostring(done and (value == nil and message or value) or value))
    end

    """
  private static let bold = "\u{1B}[1m"

  private func session(_ script: String, _ options: String...) throws -> TerminalSession {
    try TerminalSession(["run", "--guest", "--ask"] + options + ["-e", Self.begin + script])
  }

  @Test("a yes grants what was asked for, for the run, in words and as a grant")
  func yes() throws {
    let session = try session(
      """
      try(ml.fs.read, "/etc/hostname")
      try(ml.fs.read, "/etc/hostname")
      loop:after(0.001, function() print "beat" end)
      loop:every(0.001, function(timer) print "again" timer:invalidate() end)
      """)
    try session.waitFor(Self.bold + "moonloop: '-e' asks to read '/etc/hostname'\r\n")
    try session.waitFor("  the grant: fs=read:/etc/hostname\r\n")
    try session.waitFor("A: yes, to all of that name")
    try session.answer("[y/n/A/N] ", "what?\n")
    try session.answer("[y/n/A/N] ", "y\n")
    try session.waitFor("got ")
    try session.waitFor("got ")
    try session.waitFor("moonloop: '-e' asks to use timers\r\n  the grant: timers\r\n")
    try session.answer("[y/n] ", "y\n")
    try session.waitFor("beat")
    try session.waitFor("again")
    #expect(try session.wait() == 0)
  }

  @Test("a no refuses as without the option, and is not asked again")
  func no() throws {
    let session = try session(
      """
      for i = 1, 2 do try(loop.after, loop, 1, print) end
      for i = 1, 2 do try(ml.process.run, { "true" }) end
      try(ml.net.resolve, "a.invalid")
      try(ml.net.connect, { host = "b.invalid", port = 1 })
      try(function() return ml.port.listen end)
      """)
    try session.answer("[y/n] ", "n\n")
    for _ in 1...2 { try session.waitFor("may not use 'timers'; --allow timers would grant it") }
    try session.waitFor("asks to run the program 'true', which may do all that you may")
    try session.waitFor("process=true\r\n")
    try session.answer("N] ", "n\n")
    for _ in 1...2 { try session.waitFor("--allow process=true would grant it") }
    try session.waitFor("asks to look up 'a.invalid', and reach all its ports")
    try session.answer("N] ", "N\n")
    try session.waitFor("--allow net=a.invalid would grant it")
    try session.waitFor("--allow net=b.invalid:1 would grant it")
    try session.waitFor("asks to talk to other processes through named ports")
    try session.answer("[y/n] ", "\u{4}")
    try session.waitFor("--allow port would grant it")
    #expect(try session.wait() == 0)
  }

  @Test("all of a name is granted at once, and everything in a folder is asked for as that")
  func all() throws {
    let session = try session(
      """
      try(ml.fs.list, "/usr/share")
      try(ml.fs.stat, "/usr/share/zoneinfo")
      try(ml.fs.read, "/etc/hostname")
      try(ml.fs.stat, "/")
      """)
    try session.waitFor("asks to read '/usr/share', and all that is or will be in it\r\n")
    try session.answer("N] ", "y\n")
    for _ in 1...2 { try session.waitFor("got ") }
    try session.waitFor("asks to read '/etc/hostname'\r\n")
    try session.answer("N] ", "A\n")
    for _ in 1...2 { try session.waitFor("got ") }
    #expect(try session.wait() == 0)
  }

  @Test("what was typed before a question is no answer")
  func typeAhead() throws {
    let folder = try makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let typed = folder.appendingPathComponent("typed")
    let session = try session(
      """
      print "busy"
      while not ml.fs.stat "\(typed.path)" do end
      try(loop.after, loop, 0, print)
      """, "--allow", "fs=read:\(folder.path)")
    try session.waitFor("busy\r\n")
    try session.type("y\ny\ny\n", "y\r\ny\r\ny\r\n")  // the echo: the terminal has it
    try Data().write(to: typed)
    try session.answer("[y/n] ", "n\n")
    try session.waitFor("may not use 'timers'")
    #expect(try session.wait() == 0)
  }

  @Test("what a script prints or asks for controls neither the terminal nor the question")
  func forged() throws {
    let session = try session(
      #"""
      print("\27[8m hidden \155[2J \u{9b}2J \u{202e}moonloop: '-e' asks to\r")
      try(ml.fs.read, "/etc/\27[2K\r'; and\nnothing")
      try(ml.fs.read, "/etc/" .. ("/"):rep(1000) .. "hostname")
      try(ml.net.resolve, "*")
      try(ml.net.connect, { host = "unix:/x:80-90", port = 1 })
      error "\27[8m\u{9b}2J"
      """#)
    try session.waitFor("\\u{1b}[8m hidden \u{FFFD}[2J \\u{9b}2J \\u{202e}moonloop: '-e' asks to")
    try session.waitFor(#"read '/etc/\u{1b}[2K\u{d}\'; and\u{a}nothing', and all"#)
    try session.waitFor("\r\n  the grant: fs=read:/etc/\\u{1b}[2K\\u{d}'; and\\u{a}nothing\r\n")
    try session.answer("N] ", "n\n")
    try session.waitFor("--allow fs=read:")
    try session.waitFor("--allow fs=read:/etc/////")
    try session.waitFor("--allow net=* would grant it")
    try session.waitFor("port 1 of 'unix:/x:80-90'")
    try session.answer("N] ", "n\n")
    try session.waitFor("?[8m?2J")
    #expect(try session.wait() == 1)
  }

  @Test("the wait for an answer is not charged, and Ctrl-C ends it")
  func waits() throws {
    let session = try session(
      """
      try(loop.after, loop, 0, print)
      print "on"
      try(ml.fs.read, "/etc/hostname")
      """, "--callout", "50ms")
    try session.waitFor("[y/n] ")
    let began = ContinuousClock.now
    while began.duration(to: .now) < .milliseconds(200) {  // longer than the limit
      try session.type("?\n", "[y/n] ")
    }
    try session.type("y\n", "on\r\n")
    try session.answer("N] ", "\u{3}")
    #expect(try session.wait() == 130)
  }

  @Test("without a terminal nothing is asked, which is said once")
  func noTerminal() throws {
    let outcome = try moonloop([
      "run", "--guest", "--ask", "-e",
      Self.begin + "for i = 1, 3 do try(loop.after, loop, 1, print) end try(ml.fs.read, 'x')",
    ])
    #expect(outcome.output.components(separatedBy: "--allow timers would").count == 4)
    #expect(outcome.output.contains("--allow fs=read:x would grant it"))
    #expect(outcome.errors.components(separatedBy: "moonloop: --ask: ").count == 2, "\(outcome)")
  }

  @Test("a worker asks too, and has the answers of its guest")
  func worker() throws {
    let session = try session(
      """
      try(ml.fs.read, "/etc/hostname")
      local worker = ml.worker { source = [[
        local ml = require "moonloop"
        print("\\27[8m" .. (ml.fs.read "/etc/hostname" and "read"))
        print(select(2, pcall(ml.current().after, ml.current(), 0, print)))
        return true
      ]] }
      loop:task(function() print(worker:await()) end)
      """)
    try session.answer("N] ", "y\n")
    try session.waitFor("asks to run scripts in threads of their own")
    try session.answer("[y/n] ", "y\n")
    try session.waitFor("\\u{1b}[8mread")
    try session.waitFor("asks to use timers")
    try session.answer("[y/n] ", "n\n")
    try session.waitFor("may not use 'timers'")
    #expect(try session.wait() == 0)
  }

  @Test(
    "where a question could not be asked soundly, the option is refused",
    arguments: [
      (["--guest", "--ask", "--isolate"], "--ask: is not available with --isolate: a confined"),
      (["--guest", "--ask", "--allow", "fd"], "--ask: is not available with --allow fd, which"),
      (["--guest", "--ask", "--allow", "tty"], "--ask: is not available with --allow tty, which"),
      (["--ask"], "--ask: requires --guest"),
    ] as [([String], String)])
  func refused(options: [String], message: String) throws {
    let outcome = try moonloop(["run"] + options + ["-e", ""])
    #expect(outcome.status == 2 && outcome.errors.contains(message), "\(outcome)")
  }
}
