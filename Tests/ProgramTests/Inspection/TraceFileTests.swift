// `moonloop run --trace-out`: the file against the format that viewers read, and against `--trace`.

import Foundation
import Testing

@Suite struct TraceFileTests {
  private let script = """
    local ml = require "moonloop"
    local loop = ml.current()
    loop:observer { on = "before_waiting", name = "\\"quoted\\\\", function() end }
    local beat = loop:every(0.01, function(timer, missed)
      local inner <close> = loop:timer { first = 0.001, every = 0.001, modes = "ask",
        name = "inner", function() loop:stop() end }
      loop:run { mode = "ask", timeout = 5 }
      loop:perform(function() end)
    end)
    loop:task({ name = "sleeper" }, function() ml.sleep(0.02) end)
    loop:after(0.1, function() beat:invalidate() loop:stop() end)
    """

  @Test("a full disk ends the trace, not the program, and the status says so")
  func fullDisk() throws {
    for ending in ["print 'ran'", "print 'ran' os.exit(0)", "print 'ran' os.exit(0, true)"] {
      let run = try moonloop(["run", "--trace-out", "/dev/full", "-e", ending])
      #expect(run.status == 1 && run.output == "ran\n", "\(ending): \(run)")
      #expect(run.errors.contains("No space left on device; the trace ends here"), "\(run)")
    }
  }

