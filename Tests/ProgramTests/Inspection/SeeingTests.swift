// `moonloop top` and `moonloop run --metrics`: what they report about a running program.

import Foundation
import Testing

@Suite("Seeing a loop")
struct SeeingTests {
  static let script = """
    local ml = require "moonloop"
    local loop = ml.current()
    local count = 0
    loop:timer { every = 0.01, name = "tick", function()
      count = count + 1
      if count == 3 then print "ready" io.stdout:flush() end
    end }
    """

  private struct Metrics: Decodable {
    struct Row: Decodable {
      let kind, name, made_at: String
      let calls, wake_ups: Int
      let busy: Double
      let duration: [String: Double]
      let late: [String: Double]?
    }
    let clock, mode: String
    let measured, time, idle, busy: Double
    let passes, wake_ups: Int
    let causes: [String: Int]
    let handles: [Row]
  }

  @Test("top says once what another program does, and measures it only meanwhile")
  func once() throws {
    try withReady(Self.script, name: "seen_once.lua", options: ["--timeout", "100"]) { program in
      let arguments = ["top", "--once", "--interval", "300ms", "\(program.pid)"]
      let text = try moonloop(arguments)
      #expect(text.status == 0, "\(text)")
      let lines = text.output.split(separator: "\n")
      #expect(
        lines[0].contains(" of the main loop: busy ") && lines[0].contains(" (timer "), "\(text)")
      #expect(lines[1].hasPrefix("real clock, mode 'default', depth 1; 1 timer, "))
      #expect(lines[2].hasPrefix("KIND"))
      #expect(lines[3].hasPrefix("timer  tick  ") && lines[3].contains("seen_once.lua:4 "))
      // A timer may be called late because of the console, if the console did make it late.
      #expect(!lines.contains { $0.contains("console") && !$0.contains(" came ") }, "\(text)")

      let json = try moonloop(arguments + ["--json"])
      let seen = try JSONDecoder().decode(Metrics.self, from: Data(json.output.utf8))
      let tick = try #require(seen.handles.first { $0.name == "tick" })
      #expect(tick.kind == "timer" && tick.made_at.hasSuffix("seen_once.lua:4"))
      #expect(tick.calls > 0 && tick.wake_ups <= tick.calls)
      #expect(seen.clock == "real" && seen.mode == "default")
      // It measured from its own start: the look before ended the measurement that it began.
      #expect(seen.measured - seen.time < 0.25)
      #expect(seen.time <= seen.measured && seen.busy + seen.idle <= seen.time * 1.001)
      #expect(seen.causes.values.reduce(0, +) <= seen.wake_ups + 1)
      #expect(tick.duration["p50"]! <= tick.duration["max"]!)
      #expect(tick.late!["p50"]! <= tick.late!["max"]!)
      program.send(SIGTERM)
      _ = try program.wait()
    }
  }

  @Test("top goes on until it is ended, or the program is")
  func live() throws {
    try withReady(Self.script, name: "seen_live.lua", options: ["--timeout", "100"]) { program in
      let target = "\(program.pid)"
      let top = try Program(["top", "--interval", "100ms", "--sort", "calls", target])
      try top.waitFor("tick")
      try top.waitFor("tick")
      top.send(SIGINT)
      #expect(try top.wait().status == 0)
      let other = try Program(["top", "--interval", "100ms", target])
      try other.waitFor("tick")
      program.send(SIGTERM)
      _ = try program.wait()
      let outcome = try other.wait()
      #expect(outcome.status == 1)
      #expect(outcome.errors.hasPrefix("moonloop: top: "))
    }
  }

  @Test("what top has started to measure ends with it, even if it is killed")
  func killed() throws {
    try withFile(Self.script, name: "seen_killed.lua") { file in
      let program = try Program(["run", "--timeout", "100", file])
      try program.waitFor("ready")
      let top = try Program(["top", "--interval", "100ms", "\(program.pid)"])
      try top.waitFor("tick")
      top.send(SIGKILL)
      _ = try top.wait()
      // The program notices the end of the connection before it serves another one.
      let dump = try moonloop(["attach", "\(program.pid)"], input: "print(loop:dump())\n")
      #expect(dump.output.contains("not measured"), "\(dump)")
      program.send(SIGTERM)
      _ = try program.wait()
    }
  }

  @Test("top leaves at 'q', and --once fits the terminal")
  func leaves() throws {
    try withReady(Self.script, name: "seen_left.lua", options: ["--timeout", "100"]) { program in
      let top = try TerminalSession(["top", "--interval", "100ms", "\(program.pid)"])
      try top.waitFor("tick")
      top.type("q")
      #expect(try top.wait() == 0)
      let narrow = try Program(
        ["top", "--once", "--interval", "100ms", "\(program.pid)"],
        environment: ["COLUMNS": "60"]
      ).wait()
      let longest = narrow.output.split(separator: "\n").map(\.count).max() ?? 0
      #expect(narrow.status == 0 && longest > 0 && longest <= 60, "\(narrow)")
      program.send(SIGTERM)
      _ = try program.wait()
    }
  }

  // Under ThreadSanitizer signals reach a script that makes no system call too late.
  @Test(
    "a handler that keeps the loop is named to those who ask meanwhile",
    .disabled(if: Program.holdsSignals))
  func busy() throws {
    let script = """
      local loop = require("moonloop").current()
      over = false
      tick = loop:timer { every = 0.02, name = "tick", function() end }
      loop:timer { first = 0.03, name = "hog", function()
        print "ready" io.stdout:flush()
        local last = os.time() + 100
        while not over and os.time() < last do pcall(string.rep, "x", 10) end
        loop:stop()
      end }
      """
    try withReady(script, name: "seen_busy.lua") { program in
      // Long paths are cut at the front.
      func isHog(_ text: String, _ begin: String, _ end: String) -> Bool {
        text.split(separator: "\n").contains { line in
          line.contains("\(begin)timer 'hog' (made at ") && line.contains("seen_busy.lua:4)\(end)")
        }
      }
      let ask = "print(require('moonloop').current():why(tick))"
      let patient = ["--timeout", "60s", "\(program.pid)"]
      let attach = ["attach"] + patient
      let console = try moonloop(attach, input: "\(ask)\n\(ask)\n")
      for line in console.output.split(separator: "\n") {
        #expect(line.hasPrefix("timer 'tick' (made at "), "\(console)")
        #expect(line.contains("seen_busy.lua:3): due "), "\(console)")
        #expect(isHog("\(line)", "; the handler of ", " runs now, in a pass that takes "))
        #expect(line.hasSuffix(" s so far, then it fires"))
      }
      #expect(console.output.split(separator: "\n").count == 2)
      let dump = try moonloop(attach, input: "print(require('moonloop').current():dump())\n")
      #expect(isHog(dump.output, "the handler of ", " runs now, in a pass "), "\(dump)")
      let top = try moonloop(["top", "--once", "--interval", "300ms"] + patient)
      let lines = top.output.split(separator: "\n").map(String.init)
      // The rest is time spent serving the console.
      #expect(lines[0].contains(/busy (9\d\.\d|100\.0) %, asleep 0\.0 %/), "\(top)")
      #expect(lines[1].hasPrefix("real clock, mode 'default', depth 1; "), "\(top)")
      #expect(lines.contains("No handler has returned yet."), "\(top)")
      #expect(isHog(top.output, "", " is running, for "), "\(top)")
      // At a breakpoint in the handler, the clock stands.
      let stopped = try moonloop(
        attach, input: ":break\n\(ask)\nover = true\n:continue\n")
      #expect(
        isHog(stopped.output, "the program is stopped at a breakpoint in ", " until :continue"),
        "\(stopped)")
      #expect(try program.wait().status == 0)
    }
  }

  @Test("top reports mistakes")
  func mistakes() throws {
    for (arguments, words) in [
      ([], "name one program"), (["no_such_program_runs"], "no program 'no_such_program_runs'"),
      (["--interval", "1us", "x"], "--interval: must be at least 50ms"),
      (
        ["--sort", "bussy", "x"], "--sort: must be one of busy, calls, held, late, max, got 'bussy'"
      ),
    ] {
      let outcome = try moonloop(["top"] + arguments)
      #expect(outcome.errors.contains("moonloop: top: \(words)"), "\(outcome)")
      #expect(outcome.status == (arguments.first == "no_such_program_runs" ? 1 : 2))
    }
  }

  @Test("run --metrics writes the figures at the end")
  func atTheEnd() throws {
    let script = """
      local loop = require "moonloop".current()
      loop:timer { every = 1, name = "beat", function(timer)
        if timer.fires == 5 then timer:invalidate() end
      end }
      """
    let outcome = try moonloop(["run", "--metrics", "--clock", "virtual", "-e", script])
    #expect(outcome.status == 0 && outcome.output.isEmpty)
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines[0].hasPrefix("5 s of the main loop: busy "))
    #expect(lines[0].hasSuffix("asleep 100.0 %; 5 passes, 5 wake-ups (timer 5)"))
    #expect(lines[1] == "virtual clock, not running; 0 timers, 0 other items, 0 tasks, 0 requests")
    #expect(lines[3].split(separator: " ").prefix(2) == ["timer", "beat"])
    // A script that is refused is not measured, and its report stands alone.
    let broken = try moonloop(["run", "--metrics", "-e", "x ="])
    #expect(broken.errors.hasPrefix("moonloop: "))
  }
}
