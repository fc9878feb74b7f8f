// The spec files on docs/testing.md do what the page shows.

import Foundation
import Testing

@Suite("docs/testing.md")
struct SpecPageTests {
  /// A block of a page: what stands behind the three quotes, and its text.
  struct Block: Sendable, CustomTestStringConvertible {
    let words: [String]
    let text: String
    var testDescription: String { text.split(separator: "\n").first.map(String.init) ?? "" }
  }

  static let blocks: [Block] = {
    let page = Program.root.appendingPathComponent("docs/testing.md")
    let text = (try? String(contentsOf: page, encoding: .utf8)) ?? ""
    let parts = text.components(separatedBy: "\n```")
    return stride(from: 1, to: parts.count, by: 2).map { index in
      let lines = parts[index].split(
        separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      return Block(
        words: lines[0].split(separator: " ").map(String.init), text: String(lines.last ?? ""))
    }
  }()

  static let files = blocks.filter { $0.words.contains("spec") }
  static let runs = blocks.filter { $0.text.hasPrefix("$ moonloop test ") }

  @Test(arguments: runs)
  func `a run shows what the page shows`(run: Block) throws {
    try withFile("", name: "unused") { path in
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
      for file in Self.files {
        try Data(file.text.utf8).write(to: folder.appendingPathComponent(file.words[2]))
      }
      let lines = run.text.split(separator: "\n", maxSplits: 1)
      let arguments = lines[0].split(separator: " ").dropFirst(2).map(String.init)
      let outcome = try moonloop(arguments, in: folder)
      #expect(SpecRunTests.settled(outcome.output) == SpecRunTests.settled(lines[1] + "\n"))
      #expect(outcome.errors == "")
    }
  }

  @Test func `the page has files and runs`() {
    #expect(Self.files.count > 5 && Self.runs.count > 4)
  }
}