  @Test("slices nest, pairs match, and the sums are those of --trace")
  func whole() throws {
    try withFile(script) { path in
      let file = path + ".json"
      let run = try moonloop(
        ["run", "--clock", "virtual", "--trace", "--trace-out", file, path])
      #expect(run.status == 0 && run.isOurs, "\(run)")
      let trace = try TraceCheck(Data(contentsOf: URL(fileURLWithPath: file)))
      #expect(trace.problems == [])
      let lines = run.errors.split(separator: "\n")
      func told(_ text: String) -> Int { lines.filter { $0.contains(text) }.count }
      #expect(trace.slices["timer"]?["inner"] == told("timer 'inner'"))
      #expect(trace.slices["observer"]?["\"quoted\\"] == told("observer '\"quoted\\'"))
      #expect(trace.slices["block"]?["block"] == told("  block"))
      #expect(trace.slices["pass"]?["pass"] == told("before_timers"))
      // A look without a wait is not one.
      #expect(trace.slices["sleep"]?["sleep"] == sleeps(lines))
      #expect(trace.runs == told("run begins"))
      #expect(trace.depth == 2)
      // Even where the clock stands and only the order shows what contains what: run, pass, timer,
      // run, pass, timer.
      #expect(trace.levels == 6)
      #expect(trace.slices["chunk"]?["main chunk"] == 1)
      #expect(
        trace.tasks.contains { $0.hasPrefix("task 'sleeper'") && $0.hasSuffix("script.lua:10)") },
        "\(trace.tasks)")
      #expect(trace.places.contains { $0.hasSuffix("script.lua:5") }, "\(trace.places)")
      #expect(trace.wakeUps { $0.hasPrefix("timer inner") } > 0, "\(trace.causes)")
      #expect(trace.slept == 101_000)  // microseconds, on the virtual clock
    }
  }

  /// How many sleeps of a `--trace` took time.
  private func sleeps(_ lines: [Substring]) -> Int {
    var count = 0
    for (before, line) in zip(lines, lines.dropFirst()) where line.hasSuffix("after_waiting") {
      if before.split(separator: " ")[0] != line.split(separator: " ")[0] { count += 1 }
    }
    return count
  }

  @Test("the sums are those of loop:metrics()")
  func metrics() throws {
    let text = """
      local ml = require "moonloop"
      local loop = ml.current()
      loop:metrics()
      for i = 1, 3 do loop:every(i / 100, function() end) end
      loop:task(function() for _ = 1, 5 do ml.sleep(0.007) end end)
      loop:after(0.5, function()
        local m = loop:metrics()
        print(m.passes, m.wake_ups, ("%.0f"):format(m.idle * 1e6))
        loop:stop()
      end)
      """
    try withFile(text) { path in
      let run = try moonloop(["run", "--clock", "virtual", "--trace-out", path + ".json", path])
      let trace = try TraceCheck(Data(contentsOf: URL(fileURLWithPath: path + ".json")))
      #expect(trace.problems == [])
      // The last pass ends after the call that asks.
      let passes = trace.slices["pass"]?["pass"] ?? 0
      let sleeps = trace.slices["sleep"]?["sleep"] ?? 0
      let wakes = trace.wakes
      #expect(
        run.output == "\(passes)\t\(wakes)\t\(Int(trace.slept.rounded()))\n",
        "\(run.output), \(passes) passes, \(sleeps) sleeps, \(wakes) wake-ups, \(trace.slept)")
    }
  }

  @Test("calls, their time, and what woke the loop are those of loop:metrics()")
  func calls() throws {
    let text = """
      local ml = require "moonloop"
      local loop = ml.current()
      loop:metrics()
      local function work() local x = 0 for i = 1, 5000 do x = x + i end end
      local source = loop:source { name = "fed", work }
      loop:timer { every = 0.004, name = "fast", function() work() source:signal() end }
      loop:timer { every = 0.01, name = "slow", function() work() work() end }
      loop:observer { on = "before_waiting", name = "seen", work }
      loop:task({ name = "sleeper" }, function() for _ = 1, 9 do work() ml.sleep(0.003) end end)
      loop:perform_after({ after = 0.1 }, function()
        local seen = loop:metrics()
        for _, row in ipairs(seen.handles) do
          print(row.made_at:match "%d+$", row.calls, ("%.0f"):format(row.busy * 1e9))
        end
        print("timer", seen.causes.timer, "") print("nothing", seen.causes.nothing, "")
        loop:stop()
      end)
      """
    try withFile(text) { path in
      let run = try moonloop(["run", "--trace-out", path + ".json", path])
      let trace = try TraceCheck(Data(contentsOf: URL(fileURLWithPath: path + ".json")))
      #expect(trace.problems == [])
      var rows = 0
      for line in run.output.split(separator: "\n") {
        let words = line.split(separator: "\t", omittingEmptySubsequences: false)
        let count = try #require(Int(words[1]))
        switch words[0] {
        case "timer": #expect(trace.wakeUps { $0.hasPrefix("timer ") } == count, "\(run.output)")
        case "nothing": #expect(trace.wakeUps { $0 == "wake_up" } == count, "\(run.output)")
        default:
          let place = trace.calls.first { $0.key.hasSuffix(":\(words[0])") }
          #expect(place?.value.count == count, "\(line)\n\(trace.calls)")
          #expect(place.map { "\($0.value.nanoseconds)" } == String(words[2]), "\(line)")
          rows += 1
        }
      }
      #expect(rows == 5, "\(run.output)")
    }
  }

  @Test("a timer that the host made for a request is reported as that")
  func requests() throws {
    let text = """
      local ml = require "moonloop"
      ml.current():after(0.001, function() end)
      ml.current():perform_after(0.002, print, "performed")
      """
    try withFile(text) { path in
      let file = path + ".json"
      let run = try moonloop(
        ["run", "--clock", "virtual", "--trace", "--trace-out", file, path])
      #expect(run.status == 0 && run.output == "performed\n", "\(run)")
      #expect(run.errors.contains("  timer 'perform_after'  "), "\(run)")
      let trace = try TraceCheck(Data(contentsOf: URL(fileURLWithPath: file)))
      #expect(trace.problems == [])
      #expect(trace.slices["timer"]?["perform_after"] == 1)
      #expect(trace.places.contains { $0.hasSuffix("script.lua:3") }, "\(trace.places)")
    }
  }

  @Test("whatever ends the script, the file is whole", arguments: ["error", "exit", "signal"])
  func ends(_ how: String) throws {
    let ending = ["error": "error 'no'", "exit": "os.exit(7)", "signal": ""][how] ?? ""
    let text = """
      local loop = require("moonloop").current()
      loop:task(function() require("moonloop").sleep(1000) end)
      loop:after(0.001, function() print "ready" io.stdout:flush() \(ending) end)
      \(how == "error" ? "loop:after(0.05, function() loop:stop() end)" : "")
      """
    try withFile(text) { path in
      let program = try Program(["run", "--trace-out", path + ".json", path])
      if how == "signal" {
        try program.waitFor("ready")
        program.send(SIGINT)
      }
      let run = try program.wait()
      #expect(run.status == ["error": 1, "exit": 7, "signal": 130][how])
      let trace = try TraceCheck(Data(contentsOf: URL(fileURLWithPath: path + ".json")))
      #expect(trace.problems == [])
      #expect(trace.runs == 1)
    }
  }

  @Test("what is left by a kill is an array without its end")
  func killed() throws {
    let text = """
      local loop = require("moonloop").current()
      loop:every(0.0001, function() end)
      loop:after(1.5, function() print "ready" io.stdout:flush() end)
      """
    try withFile(text) { path in
      let program = try Program(["run", "--trace-out", path + ".json", path])
      try program.waitFor("ready")
      program.send(SIGKILL)
      _ = try program.wait()
      var data = try Data(contentsOf: URL(fileURLWithPath: path + ".json"))
      let end = try #require(data.lastIndex(of: UInt8(ascii: "}")))
      while data.count > end + 1 { data.removeLast() }
      // A line may have been cut; viewers drop it.
      while let last = data.last, last != UInt8(ascii: "\n") { data.removeLast() }
      data.append(
        contentsOf: #"{"ph":"M","name":"process_labels","pid":1,"tid":1,"args":{"labels":""}}]"#
          .utf8)
      let trace = try TraceCheck(data, isKilled: true)
      #expect(trace.problems == [])
      #expect((trace.slices["pass"]?["pass"] ?? 0) > 10)
    }
  }

  @Test("a file that cannot be written is reported before the script begins")
  func refused() throws {
    let run = try moonloop(["run", "--trace-out", "/nowhere/x.json", "-e", "print 'ran'"])
    #expect(run.status == 2 && run.output.isEmpty)
    #expect(run.errors.contains("--trace-out: cannot write '/nowhere/x.json'"))
  }
}

