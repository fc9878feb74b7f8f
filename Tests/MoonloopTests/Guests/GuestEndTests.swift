// What the end of a guest costs: as much for each thing that it has, however many those are, and
// the same beside many guests as beside few. Steps are counted, not seconds.

import Glibc
import Moonloop
import MoonloopCore
import Testing

@Suite(.serialized) struct GuestEndTests {
  /// A global function of guests that makes one thing of a kind.
  private static let kinds = [
    ("timer", "loop:after(1e6, print)"),
    ("source", "loop:source { print }"),
    ("port", "loop:port { print }"),
    ("port in its own mode", "loop:port { modes = { 'mode ' .. i }, print }"),
    ("port with a message", "ml.port {}:send(i)"),
    ("observer", "loop:observer { on = 'exit', print }"),
    ("perform", "loop:perform({ modes = 'another' }, print)"),
    ("perform_after", "loop:perform_after(1e6, print)"),
    ("task", "loop:task(function() ml.sleep(1e6) end)"),
    ("task that waits for a message", "loop:task(function() ml.port {}:receive() end)"),
    ("task at a channel", "loop:task(function() channel:receive() end)"),
    ("socket", "ml.net.udp { host = '127.0.0.1' }"),
  ]

  @Test("its end takes as long for each of many things as of a few", arguments: kinds)
  func things(kind: String, text: String) throws {
    func cost(_ count: Int) throws -> Double {
      try onLoop { loop, lua in
        try lua.run(
          """
          local ml = require "moonloop"
          local loop, count = ml.current(), \(count)
          guest = ml.guest {
            allow = { "timers", "net" }, args = count,
            limits = { memory = "512M", callout = 1000, handles = 100000 },
            text = [[
              ml = require "moonloop"
              loop, channel = ml.current(), ml.channel(1)
              for i = 1, ... do \(text) end
            ]],
          }
          loop:task(function() ml.sleep(0.001) end):wait { mode = "default" }
          """)
        return try steps(each: count) { try lua.run("guest:stop()") }
      }
    }
    let many = kind == "socket" ? 1000 : 10_000
    let (few, more) = (try cost(10), try cost(many))
    #expect(few > 0, "\(kind): nothing was counted")
    #expect(more <= 2 * few + 8, "\(kind): \(few) steps each for 10, \(more) for \(many)")
  }

  @Test("one of a thousand guests ends as fast as one of ten, the first first or last")
  func guests() throws {
    allowDescriptors(5000)
    func costs(_ count: Int, _ order: String) throws -> (start: Double, end: Double) {
      try onLoop { loop, lua in
        let start = try steps(each: count) {
          try lua.run(
            """
            local ml = require "moonloop"
            guests = {}
            for i = 1, \(count) do
              guests[i] = ml.guest { allow = { "timers" }, text = [[
                local ml = require "moonloop"
                local loop = ml.current()
                loop:every(1e6, print)
                loop:port { print }
                loop:task(function() ml.sleep(1e6) end)
              ]] }
            end
            local loop = ml.current()
            loop:task(function() ml.sleep(0.001) end):wait { mode = "default" }
            """)
        }
        let end = try steps(each: count) {
          try lua.run("for i = \(order.replacing("n", with: "\(count)")) do guests[i]:stop() end")
        }
        return (start, end)
      }
    }
    for order in ["1, n", "n, 1, -1"] {
      let (few, many) = (try costs(10, order), try costs(1000, order))
      #expect(few.end > 0, "nothing was counted")
      #expect(many.start <= 2 * few.start + 8, "a start: \(few.start), then \(many.start) steps")
      #expect(many.end <= 2 * few.end + 8, "an end: \(few.end), then \(many.end) steps")
    }
  }

  @Test("the thousandth guest after others that have ended costs what the first did")
  func turnover() throws {
    try onLoop { _, lua in
      try lua.run(
        """
        local ml = require "moonloop"
        local loop = ml.current()
        function cycle(count)
          for _ = 1, count do
            local guest = ml.guest { allow = { "timers" }, text = [[
              local loop = require "moonloop".current()
              loop:every(1e6, print)
              loop:port { print }
            ]] }
            loop:run { timeout = 0 }
            guest:stop()
          end
        end
        cycle(10)
        """)
      let first = try steps(each: 100) { try lua.run("cycle(100)") }
      try lua.run("cycle(800)")
      let last = try steps(each: 100) { try lua.run("cycle(100)") }
      #expect(first > 0)
      #expect(last <= first + 1, "the first hundred took \(first) steps each, the last \(last)")
    }
  }

  private func steps(each count: Int, _ body: () throws -> Void) rethrows -> Double {
    let before = Steps.taken
    try body()
    return Double(Steps.taken - before) / Double(count)
  }

  private func onLoop<Result>(_ body: (Loop, LuaState) throws -> Result) throws -> Result {
    try Loop.makeIsolated("ends", LinuxKernel(clock: .virtual)).isolate { loop in
      let lua = try LuaState(on: loop)
      defer { lua.shutDown() }
      return try body(loop, lua)
    }
  }

  /// Each guest takes three.
  private func allowDescriptors(_ count: rlim_t) {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = max(limit.rlim_cur, min(count, limit.rlim_max))
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
