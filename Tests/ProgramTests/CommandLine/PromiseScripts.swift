// Scripts that show promises of the program that take many calls to show: each prints "ok", and
// what it used.

/// A promise, and a script that shows it. `N(count)` is that count, or part of it in a short run.
struct Promise: Sendable, CustomStringConvertible {
  let what: String
  var options: [String] = []
  let script: String
  /// The peak memory that the program may use in a full-size run, in MB; 0: any.
  var megabytes = 0
  /// The exit status, and the maximum size of its messages in bytes.
  var status: Int32 = 0
  var errorBytes = 0

  var description: String { what }

  static let prelude = """
    local ml = require "moonloop"
    local loop = ml.current()
    local factor = tonumber(arg[1])
    local function N(count) return count // factor end
    local function peak()
      for line in io.lines "/proc/self/status" do
        local kB = line:match "^VmHWM:%s*(%d+)"
        if kB then return kB // 1024 end
      end
    end
    local function done(...) print("ok", peak(), ...) end

    """

  static let all = isolation + lifetime + load
}

// MARK: Errors stay where they are

extension Promise {
  private static let isolation = [
    Promise(
      what: "a million failing calls are a million reports, and the loop goes on",
      options: ["--clock", "virtual"],
      script: """
        local calls, reports, places = 0, 0, {}
        loop.on_error = function(e)
          reports = reports + 1
          if not e.traceback:find("script.lua", 1, true) then places[#places + 1] = e.traceback end
          return "continue"
        end
        local function fail() calls = calls + 1 error(calls) end
        local count = N(1000000)
        loop:every(0.001, function(t)
          if calls >= count then t:invalidate() end
          fail()
        end)
        local source = loop:source { perform = function(s)
          if calls >= count then s:invalidate() error "end" end
          s:signal()
          loop:perform(fail)
          loop:after(0, fail)
          fail()
        end }
        source:signal()
        loop:run()
        assert(calls >= count and calls + 1 == reports and #places == 0, calls .. " " .. reports)
        done()
        """, megabytes: 150, status: 1),
    Promise(
      what: "two hundred thousand errors are told in bounds", options: ["--clock", "virtual"],
      script: """
        local count = 0
        loop:every(0.001, function(t)
          count = count + 1
          if count == N(200000) then done() t:invalidate() end
          error("fault " .. count .. " \\27[2J\\0")
        end)
        """, status: 1, errorBytes: 4 << 20),
    Promise(
      what: "long messages with control bytes are cut and cleaned",
      script: """
        for i = 1, 50 do loop:after(0, function() error(("\\27[31m\\7"):rep(50000)) end) end
        loop:after(0.01, function() done() end)
        """, status: 1, errorBytes: 512 << 10),
    Promise(
      what: "neighbours of what fails are served",
      script: """
        local trace = {}
        local function note(word) trace[#trace + 1] = word end
        local count = 0
        loop:timer { first = 0, every = 0.001, function(t)
          count = count + 1
          if count == 3 then t:invalidate() end
          note "timer" error {}
        end }
        loop:after(0, function() note "beside" end)
        loop:perform(function() note "block" error(nil) end)
        loop:perform(function() note "next" end)
        local a = loop:source { order = 1, function(s) s:invalidate() note "a" error(print) end }
        local b = loop:source { order = 2, function(s) s:invalidate() note "b" end }
        a:signal() b:signal()
        loop:observer { on = "exit", order = 1, function() note "o" error(1) end }
        loop:observer { on = "exit", order = 2, function() note "p" end }
        loop.on_error = function(e) error "the handler of errors fails too" end
        loop:run()
        local text = table.concat(trace, " ")
        assert(text == "block next a b timer beside timer timer o p", text)
        done()
        """, status: 1),
    Promise(
      what: "a script that is stopped more than ten times in a minute is ended",
      options: ["--callout", "10ms"],
      script: """
        local stops = 0
        loop:every(0.001, function()
          stops = stops + 1
          if stops == 11 then done(stops) io.stdout:flush() end
          assert(stops < 12, "it goes on")
          while true do end
        end)
        """, status: 3),
  ]
}

// MARK: Nothing grows