/// A strict reader of the event format: what a viewer would silently drop is a problem here.
struct TraceCheck {
  private(set) var problems: [String] = []
  /// How many slices there are, by category and name.
  private(set) var slices: [String: [String: Int]] = [:]
  private(set) var runs = 0
  /// How many sleeps took time.
  private(set) var wakes = 0
  /// The calls of what was made at one place, and how long they took.
  private(set) var calls: [String: (count: Int, nanoseconds: Int)] = [:]
  /// The nesting depth that a viewer shows, which looks only at times.
  private(set) var levels = 0
  private(set) var depth = 0
  private(set) var slept = 0.0
  private(set) var tasks: Set<String> = []
  private(set) var places: Set<String> = []
  private(set) var causes: [String: Int] = [:]
  private var spans: [(begin: Int, end: Int)] = []
  private var open: [(name: String, ts: Double)] = []
  private var openTasks: [String: String] = [:]

  /// Every name in the format, and its argument.
  private static let metadata = [
    "process_name": "name", "process_labels": "labels", "process_sort_index": "sort_index",
    "thread_name": "name", "thread_sort_index": "sort_index",
  ]

  init(_ data: Data, isKilled: Bool = false) throws {
    var value = try JSONSerialization.jsonObject(with: data)
    if let object = value as? [String: Any] {
      if object["displayTimeUnit"] as? String != "ns" { problems.append("no unit: \(object.keys)") }
      value = object["traceEvents"] ?? ""
    }
    guard let events = value as? [[String: Any]] else {
      problems.append("no array of objects")
      return
    }
    for event in events { take(event) }
    if !isKilled {
      if !open.isEmpty { problems.append("never ended: \(open)") }
      if !openTasks.isEmpty { problems.append("tasks never ended: \(openTasks)") }
    }
    checkNesting()
  }

