// `moonloop top` and `moonloop run --metrics`: what they say of a program that runs.

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
    try withFile(Self.script, name: "seen_once.lua") { file in
      let program = try Program(["run", "--timeout", "100", file])
      try program.waitFor("ready")
      let arguments = ["top", "--once", "--interval", "300ms", "\(program.pid)"]
      let text = try moonloop(arguments)
      #expect(text.status == 0, "\(text)")
      let lines = text.output.split(separator: "\n")
      #expect(
        lines[0].contains(" of the main loop: busy ") && lines[0].contains(" (timer "), "\(text)")
      #expect(lines[1].hasPrefix("real clock, mode 'default', depth 1; 1 timer, "))
      #expect(lines[2].hasPrefix("KIND"))
      #expect(lines[3].hasPrefix("timer  tick  ") && lines[3].contains("seen_once.lua:4 "))
      // A late timer is said to be so because of the console, if that was it.
      #expect(!lines.contains { $0.contains("console") && !$0.contains(" came ") }, "\(text)")

      let json = try moonloop(arguments + ["--json"])
      let seen = try JSONDecoder().decode(Metrics.self, from: Data(json.output.utf8))
      let tick = try #require(seen.handles.first { $0.name == "tick" })
      #expect(tick.kind == "timer" && tick.made_at.hasSuffix("seen_once.lua:4"))
      #expect(tick.calls > 0 && tick.wake_ups <= tick.calls)
      #expect(seen.clock == "real" && seen.mode == "default")
      // It measured anew, not since the look before: that has ended what it began.
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
    try withFile(Self.script, name: "seen_live.lua") { file in
      let program = try Program(["run", "--timeout", "100", file])
      try program.waitFor("ready")
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

  @Test("top tells of mistakes")
  func mistakes() throws {
    for (arguments, words) in [
      ([], "name one program"), (["no_such_program_runs"], "no program 'no_such_program_runs'"),
      (["--interval", "1us", "x"], "--interval: must be at least 50ms"),
      (["--sort", "bussy", "x"], "--sort: must be one of busy, calls, late, max, got 'bussy'"),
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
    // Nothing is measured in a script that is refused, and the report stands alone.
    let broken = try moonloop(["run", "--metrics", "-e", "x ="])
    #expect(broken.errors.hasPrefix("moonloop: "))
  }
}
