// The spec files in docs/testing.md do what the page shows.

import Foundation
import TestSupport
import Testing

@Suite("docs/testing.md")
struct SpecPageTests {
  static let blocks = PageBlock.all(in: RepositoryFile(path: "docs/testing.md"))
  static let files = blocks.filter { $0.words.contains("spec") }
  static let runs = blocks.filter { $0.text.hasPrefix("$ moonloop test ") }

  @Test(arguments: runs)
  func `a run shows what the page shows`(run: PageBlock) throws {
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
