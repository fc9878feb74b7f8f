// What `moonloop test` shows of the tests' loops: figures, and traces for viewers.

import Foundation
import Testing

@Suite("Figures and traces of tests")
struct SpecTraceTests {
  private let spec = """
    local ml = require "moonloop"
    it("sleeps", { clock = "virtual" }, function(loop)
      loop:task({ name = "job" }, function() ml.sleep(5) end):await()
    end)
    it("fails", { clock = "virtual" }, function(loop) ml.sleep(1); error "no" end)
    """

  @Test("the figures of each test are written to standard error")
  func figures() throws {
    try withFile(spec, name: "measured_spec.lua") { file in
      let outcome = try moonloop(["test", "--metrics", file])
      #expect(outcome.errors.contains("5 s of sleeps: busy "), "\(outcome)")
      #expect(outcome.errors.contains("1 s of fails: busy "))
      #expect(outcome.errors.contains("task      job   "))
      #expect(outcome.errors.contains("\nthe test  -     "))
      #expect(!outcome.errors.contains("main chunk"))
      #expect(outcome.status == 1)
    }
  }

  @Test("a trace has a track for each test")
  func trace() throws {
    try withFile(spec, name: "traced_spec.lua") { file in
      let path = file + ".json"
      defer { try? FileManager.default.removeItem(atPath: path) }
      #expect(try moonloop(["test", "--trace-out", path, file]).status == 1)
      let whole = try JSONSerialization.jsonObject(
        with: Data(contentsOf: URL(fileURLWithPath: path)))
      let events = try #require((whole as? [String: Any])?["traceEvents"] as? [[String: Any]])
      func text(_ event: [String: Any], _ key: String) -> String { event[key] as? String ?? "" }
      var names: [String] = []
      var threads: [Int] = []
      for event in events where text(event, "name") == "thread_name" {
        names.append((event["args"] as? [String: String])?["name"] ?? "")
        threads.append(event["tid"] as? Int ?? 0)
      }
      #expect(names.suffix(2) == ["sleeps", "fails"], "\(names)")
      #expect(Set(threads).count == threads.count)
      let sleeps = events.filter {
        text($0, "name") == "sleep" && ($0["dur"] as? Double ?? 0) >= 1_000_000
      }
      #expect(sleeps.map { $0["tid"] as? Int } == threads.suffix(2).map { $0 })
    }
  }

  @Test("a wrong command line leaves the file as it is")
  func wrong() throws {
    try withFile(spec, name: "untraced_spec.lua") { file in
      for arguments in [["--shard", "x", file], ["/no/such/spec"]] {
        let path = file + ".json"
        for place in [path, file] {
          let outcome = try moonloop(["test", "--trace-out", place] + arguments)
          #expect(outcome.status == 2, "\(outcome)")
        }
        #expect(!FileManager.default.fileExists(atPath: path), "\(arguments)")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text == spec)
      }
    }
  }

  @Test("processes of --jobs cannot share a trace file")
  func jobs() throws {
    let outcome = try moonloop(["test", "--jobs", "2", "--trace-out", "/dev/null", "."])
    #expect(outcome.errors == "moonloop: test: --trace-out and --jobs: give one of them\n")
    #expect(outcome.status == 2)
  }
}
