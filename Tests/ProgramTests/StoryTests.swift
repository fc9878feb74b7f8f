// The page docs/story.md: its files are written, and its commands are run, in their order.

import Foundation
import Testing

@Suite struct StoryTests {
  /// The files that a page shows: the first line of each names it.
  private func files(of page: String) -> [String: String] {
    var found: [String: String] = [:]
    for block in page.components(separatedBy: "\n~~~lua\n-- ").dropFirst() {
      let lines = block.split(separator: "\n", maxSplits: 1)
      guard lines.count == 2, let end = lines[1].range(of: "\n~~~") else { continue }
      found[String(lines[0])] = String(lines[1][..<end.lowerBound]) + "\n"
    }
    return found
  }

  @Test("is told as it goes")
  func story() throws {
    let page = try String(
      contentsOf: Program.root.appendingPathComponent("docs/story.md"), encoding: .utf8)
    let files = files(of: page)
    #expect(files.keys.sorted() == ["gauge.lua", "readings.lua", "readings_spec.lua"])
    try inFolder { folder in
      func write(_ name: String, _ text: String) throws {
        try text.write(
          to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
      }
      // Any port will do but one that is taken.
      let port = "tcp:127.0.0.1:0"
      for (name, text) in files {
        try write(name, text.replacingOccurrences(of: "tcp:127.0.0.1:7070", with: port))
      }
      let mistake = try moonloop(["check", "gauge.lua"], in: folder)
      #expect(mistake.status == 1, "\(mistake)")
      #expect(mistake.output.contains("unknown field; did you mean 'tolerance'?"), "\(mistake)")
      let mended = try #require(files["gauge.lua"])
        .replacingOccurrences(of: "tolerence", with: "tolerance")
        .replacingOccurrences(of: "tcp:127.0.0.1:7070", with: port)
      try write("gauge.lua", mended)
      for (command, promise) in [
        (["check", "gauge.lua", "readings.lua"], "2 files: nothing found"),
        (["plan", "gauge.lua"], "every 5 s, up to 500 ms late"),
        (["simulate", "gauge.lua", "--for", "1h"], "wake-ups an hour  720"),
        (["test", "."], "1 passed, 0 failed"),
      ] {
        let run = try moonloop(command, in: folder)
        #expect(run.status == 0 && run.output.contains(promise), "\(command): \(run)")
      }
      try recordAndReplay(in: folder)
    }
  }

  /// The service runs for eleven seconds of a virtual clock; nobody sends anything.
  private func recordAndReplay(in folder: URL) throws {
    let file = folder.appendingPathComponent("gauge.lua")
    let text = try String(contentsOf: file, encoding: .utf8)
      .replacingOccurrences(
        of: "  signals", with: "  run = { { mode = 'default', timeout = 11 } },\n  signals")
    try text.write(to: file, atomically: true, encoding: .utf8)
    let first = try moonloop(
      [
        "run", "--clock", "virtual", "--trace", "--record", "day.mlt",
        "gauge.lua",
      ], in: folder)
    #expect(first.status == 0 && first.errors.contains("timer 'report'"), "\(first)")
    let again = try moonloop(["replay", "--trace-out", "day.json", "day.mlt"], in: folder)
    #expect(again.status == 0 && again.output == first.output, "\(again)")
    let trace = try TraceCheck(Data(contentsOf: folder.appendingPathComponent("day.json")))
    #expect(trace.problems == [] && trace.slices["timer"]?["report"] == 2)
  }
}
