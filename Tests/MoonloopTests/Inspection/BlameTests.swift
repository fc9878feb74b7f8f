// What made a timer late: planted cases on a virtual clock, in which `work` takes exact times.
// `metrics`, `why` and `check` must agree.

import Foundation
import Moonloop
import Testing

@Suite("Late, or held back")
struct BlameTests {
  /// A planted case: what runs, the timer in question, and everything that is reported.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let script: String
    let said: [String]

    init(_ name: String, _ script: String, _ figures: String, _ sayings: Saying...) {
      (testDescription, self.script) = (name, script)
      said =
        [figures] + sayings.compactMap { $0.metrics.map { "metrics: \($0)" } }
        + sayings.compactMap { $0.why.map { "why: \($0)" } }
        + sayings.compactMap { $0.check.map { "check: \($0)" } }
    }
  }

  /// One fact in the words of `metrics`, `why` and `check`; nil: it is not reported there.
  struct Saying {
    var metrics: String?
    var why: String?
    var check: String?

    static func metrics(_ text: String) -> Saying { Saying(metrics: text) }
    static func why(_ text: String) -> Saying { Saying(why: text) }
    static func check(_ text: String) -> Saying { Saying(check: text) }

    /// - Parameter ago: nil: `why` says nothing of it.
    static func late(
      _ time: Double, ago: Double? = nil, _ calls: String, took: Double, missed: Int = 0
    ) -> Saying {
      let advice =
        calls.hasPrefix("a ")
        ? "make that wait, or move it to a worker" : "make those wait, or move them to a worker"
      let more = missed == 0 ? "" : " and missed \(missed) fire\(missed == 1 ? "" : "s")"
      return Saying(
        metrics: "timer 'tick' came \(unit(time)) late because \(calls) took \(unit(took)).",
        why: ago.map {
          "it came \(short(time)) s late \(short($0)) s ago, because \(calls) took "
            + "\(short(took)) s: \(advice)"
        },
        check: "\(calls) took \(unit(took)): timer 'tick' (AT) came up to \(unit(time)) late"
          + more)
    }

    static func nested(_ missed: Int, _ by: String, _ mode: String) -> Saying {
      let fires = "\(missed) fire\(missed == 1 ? "" : "s")"
      return .check("timer 'tick' missed \(fires) while \(by) ran the loop in mode '\(mode)'")
    }

    /// - Parameter cause: Begins with a colon if it is a list.
    static func held(
      _ time: Double, ago: Double? = nil, _ cause: String, of name: String = "tick"
    ) -> Saying {
      let isList = cause.hasPrefix(":")
      return Saying(
        metrics: "timer '\(name)' was held back \(unit(time))\(isList ? "" : " ")\(cause).",
        why: ago.map {
          "it was held back \(short(time)) s, until \(short($0)) s ago"
            + "\(isList ? "" : ", ")\(cause)"
        })
    }

    private static func short(_ seconds: Double) -> String {
      seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
    }
    private static func unit(_ seconds: Double) -> String {
      seconds >= 1 ? "\(short(seconds)) s" : "\(Int((seconds * 1000).rounded())) ms"
    }
  }

  /// How each case begins and ends. `make(name, first, handler, more)` makes a timer.
  static let prelude = """
    local ml = require "moonloop"
    local loop = ml.current()
    local figures = require "moonloop.inspection.figures"
    local recordings = require "moonloop.planning.check.recordings"
    local json = require "moonloop.json"
    loop:metrics()
    local CAUSES = { "no_mode", "not_running", "mode", "nested_run", "handler", "clock" }
    local made = {}
    local function make(name, first, handler, more)
      local options = { first = first, name = name, handler or function() end }
      for key, value in pairs(more or {}) do options[key] = value end
      made[name] = loop:timer(options)
      return made[name]
    end
    local function nest(mode, time)
      local holder <close> = loop:source { modes = mode, function() end }
      assert(loop:run { mode = mode, timeout = time } == "timed_out")
    end
    local function run(mode, time)
      if mode then nest(mode, time) else nest("default", time) end
    end
    local function plain(text)
      return (text:gsub(" %(made at %S+%)", ""):gsub("[%w._/]+:%d+", "AT"))
    end
    local function say(name)
      local metrics = loop:metrics()
      for _, row in ipairs(metrics.handles) do
        if row.name == name then
          local held, causes = row.held or {}, {}
          for _, cause in ipairs(CAUSES) do
            if (held[cause] or 0) > 0 then
              causes[#causes + 1] = (" %s %.4g"):format(cause, held[cause])
            end
          end
          print(("late %.4g, missed %d, held%s, missed %d"):format(row.late.max, row.missed,
            #causes == 0 and " 0" or table.concat(causes), held.missed or 0))
        end
      end
      for line in figures.text(figures.between(metrics)):gmatch "[^\\n]+" do
        if line:find("^timer '" .. name) then print("metrics: " .. plain(line)) end
      end
      local why = plain(loop:why(made[name]))
      for line in why:gmatch "; (it %a+ [^;]*)" do
        if line:find "^it came" or line:find "^it was held" then print("why: " .. line) end
      end
      recordings.check("m.json", json.encode(metrics), {}, function(_, _, _, what)
        print("check: " .. plain(what))
      end)
      for _, timer in pairs(made) do timer:invalidate() end
      loop:metrics { on = false }
    end

    """

  @Test(arguments: cases)
  func `the right one is blamed`(_ planted: Case) throws {
    let run = try ScriptRun.of(
      Self.prelude + planted.script, name: "@blame.lua", setUp: Self.registerWork)
    #expect(run.reports == [])
    #expect(run.lines == planted.said)
  }

  @Test func `a hold of the clock keeps a timer back in real time`() throws {
    let script = """
      make("tick", 5)
      hold()
      run(nil, 6)
      local row = loop:metrics().handles[1]
      print(row.late.max, row.missed, row.held.by, row.held.clock > 0 and row.held.mode)
      made.tick:invalidate()
      loop:metrics { on = false }
      """
    let run = try ScriptRun.of(Self.prelude + script, name: "@blame.lua") { state in
      let loop = state.runtime!.loop
      state.register("hold") {
        let hold = loop.clock.holds.open("what is in flight")
        Thread.detachNewThread {
          while !loop.isWaiting { sched_yield() }
          // The sleep is recorded by now; it lasts at least this long, as measured below.
          let begin = RealTime.monotonic
          while RealTime.monotonic - begin < 2_000_000 { sched_yield() }
          hold.release()
        }
      }
    }
    #expect(run.reports == [])
    #expect(run.lines == ["0.0\t0\tby a clock hold\t0.0"])
  }

  @Test func `the time of a nested run is not that of the handler that began it`() throws {
    // A real clock: the handlers take real time, far below what `work` takes.
    let script = """
      make("press", 0.1, function() nest("tracking", 1) end)
      make("drag", 0.2, function() work(1e6) end, { modes = "tracking" })
      run(nil, 2)
      local busy = {}
      for _, row in ipairs(loop:metrics().handles) do busy[row.name] = row.busy end
      print(busy.drag >= 1e6, busy.press < 1e6)
      for _, timer in pairs(made) do timer:invalidate() end
      loop:metrics { on = false }
      """
    let run = try ScriptRun.of(
      Self.prelude + script, name: "@blame.lua", clock: .skipIdle, setUp: Self.registerWork)
    #expect(run.reports == [])
    #expect(run.lines == ["true\ttrue"])
  }

  /// `work(seconds)` takes exactly this long, on the loop's clock.
  private static func registerWork(_ state: LuaState) {
    let loop = state.runtime!.loop
    state.register("work") { (seconds: Double) in
      loop.clock.advance(by: Int64(seconds * 1e9))
    }
  }
}