  private mutating func take(_ event: [String: Any]) {
    guard let phase = event["ph"] as? String, let name = event["name"] as? String,
      event["pid"] is Int, event["tid"] is Int
    else { return problems.append("ph, name, pid or tid is missing: \(event)") }
    let arguments = event["args"] as? [String: Any]
    if phase == "M" {
      let field = Self.metadata[name] ?? ""
      if arguments?[field] == nil { problems.append("metadata that is none: \(event)") }
      return
    }
    guard let ts = event["ts"] as? Double, ts >= 0, let category = event["cat"] as? String
    else { return problems.append("ts or cat is missing: \(event)") }
    switch phase {
    case "B":
      open.append((name, ts))
      runs += 1
      depth = max(depth, open.count)
    case "E":
      guard let begin = open.popLast(), begin.name == name, begin.ts <= ts else {
        return problems.append("ends what did not begin: \(event)")
      }
      spans.append((nanoseconds(begin.ts), nanoseconds(ts)))
    case "X":
      guard let duration = event["dur"] as? Double, duration >= 0 else {
        return problems.append("no duration: \(event)")
      }
      slices[category, default: [:]][name, default: 0] += 1
      spans.append((nanoseconds(ts), nanoseconds(ts) + nanoseconds(duration)))
      if category == "sleep" {
        slept += duration
        wakes += duration > 0 ? 1 : 0
      }
      if let place = arguments?["at"] as? String {
        places.insert(place)
        if arguments?["kind"] != nil {
          calls[place, default: (0, 0)].count += 1
          calls[place]!.nanoseconds += nanoseconds(duration)
        }
      }
      if category == "timer" && !(arguments?["late_us"] is Double) {
        problems.append("a timer without lateness: \(event)")
      }
    case "i":
      if !["g", "p", "t"].contains(event["s"] as? String) { problems.append("scope: \(event)") }
      if let cause = arguments?["cause"] as? String { causes[cause, default: 0] += 1 }
    case "b":
      guard let id = task(event), openTasks[id] == nil else {
        return problems.append("a task begins twice: \(event)")
      }
      openTasks[id] = name
      tasks.insert(name)
    case "e":
      guard let id = task(event), openTasks.removeValue(forKey: id) == name else {
        return problems.append("a task ends that did not begin: \(event)")
      }
    default: problems.append("unknown phase: \(event)")
    }
  }

  /// The process of this trace: a track of all processes would be drawn outside it.
  private func task(_ event: [String: Any]) -> String? {
    (event["id2"] as? [String: String])?["local"]
  }

  private func nanoseconds(_ microseconds: Double) -> Int { Int((microseconds * 1000).rounded()) }

  func wakeUps(_ matches: (String) -> Bool) -> Int {
    causes.filter { matches($0.key) }.values.reduce(0, +)
  }

  /// Slices of a thread contain or follow each other, and no two begin at once, because viewers
  /// would not know which of them is the outer one.
  private mutating func checkNesting() {
    var ends: [Int] = []
    var last = -1
    for span in spans.sorted(by: { $0.begin < $1.begin }) {
      if span.begin == last { problems.append("two begin at once: \(span)") }
      last = span.begin
      while let end = ends.last, end <= span.begin { ends.removeLast() }
      if let end = ends.last, span.end > end { problems.append("slices overlap: \(span), \(end)") }
      ends.append(span.end)
      levels = max(levels, ends.count)
    }
  }
}
