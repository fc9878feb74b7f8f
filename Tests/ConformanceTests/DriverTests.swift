// The driver itself: its line of JSON, its report, and its messages about mistakes in files.

import Foundation
import TestSupport
import Testing

@Suite("The driver of scenarios")
struct DriverTests {
  /// Writes a scenario with these objects and steps to a file.
  private func file(
    _ fields: String = "", objects: String = "", steps: String = "", expect: String = ""
  ) throws -> String {
    let path = NSTemporaryDirectory() + "scenario-\(UUID().uuidString).json"
    let text = """
      {"format": 1, "id": "made-up", "family": "x", "title": "x"\(fields),
       "objects": [\(objects)], "steps": [\(steps)], "expect": [\(expect)]}
      """
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  @Test(
    "refuses what is no JSON",
    arguments: [
      "01", "-01", "2.", ".5", "+2", "1e", "- 1", "0x1", "1_0", "NaN", "\"a\tb\"", "\"\u{1}\"",
      "\"\\x\"", "\"\\ud800\"", "'a'", "[1,]", "[,1]", "{\"a\":1,}", "{a:1}", "tru", "\u{B}1",
      "\u{C}1", "1 2", "\u{A0}1",
    ])
  func noJSON(_ value: String) throws {
    let path = try file(", \"tags\": \(value)")
    defer { unlink(path) }
    let run = try Driver.run(["--kernel", "simulated", "--json", path])
    #expect(run.status != 0 && run.errors.contains("line 1: "), "\(value): \(run)")
    #expect(!run.errors.contains("tags"), "\(value): \(run)")
  }

  @Test("prints one line of JSON for one file")
  func line() throws {
    let path = try file(steps: #"{"op": "log", "text": "say \"hi\"\n"}"#)
    defer { unlink(path) }
    let run = try Driver.run(["--kernel", "simulated", "--json", path])
    #expect(run.lines == [#"{"id":"made-up","trace":["log:say \"hi\"\n"]}"#])
    #expect(run.status == 0)
  }

  @Test("gives up after 20 seconds, with the trace so far")
  func timeout() throws {
    let path = try file(
      objects: #"{"id": "t", "type": "timer", "delay_ms": 7000, "interval_ms": 7000}"#,
      steps: #"{"op": "run", "timeout_ms": "forever"}"#)
    defer { unlink(path) }
    let run = try Driver.run(["--kernel", "simulated", "--json", path])
    #expect(run.lines == [#"{"id":"made-up","trace":["timer:t","timer:t","TIMEOUT"]}"#])
    #expect(run.status == 3)
  }

  @Test("gives up when every thread waits for ever")
  func stuck() throws {
    let path = try file(
      objects: #"{"id": "s", "type": "source"}"#,
      steps: #"{"op": "run", "timeout_ms": "forever"}"#)
    defer { unlink(path) }
    let run = try Driver.run(["--kernel", "simulated", "--json", path])
    #expect(run.lines == [#"{"id":"made-up","trace":["TIMEOUT"]}"#])
    #expect(run.status == 3)
  }

  // On a machine that is late this happens to any random scenario; it used to end all of a batch.
  @Test("goes on to the next of a batch after one that uses what is not made yet")
  func unmade() throws {
    let path = try file(
      objects: #"{"id": "s", "type": "source", "deferred": true}"#,
      steps: #"{"op": "log", "text": "a"}, {"op": "invalidate", "id": "s"}"#)
    defer { unlink(path) }
    let line = try String(contentsOfFile: path, encoding: .utf8)
      .replacingOccurrences(of: "\n", with: " ")
    try "\(line)\n\(line.replacingOccurrences(of: "invalidate", with: "create"))\n".write(
      toFile: path, atomically: true, encoding: .utf8)
    for face in ["swift", "lua", "cf"] {
      let kernel = face == "cf" ? "real" : "simulated"
      let run = try Driver.run(
        ["--face", face, "--kernel", kernel, "--jobs", "1", "--batch", path])
      #expect(
        run.lines == [
          #"{"id":"made-up","trace":["log:a","s is used before it is made"]}"#,
          #"{"id":"made-up","trace":["log:a"]}"#,
        ], "\(face): \(run)")
    }
  }

  // Once every scenario with another thread was refused, for weeks, and nobody saw it.
  @Test("makes random scenarios of all that is to be made at random")
  func census() throws {
    let lines = try Driver.run(["--fuzz", "400", "--seed", "1", "--census"]).lines
    let row = ["steps", "thread", "timer", "source", "port", "fd", "observer", "block"]
    #expect(lines.first?.split(separator: " ").map(String.init) == row)
    let all = [
      "add", "addCommonMod", "cancelPerfor", "closePeer", "create", "disable", "enable",
      "invalidate", "join", "log", "mainAsync", "perform", "performAfter", "performOn", "post",
      "query", "read", "remove", "run", "runUnconditi", "setNext", "signal", "sleep", "stop",
      "thread", "wake", "write",
    ]
    let made = lines.dropFirst().map { $0.split(separator: " ").first.map(String.init) ?? "" }
    #expect(made.starts(with: all), "\(lines)")
    for feature in [
      "1 threads", "2 threads", "an action of every call", "depth 3", "quiet", "stamp",
      "run in common", "setNext past", "performAfter now", "timer in n",
    ] {
      #expect(lines.contains { $0.hasPrefix(feature + " ") }, "\(feature): \(lines)")
    }
  }

  @Test("runs a single scenario on Core Foundation, too")
  func reference() throws {
    let path = RepositoryFile(path: "Tests/Conformance/seq-port-ready.json").full
    let run = try Driver.run(["--face", "cf", "--json", path])
    #expect(run.lines.count == 1 && run.status == 0, "\(run)")
    #expect(run.lines.first?.contains("observer:o:beforeWaiting") ?? false, "\(run)")
  }

  @Test("says so when an ability is missing")
  func unsupported() throws {
    let path = try file(#", "needs": ["teleport"]"#)
    defer { unlink(path) }
    let one = try Driver.run(["--json", path])
    #expect(one.lines == [#"{"id":"made-up","unsupported":true}"#])
    #expect(one.status == 0)
    let many = try Driver.run([path])
    #expect(
      many.lines == [
        "SKIP made-up: the ability 'teleport' is not known", "0 passed, 0 failed, 1 skipped",
      ])
  }

  @Test(
    "names the first entry that differs",
    arguments: [
      (#""log:a", "log:b""#, #"entry 2 is the end, expected "log:b""#),
      ("", #"entry 1 is "log:a", expected the end"#),
      (#""log:b""#, #"entry 1 is "log:a", expected "log:b""#),
    ])
  func difference(_ expect: String, _ message: String) throws {
    let path = try file(steps: #"{"op": "log", "text": "a"}"#, expect: expect)
    defer { unlink(path) }
    for kernel in ["simulated", "real"] {
      let run = try Driver.run(["--kernel", kernel, path])
      // A slow machine may have been held up meanwhile, which the line then says as well.
      #expect(run.lines.count == 2 && run.lines[0].hasPrefix("FAIL made-up: \(message)"))
      #expect(run.lines.last == "0 passed, 1 failed")
      #expect(run.status == 1)
    }
  }

  @Test("multiplies and divides all times by CONFORMANCE_SCALE")
  func scale() throws {
    let path = try file(
      objects: #"{"id": "t", "type": "timer", "delay_ms": 100, "stamp": true}"#,
      steps: #"{"op": "run", "timeout_ms": 1000}, {"op": "query", "what": "elapsed"}"#)
    defer { unlink(path) }
    let run = try Driver.run(
      ["--kernel", "simulated", "--json", path], environment: ["CONFORMANCE_SCALE": "7"])
    #expect(
      run.lines == [
        #"{"id":"made-up","trace":["timer:t@100","run:default->finished","query:elapsed=100"]}"#
      ])
  }

  /// A mistake in a file, and the message.
  struct Mistake: Sendable, CustomTestStringConvertible {
    var objects = ""
    var steps = ""
    let message: String
    var testDescription: String { message }
  }

  @Test(
    "refuses what the format does not know",
    arguments: [
      Mistake(
        objects: #"{"id": "t", "type": "timer", "delay_ms": 1, "wobble": 2}"#,
        message: "timer 't': unknown field 'wobble'"),
      Mistake(objects: #"{"id": "t", "type": "timer"}"#, message: "'delay_ms' is missing"),
      Mistake(objects: #"{"id": "t", "type": "toaster"}"#, message: #"unknown 'type' "toaster""#),
      Mistake(
        objects: #"{"id": "s", "type": "source"}, {"id": "s", "type": "port"}"#,
        message: "two objects have the id 's'"),
      Mistake(
        objects: #"{"id": "o", "type": "observer", "activities": ["sleep"]}"#,
        message: #"unknown 'activities' "sleep"; one of entry, beforeTimers"#),
      Mistake(
        objects: #"{"id": "s", "type": "source", "do": [{"op": "stop", "on": "entry"}]}"#,
        message: "'on' belongs in 'do' of an observer or fd"),
      Mistake(steps: #"{"op": "dance"}"#, message: "'dance' in step 1: unknown op"),
      Mistake(steps: #"{"op": "stop", "nth": 1}"#, message: "'nth' belongs in 'do' of an object"),
      Mistake(steps: #"{"op": "stop", "force": 1}"#, message: "unknown field 'force'"),
      Mistake(steps: #"{"op": "stop", "loop": "B"}"#, message: "no thread is called 'B'"),
      Mistake(steps: #"{"op": "run"}"#, message: "'timeout_ms' is missing"),
      Mistake(
        steps: #"{"op": "run", "timeout_ms": "long"}"#, message: #"unknown 'timeout_ms' "long""#),
      Mistake(steps: #"{"op": "signal", "id": "x"}"#, message: "no object is called 'x'"),
      Mistake(
        objects: #"{"id": "x", "type": "port"}"#, steps: #"{"op": "signal", "id": "x"}"#,
        message: "'x' is a port, but this takes one of source"),
      Mistake(steps: #"{"op": "query", "what": "mood"}"#, message: #"unknown query "mood""#),
      Mistake(steps: "{]", message: "line 2: expected '\"'"),
    ])
  func mistakes(_ mistake: Mistake) throws {
    let path = try file(objects: mistake.objects, steps: mistake.steps)
    defer { unlink(path) }
    let run = try Driver.run(["--check", path])
    #expect(run.errors.contains(mistake.message), "\(run.errors)")
    #expect(run.errors.hasPrefix("conformance: \(path): "))
    #expect(run.status == 2)
  }

  @Test(
    "explains its usage", arguments: [["--face", "rust"], ["--frob"], ["--json"], ["/no/file"]])
  func usage(_ arguments: [String]) throws {
    let run = try Driver.run(arguments)
    #expect(run.lines == [])
    #expect(run.errors.hasPrefix("conformance: "))
    #expect(run.status == 2)
  }
}
