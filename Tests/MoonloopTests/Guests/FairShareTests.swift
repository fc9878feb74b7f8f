// Fair shares: how long one guest of a hundred that uses all it may keeps the others waiting. On a
// clock of which each look takes 10 µs, so that a call takes as long as it looks, on every machine.

import Moonloop
import MoonloopCore
import Testing

@Suite struct FairShareTests {
  /// Time that passes when it is looked at.
  private final class LookedAt: TimeSource {
    private var time: Int64 = 0
    var now: Int64 {
      time += 10_000
      return time
    }
  }

  /// Runs a hundred guests for ten seconds. All but the first have a timer each second, due at the
  /// same moments as what the first does.
  /// - Returns: How late the latest of those timers was, in seconds.
  private func lateness(first text: String, limits: String) throws -> Double {
    let clock = Clock(.skipIdle, of: LookedAt())
    return try Loop.makeIsolated("fair", LinuxKernel(clock)).isolate { loop in
      let lua = try LuaState(on: loop)
      defer { lua.shutDown() }
      return try lua.evaluate(
        """
        local ml = require "moonloop"
        local loop = ml.current()
        local start = math.ceil(ml.now()) + 1
        local greedy = ml.guest { allow = { "timers" }, limits = { callout = 100, \(limits) },
          args = start, text = [[
            local ml = require "moonloop"
            local loop = ml.current()
            local function spin(seconds)
              local ends = ml.now() + seconds
              while ml.now() < ends do end
            end
            \(text)
          ]] }
        local others = {}
        for i = 1, 99 do
          others[i] = ml.guest { allow = { "timers" }, args = start, text = [[
            local ml = require "moonloop"
            local due, worst = ..., 0
            ml.current():timer { first = due - ml.now(), every = 1, function()
              worst = math.max(worst, ml.now() - due)
              due = due + 1
            end }
            function result() return worst, due end
          ]] }
        end
        loop:run { timeout = start + 9.5 - ml.now() }
        local worst = 0
        local asked = loop:task(function()
          for i = 1, 99 do
            local late, due = others[i]:call "result"
            assert(due == start + 10, due)
            worst = math.max(worst, late)
          end
        end)
        greedy:stop()
        asked:wait { mode = "default" }
        for i = 1, 99 do others[i]:stop() end
        return worst
        """)
    }
  }

  /// What the first does, its limits, and how much longer the others may wait because of it.
  private static let rows: [(String, String, Double)] = [
    // More work than there is time: a hundred calls of 10 ms, of which 50 ms may be.
    (timers(100, "spin(0.01)"), "cpu = 0.05", 0.062),
    // The same without a limit: each call is a turn, and then come the others.
    (timers(100, "spin(0.01)"), "", 0.012),
    (timers(1000, "spin(0.0001)"), "", 0.002),
    (
      "local function again() loop:perform(again) spin(0.01) end "
        + "for i = 1, 100 do loop:perform(again) end", "", 0.012
    ),
    (
      "for i = 1, 100 do loop:task(function() while true do spin(0.01) ml.sleep(0) end end) end",
      "", 0.012
    ),
    (
      "for i = 1, 100 do loop:source({ function(s) spin(0.01) s:signal() end }):signal() end", "",
      0.012
    ),
  ]

  private static func timers(_ count: Int, _ body: String) -> String {
    """
    for i = 1, \(count) do
      loop:timer { first = ... - ml.now(), every = 1, function() \(body) end }
    end
    """
  }

  @Test(arguments: rows)
  func `one that uses all it may delays the others by its share`(
    text: String, limits: String, share: Double
  ) throws {
    let quiet = try lateness(first: "", limits: limits)
    let busy = try lateness(first: text, limits: limits)
    #expect(busy - quiet <= share, "\(quiet) s alone, \(busy) s beside it")
  }
}
