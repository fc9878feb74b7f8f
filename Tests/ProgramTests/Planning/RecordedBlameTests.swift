// What made timers late, as `moonloop check --recording` reads it from metrics and from traces.

import Foundation
import Testing

@Suite("Blame in recordings")
struct RecordedBlameTests {
  @Test func `metrics and traces blame what scripts made, where they made it`() throws {
    let text = """
      local ml = require "moonloop"
      local loop = ml.current()
      local function busy(time)
        local from = ml.now()
        while ml.now() - from < time do end
      end
      loop:metrics()
      loop:timer { every = 0.1, name = "tick", function() end }
      local notes = loop:notifications { name = "notes", function() busy(0.25) end }
      local web = assert(ml.http.serve { name = "web", port = 0, function()
        busy(0.25)
        return "done"
      end })
      local plug
      loop:task({ name = "script" }, function()
        ml.sleep(0.05)
        notes:enqueue("a", { style = "as_soon_as_possible" })
        ml.sleep(0.5)
        loop:perform(function() busy(0.25) end)
        ml.sleep(0.5)
        loop:perform(function() busy(0.25) end)
        ml.sleep(0.5)
        ml.http.get("http://127.0.0.1:" .. web.port)
        ml.sleep(0.3)
        plug = ml.guest { name = "plug", allow = { "timers" }, text = [[
          local ml = require "moonloop"
          local from = ml.now()
          while ml.now() - from < 0.25 do end
        ]] }
        ml.sleep(0.5)
        loop:task({ name = "job" }, function() busy(0.15) ml.sleep(0) busy(0.15) end):await()
        ml.sleep(0.3)
        loop:after(0.1, function() busy(0.25) end)
        loop:after(0.11, function() busy(0.2) end)
        loop:timer { first = 0.12, name = "behind", function() end }
        ml.sleep(0.5)
        local file <close> = assert(io.open(arg[1], "w"))
        file:write(require "moonloop.json".encode(loop:metrics()))
        os.exit(0)
      end)
      loop:run()
      """
    try withFile(text, name: "app.lua") { script in
      let (trace, metrics) = (script + ".json", script + ".metrics")
      let run = try moonloop(["run", "--trace-out", trace, script, metrics])
      #expect(run.status == 0, "\(run)")
      for file in [trace, metrics] {
        let found = try moonloop(["check", "--recording", file, script]).output
        for (line, what) in [
          (9, "a call of notifications 'notes'"), (10, "a call of stream 'web'"),
          (19, "a call of perform"), (21, "a call of perform"), (25, "a call of guest 'plug'"),
          (31, "2 calls of task 'job'"), (33, "a call of timer"), (34, "a call of timer"),
        ] {
          #expect(found.contains("\(script):\(line): starves-others: \(what) took "), "\(found)")
        }
        #expect(!found.contains("block") && !found.contains("moonloop/"), "\(found)")
        #expect(!found.contains("timer 'plug'"), "\(found)")
      }
    }
  }

  @Test func `metrics, traces and recordings say what held timers back`() throws {
    let planted = Program.root.appendingPathComponent("Tests/Planning/defects/held-recorded.lua")
    let text = try String(contentsOf: planted, encoding: .utf8)
    try withFile(text, name: "app.lua") { script in
      let files = ["trace", "metrics", "recording"].map { "\(script).\($0)" }
      let arguments = ["run", "--clock", "virtual"]
      let traced = try moonloop(arguments + ["--trace-out", files[0], script, files[1]])
      #expect(traced.status == 0, "\(traced)")
      let recorded = try moonloop(arguments + ["--record", files[2], script, files[1]])
      #expect(recorded.status == 0, "\(recorded)")
      for file in files {
        let found = try moonloop(["check", "--recording", file, script]).output
        let lines = found.split(separator: "\n").filter { !$0.hasPrefix("    ") }.map(String.init)
        let expected = [
          "10: held-back: timer 'tick' missed 3 fires while timer 'press' ran the loop in mode "
            + "'tracking'",
          "12: held-back: timer 'spin' missed 2 fires while timer 'ask' ran the loop in mode "
            + "'asking'",
          "12: held-back: timer 'spin' missed 7 fires because its mode did not run",
          "13: held-back: timer 'poll' was held back 300 ms while timer 'press' ran the loop in "
            + "mode 'tracking'",
          "13: outlasts-interval: timer 'poll' missed 2 fires because its own handler had not "
            + "returned",
          "14: held-back: timer 'ask' was held back 3.9 s because its mode did not run",
          "15: held-back: timer 'answer' was held back 1 s while timer 'ask' ran the loop in mode "
            + "'asking'",
          "15: held-back: timer 'answer' was held back 3.8 s because its mode did not run",
        ]
        #expect(lines == expected.map { "\(script):\($0)" } + ["2 files: 8 findings"], "\(file)")
      }
    }
  }
}