extension Promise {
  private static let lifetime = [
    Promise(
      what: "300,000 timers that come and go",
      script: """
        for i = 1, N(300000) do
          local t = loop:every(100, function() return i end)
          if i % 3 == 0 then t = nil else t:invalidate() end
          if i % 999 == 0 then loop:run { timeout = 0 } end
        end
        done()
        loop:stop()
        os.exit(0)
        """, megabytes: 150),
    Promise(
      what: "300,000 sources that come and go",
      script: """
        for i = 1, N(300000) do
          local s = loop:source { name = "s", perform = function() return i end }
          s:signal()
          s:invalidate()
        end
        done()
        """, megabytes: 150),
    Promise(
      what: "50,000 tasks that come and go, and half of them fail",
      options: ["--clock", "virtual"],
      script: """
        local ended, failed = 0, 0
        local count = N(50000)
        loop.on_error = function() failed = failed + 1 return "continue" end
        loop:task(function(scope)
          for i = 1, count do
            loop:task(function()
              local x <close> = setmetatable({}, { __close = function() ended = ended + 1 end })
              ml.sleep(0.01)
              if i % 2 == 0 then error "half" end
            end)
            if i % 100 == 0 then ml.sleep(0.1) end
          end
        end)
        loop:run()
        assert(ended == count and failed == count // 2, ended .. " " .. failed)
        done()
        """, megabytes: 150, status: 1),
    Promise(
      what: "a day of timers, tasks, messages and faults", options: ["--clock", "virtual"],
      script: """
        local began = ml.now()
        local port = loop:port { function(_, message, reply) reply(message) end }
        local beats, faults = 0, 0
        loop.on_error = function() faults = faults + 1 return "continue" end
        local before
        local length = N(86400)
        loop:every(1, function(t)
          beats = beats + 1
          loop:task(function()
            assert(port:request({ beats, ("x"):rep(beats % 100) }, { timeout = 5 }))
            ml.timeout(0.1, ml.sleep, beats % 3 / 10)
          end)
          loop:after(0.5, function() if beats % 7 == 0 then error "fault" end end)
          if beats == length // 10 then collectgarbage() before = collectgarbage "count" end
          if beats == length then
            collectgarbage()
            local drift = collectgarbage "count" / before - 1
            assert(drift < 0.01, "memory drifts by " .. drift)
            assert(faults == length // 7 or faults == length // 7 - 1, faults)
            done(("%.4f"):format(drift))
            port:invalidate()
            t:invalidate()
          end
        end)
        loop:run()
        assert(ml.now() - began >= length)
        """, megabytes: 150, status: 1),
    Promise(
      what: "memory that comes back after a limit, and is never three times that",
      options: ["--memory", "16M"],
      script: """
        local bombs = {
          function() local t = {} while true do t[#t + 1] = {} end end,
          function() local s = "x" while true do s = s .. s end end,
          function() local t = {} while true do t[#t + 1] = ("x"):rep(100000) .. #t end end,
          function() local t = {} while true do t[#t + 1] = coroutine.create(print) end end,
          function() local t = {} for i = 1, math.huge do t[i] = i end end,
          function() local f = print while true do local g = f f = function() return g end end end,
          function()
            local long = { __index = function() return ("x"):rep(1e5) end }
            table.concat(setmetatable({}, long), "", 1, 1 << 40)
          end,
        }
        local stopped = 0
        loop.on_error = function(e) stopped = stopped + 1 return "continue" end
        for i, bomb in ipairs(bombs) do loop:after(i / 1000, bomb) end
        loop:after(0.1, function()
          collectgarbage()
          assert(stopped == #bombs, stopped)
          assert(collectgarbage "count" < 8192, collectgarbage "count")
          done()
          os.exit(0)
        end)
        """, megabytes: 90),
  ]
}

// MARK: Much at once

extension Promise {
  private static let load = [
    Promise(
      what: "a million pending timers", options: ["--clock", "virtual"],
      script: """
        local fired, count = 0, N(1000000)
        local function f() fired = fired + 1 end
        for i = 1, count do loop:after(i % 1000 / 100, f) end
        loop:run()
        assert(fired == count)
        done()
        """),
    Promise(
      what: "a million passes",
      script: """
        local passes, count = 0, N(1000000)
        local source
        source = loop:source { perform = function(s)
          passes = passes + 1
          if passes < count then s:signal() else s:invalidate() end
        end }
        source:signal()
        loop:run()
        assert(passes == count)
        done()
        """),
    Promise(
      what: "20,000 tasks at once", options: ["--clock", "virtual"],
      script: """
        local ended, count = 0, N(20000)
        for i = 1, count do loop:task(function() ml.sleep(1 + i % 7) ended = ended + 1 end) end
        loop:run()
        assert(ended == count)
        done()
        """),
    Promise(
      what: "2,000 observers",
      script: """
        local told, count = 0, N(2000)
        local function hear() told = told + 1 end
        for i = 1, count do loop:observer { on = "exit", order = -i, hear } end
        loop:after(0, function() end)
        loop:run()
        assert(told == count)
        done()
        """),
    Promise(
      what: "what is always ready starves nobody",
      script: """
        local alive = 0
        local zero = loop:timer { first = 0, every = 1e-9, function() end }
        local self = loop:source { perform = function(s) s:signal() end }
        self:signal()
        local function again() if alive < 5 then loop:perform(again) end end
        loop:perform(again)
        loop:observer { on = "before_waiting", function() loop:wake_up() end }
        local port = loop:port { function(port, message) port:send(message) end }
        port:send(1)
        loop:every(0.01, function(t)
          alive = alive + 1
          if alive == 5 then
            done()
            for _, handle in ipairs { t, zero, self, port } do handle:invalidate() end
          end
        end)
        """),
  ]
}
