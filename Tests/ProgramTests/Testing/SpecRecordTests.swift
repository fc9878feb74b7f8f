// Recordings of failed tests show again what depended on chance.

import Foundation
import Testing

@Suite("Recordings of tests")
struct SpecRecordTests {
  private let failing = """
    local ml = require "moonloop"
    it("fails by chance", function(loop, clock, t)
      local number = math.random(1 << 40)
      local p = t:spawn { "sh", "-c", "echo $$; read line; echo got $line", stdin = "pipe" }
      local id = p:expect "%d+"
      p.stdin:write(number, "\\n")
      p:expect("got " .. number)
      local port = t:free_port()
      local w <close> = ml.worker { source = [[
        require "moonloop".parent:on("message", function(n, reply) reply(n * 2) end)]] }
      print("number", number, id, port, w.port:request(number), t:read "passes_spec.lua" == "")
      t:file("kept/number", tostring(number))
      error "no luck"
    end)
    it("sleeps", { clock = "virtual" }, function() ml.sleep(100) end)
    """

  private func withSpecs(_ body: (URL) throws -> Void) throws {
    try withFile(failing, name: "fails_spec.lua") { file in
      let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
      try Data().write(to: folder.appendingPathComponent("passes_spec.lua"))
      try Data("it('passes', function() end)".utf8).write(
        to: folder.appendingPathComponent("well_spec.lua"))
      try body(folder)
    }
  }

  /// The line that is the same only with the same random numbers.
  private func printed(_ outcome: Outcome) -> Substring? {
    outcome.output.split(separator: "\n").first { $0.hasPrefix("number\t") }
  }

  @Test("tests run without one where the disk is full, and the status says so")
  func fullDisk() throws {
    try withSpecs { folder in
      let kept = folder.appendingPathComponent("kept")
      try FileManager.default.createDirectory(at: kept, withIntermediateDirectories: false)
      for name in ["fails_spec-1.mlt", "passes_spec-2.mlt", "well_spec-3.mlt"] {
        try FileManager.default.createSymbolicLink(
          atPath: kept.appendingPathComponent(name).path, withDestinationPath: "/dev/full")
      }
      let run = try moonloop(["test", "--record", "kept"], in: folder)
      #expect(run.status == 1)
      #expect(run.output.contains("2 passed, 1 failed"), "\(run)")
      #expect(run.output.contains("fails_spec.lua:13: no luck"), "\(run)")
      #expect(!run.output.contains("moonloop replay"), "\(run)")
      let reason = "No space left on device; the tests run without a recording"
      #expect(run.errors.contains(reason), "\(run)")
    }
  }

  @Test("one is kept for each file with a failure, and the report has the line that replays it")
  func folder() throws {
    try withSpecs { folder in
      let run = try moonloop(["test", "--record", "kept"], in: folder)
      #expect(run.status == 1)
      let line = "  to replay it: moonloop replay kept/fails_spec-1.mlt\n"
      #expect(run.output.contains(line), "\(run)")
      let names = try FileManager.default.contentsOfDirectory(
        atPath: folder.appendingPathComponent("kept").path)
      #expect(names == ["fails_spec-1.mlt"])
      try FileManager.default.removeItem(at: folder.appendingPathComponent("fails_spec.lua"))
      let trace = folder.appendingPathComponent("trace.json")
      for options in [[], ["--trace-out", trace.path]] {
        let again = try moonloop(["replay"] + options + ["kept/fails_spec-1.mlt"], in: folder)
        #expect(again.status == 1 && again.errors == "", "\(again)")
        #expect(printed(again) != nil && printed(again) == printed(run), "\(again)")
        #expect(again.output.contains("\nERROR fails by chance\n  fails_spec.lua:13: no luck\n"))
      }
      #expect(
        try String(contentsOf: trace, encoding: .utf8).contains(#""name":"fails by chance"}"#))
    }
  }

  @Test("the whole run is recorded into one file")
  func file() throws {
    try withSpecs { folder in
      let run = try moonloop(["test", "--record", "run.mlt"], in: folder)
      let again = try moonloop(["replay", "run.mlt"], in: folder)
      #expect(run.status == 1 && again.status == 1 && again.errors == "", "\(again)")
      #expect(printed(again) != nil && printed(again) == printed(run), "\(again)")
    }
  }

  @Test(
    "what does not go together is refused",
    arguments: [
      ["--record", "a.mlt", "--jobs", "2"], ["--record", "a", "--trace-out", "/dev/null"],
    ])
  func refused(options: [String]) throws {
    try withSpecs { folder in
      let outcome = try moonloop(["test"] + options + ["."], in: folder)
      #expect(outcome.status == 2 && outcome.errors.hasSuffix(": give one of them\n"), "\(outcome)")
    }
  }
}
