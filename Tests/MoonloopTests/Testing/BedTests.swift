// What runs the tests of scripts: a fresh loop each, calls with a limit, leftovers by owner.

import Moonloop
import Testing

@Suite struct BedTests {
  /// Runs a chunk that has `bed` and `ml`, and returns the lines it printed.
  private func lines(_ chunk: String) throws -> [String] {
    try Loop.isolated(clock: .real) { loop in
      let state = try LuaState(on: loop)
      defer {
        state.runtime?.bed?.close()
        state.shutDown()
      }
      if let runtime = state.runtime { TestBed.open(in: runtime) }
      var lines: [String] = []
      state.runtime?.errors.write = { lines.append("outside: \($0)") }
      state.register("line") { (text: String) in lines.append(text) }
      try state.runtime?.mainChunk.start(
        chunk: """
          ml, bed = require "moonloop", require "moonloop.testing.bed"
          function print(...)
            local texts = table.pack(...)
            for i = 1, texts.n do texts[i] = tostring(texts[i]) end
            line(table.concat(texts, " "))
          end
          """ + "\n" + chunk, name: "@bed.lua")
      loop.run(for: .seconds(20))
      return lines
    }
  }

  @Test func `each loop is fresh, has its clock, and ends with all that is on it`() throws {
    let lines = try lines(
      """
      local loop = ml.current()
      local outer = loop:after(0.001, function() print "outer timer" end)
      bed.enter { clock = "virtual" }
      print(ml.current() == loop, ml.now())
      local inner = loop:after(3600, function() print "never" end)
      bed.enter { clock = "virtual" }
      local e = bed.call(nil, function(a) ml.sleep(7200); return a, ml.now() end, "slept")
      print(e.status, e.results.n, e.results[1], e.results[2])
      bed.leave()
      print(inner:is_valid(), #bed.leftovers(), bed.leftovers()[1].text)
      bed.leave()
      print(inner:is_valid(), outer:is_valid(), #bed.leftovers())
      """)
    #expect(
      lines == [
        "true 0.0", "ok 2 slept 7200.0", "true 1 timer (made at bed.lua:11)", "false true 1",
        "outer timer",
      ])
  }

  @Test func `what was recorded of a loop outlasts it`() throws {
    let lines = try lines(
      """
      local host = require "moonloop.testing.host"
      bed.enter { clock = "virtual" }
      host.record { span = 1 }
      bed.call(nil, function() ml.sleep(2) end)
      bed.leave()
      collectgarbage()
      local recorded = host.recorded()
      print(recorded.time, recorded.slept)
      """)
    #expect(lines == ["2.0 2.0"])
  }

  @Test func `a call says how it ended`() throws {
    let lines = try lines(
      """
      bed.enter { clock = "virtual" }
      local function show(e, ...) print(e.status, e.message, e.results.n, #e.reports, ...) end
      show(bed.call(nil, function() end))
      local e = bed.call(nil, function() local function deep() error "no" end deep() end)
      show(e, e.value, e.frames[2].name, e.frames[2].line)
      local object = { code = "X" }
      show(bed.call(nil, function() error(object) end), bed.call(nil, function() error(object) end)
        .value == object)
      show(bed.call(nil, function() ml.await(function() end) end))
      show(bed.call(nil, function()
        ml.current():after(0, function() error "beside" end)
        ml.sleep(1)
      end))
      show(bed.call(nil, function() ml.current():stop(); ml.sleep(1) end))
      """)
    #expect(
      lines == [
        "ok nil 0 0",
        "error bed.lua:10: no 0 0 bed.lua:10: no deep 10",
        "error (error object is a table value) 0 0 true",
        "deadlock nil 0 0", "ok nil 0 1", "ok nil 0 0",
      ])
  }

  @Test func `a limit in real time ends what waits, what is busy, and what runs nested`() throws {
    let lines = try lines(
      """
      local bodies = {
        function() while true do ml.sleep(1) end end,
        function() while true do end end,
        function() while true do pcall(function() while true do end end) end end,
        function() while true do ml.current():run { timeout = 1 } end end,
        function()
          local note <close> = setmetatable({}, { __close = function() print "closed" end })
          ml.await(function() end)
        end,
      }
      for place, body in ipairs(bodies) do
        bed.enter { clock = place == 5 and "real" or "virtual" }
        local keep = ml.current():every(3600, function() end)
        local e = bed.call(0.05, body)
        print(place, e.status, (e.waits or ""):match "^[^\\n]*")
        bed.leave()
      end
      print(bed.call(nil, function() return "and goes on" end).results[1])
      """)
    #expect(
      lines == [
        "1 timeout the test waits for a sleep of 1.0 s (bed.lua:8)", "2 timeout ", "3 timeout ",
        "4 timeout ", "closed", "5 timeout the test waits for a callback (bed.lua:14)",
        "and goes on",
      ])
  }

  @Test func `the clock is moved on, and all that becomes due runs in order`() throws {
    let lines = try lines(
      """
      bed.enter { clock = "virtual" }
      local loop = ml.current()
      local e = bed.call(1, function()
        loop:every(0.1, function(timer)
          print("tick", ml.now())
          loop:after(0, function() print "follow-up" end)
          loop:perform(function() print "block" end)
        end)
        loop:after(0.25, function() print "quarter" end)
        bed.advance(0.2)
        print("advanced", ml.now())
        bed.advance(0.05)
        print("advanced", ml.now())
      end)
      print(e.status, e.message)
      bed.leave()
      bed.enter { clock = "real" }
      print(bed.call(1, function() bed.advance(1) end).message)
      """)
    #expect(
      lines == [
        "tick 0.1", "block", "follow-up", "tick 0.2", "block", "follow-up", "advanced 0.2",
        "quarter", "advanced 0.25", "ok nil",
        "bed.lua:24: clock:advance: a real clock cannot be moved; use clock = \"virtual\"",
      ])
  }

  @Test func `what is ready at once comes in an order drawn by the seed`() throws {
    let lines = try lines(
      """
      local function order(seed)
        bed.enter { clock = "virtual" }
        bed.order(seed)
        local loop, heard = ml.current(), {}
        for i = 1, 4 do
          loop:port { function(port, message) heard[#heard + 1] = message; port:invalidate() end }
            :send(i)
          loop:source { function(source) heard[#heard + 1] = "s" .. i; source:invalidate() end }
            :signal()
        end
        for i = 1, 2 do
          loop:after(0, function() heard[#heard + 1] = "t" .. i end)
          loop:perform(function() heard[#heard + 1] = "b" .. i end)
        end
        bed.call(nil, function() ml.sleep(1) end)
        bed.leave()
        return table.concat(heard, " ")
      end
      local natural, seen, count = order(), {}, 0
      print(natural)
      for seed = 1, 50 do
        local one = order(seed)
        assert(one == order(seed), "the same seed, the same order")
        if not seen[one] then seen[one] = true; count = count + 1 end
        assert(one:gsub("s%d", ""):find "b1 b2", one)
        assert(one:find "t1.*t2", one)
      end
      print(count > 40)
      """)
    #expect(lines == ["b1 b2 s1 s2 s3 s4 1 t1 t2 2 3 4", "true"])
  }
}
