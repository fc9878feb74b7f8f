// The page docs/story.md: its files are written, its commands are run in order, and their output is
// compared with the page.

import Foundation
import Testing

@Suite struct StoryTests {
  /// What a page says to type: files, and commands with their output.
  private enum Step {
    case file(name: String, text: String)
    case command(String, answer: [String])
  }

  /// The steps of a page. The first line of a file names it, and is part of it.
  private static func steps(of page: String, port: String) -> [Step] {
    var steps: [Step] = []
    var fence = ""
    var block: [String] = []
    for line in page.replacing("7070", with: port).components(separatedBy: "\n") {
      if fence.isEmpty {
        if line == "~~~lua" || line == "```console" {
          (fence, block) = (String(line.prefix(3)), [])
        }
      } else if line != fence {
        block.append(line)
      } else {
        if fence == "~~~" {
          let name = String(block[0].dropFirst(3))
          steps.append(.file(name: name, text: block.joined(separator: "\n") + "\n"))
        } else {
          for part in block.joined(separator: "\n").components(separatedBy: "$ ").dropFirst() {
            let lines = part.split(separator: "\n", omittingEmptySubsequences: false)
            var answer = lines.dropFirst().map(String.init)
            if answer.last == "" { answer.removeLast() }
            steps.append(.command(String(lines[0]), answer: answer))
          }
        }
        fence = ""
      }
    }
    return steps
  }

  /// Whether lines match the page: "..." stands for any lines, and dates, times and processes may
  /// differ.
  private static func isKept(_ promise: [String], _ lines: [String]) -> Bool {
    // Other programs make the table's columns wider.
    func settled(_ line: String) -> String {
      line.replacing(/\d+ ms$/) { _ in "T ms" }
        .replacing(/\d+ +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/) { _ in "P D" }
        .replacing(/\ {2,}/) { _ in " " }
    }
    guard let first = promise.first else { return lines.allSatisfy(\.isEmpty) }
    if first == "..." {
      return lines.indices.contains { isKept(Array(promise.dropFirst()), Array(lines[$0...])) }
        || promise.count == 1
    }
    guard let line = lines.first, settled(line) == settled(first) else { return false }
    return isKept(Array(promise.dropFirst()), Array(lines.dropFirst()))
  }

  /// A run of the story in a folder: at most one service runs while other commands are typed.
  private final class Reader {
    let folder: URL
    var service: Program?
    var recorded = ""
    init(in folder: URL) { self.folder = folder }

    func take(_ step: Step) throws {
      switch step {
      case .file(let name, let text):
        try text.write(
          to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
      case .command(let command, let answer):
        let words = StoryTests.words(command)
        if words[0] == "sed" { return try edit(words[2], words[3]) }
        try #require(words[0] == "moonloop")
        try run(Array(words.dropFirst()), answer)
      }
    }

    /// `sed -i s/FROM/TO/ FILE`; then waits until the service has seen it.
    private func edit(_ rule: String, _ name: String) throws {
      let parts = rule.components(separatedBy: "/")
      let file = folder.appendingPathComponent(name)
      if let service { try service.waitFor("kitchen 21.2\n") }
      let text = try String(contentsOf: file, encoding: .utf8)
      #expect(text.contains(parts[1]))
      try text.replacing(parts[1], with: parts[2])
        .write(to: file, atomically: true, encoding: .utf8)
      if let service { try service.waitFor("kitchen 21.25\n") }
    }

    private func run(_ words: [String], _ answer: [String]) throws {
      if words.starts(with: ["run", "--watch"]) {
        // From here on averages are waited for.
        let file = folder.appendingPathComponent("gauge.lua")
        let text = try String(contentsOf: file, encoding: .utf8)
        try text.replacing("every = 5,", with: "every = 1,")
          .write(to: file, atomically: true, encoding: .utf8)
        service = try Program(words, in: folder)
        return try waitUntilItRuns()
      }
      if words.starts(with: ["run", "--record"]) { return try record(words) }
      var (typed, promise) = ("", answer)
      if words[0] == "attach" {
        typed = answer.filter { $0.hasPrefix("> ") }.map { "\($0.dropFirst(2))\n" }.joined()
        promise = answer.dropFirst().filter { !$0.hasPrefix("> ") }
      }
      if words[0] == "replay" { promise = recorded.components(separatedBy: "\n").dropLast() }
      let outcome = try moonloop(words, input: typed, in: folder)
      var lines = outcome.output.components(separatedBy: "\n").dropLast()
      // Other programs of this user may run.
      if words[0] == "ps" {
        lines = lines.filter { $0.hasPrefix("NAME ") || $0.hasPrefix("gauge ") }
      }
      #expect(StoryTests.isKept(promise, Array(lines)), "\(words): \(answer)\n\(outcome)")
      // The first check finds something, and a replay ends as the run did: by Ctrl-C.
      var expected: Int32 = words[0] == "replay" ? 130 : 0
      if words == ["check", "gauge.lua"] { expected = 1 }
      #expect(outcome.status == expected, "\(words): \(outcome)")
    }

    private func waitUntilItRuns() throws {
      while try !moonloop(["ps"]).output.contains("\ngauge ") {}
    }

    /// Ends the service, records another until it has reported an average, and ends that.
    private func record(_ words: [String]) throws {
      let first = try #require(service)
      first.send(SIGINT)
      let outcome = try first.wait()
      #expect(
        outcome.errors
          == "moonloop: reloaded gauge.lua (generation 2): 3 kept, 0 new, 0 ended\n")
      let next = try Program(words, in: folder)
      let send = ["run", "send.lua", "kitchen 20", "kitchen 22.5"]
      while try moonloop(send, in: folder).output != "ok\nok\n" {}  // until it listens
      try next.waitFor("kitchen 21.25\n")
      next.send(SIGINT)
      recorded = try next.wait().output
      service = nil
    }
  }

  /// The words of a command line, as a shell splits them.
  private static func words(_ line: String) -> [String] {
    line.components(separatedBy: "\"").enumerated().flatMap { place, part in
      place % 2 == 1 ? [part] : part.split(separator: " ").map(String.init)
    }
  }

  @Test("is reported as it goes")
  func story() throws {
    let page = try String(
      contentsOf: Program.root.appendingPathComponent("docs/story.md"), encoding: .utf8)
    // One that is free, and as wide as the page's.
    let free = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      local port = 3000 + ml.process.id() % 6000
      while not ml.net.listen { host = "127.0.0.1", port = port, print } do port = port + 1 end
      print(port)
      os.exit()
      """,
    ])
    let steps = Self.steps(of: page, port: String(free.output.dropLast()))
    #expect(steps.count == 18)
    try inFolder { folder in
      let reader = Reader(in: folder)
      for step in steps { try reader.take(step) }
      let trace = try TraceCheck(Data(contentsOf: folder.appendingPathComponent("day.json")))
      #expect(trace.problems == [] && (trace.slices["timer"]?["report"] ?? 0) > 0)
    }
  }
}
