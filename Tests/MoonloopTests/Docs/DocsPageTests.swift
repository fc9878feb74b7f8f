// Every block of Lua in README.md and docs/ runs, and prints what the page says.

import TestSupport
import Testing

extension PageBlock: CustomTestStringConvertible {
  var testDescription: String { place }
}

@Suite("Docs: pages")
struct DocsPageTests {
  /// Blocks that are marked `lua norun`, by page. Each needs a reason here.
  static let exceptions: [String: Int] = [
    "docs/brokers.md": 1,  // It needs a broker.
    "docs/blocking.md": 3,  // Parts of the example beside it, which a test runs; PostgreSQL.
    "docs/workers.md": 1,  // The example beside it in parts, which a test runs.
  ]

  private static let blocks = RepositoryFile.pages.flatMap { PageBlock.all(in: $0) }
  static let scripts = blocks.filter {
    // Those of `moonloop test` are run by SpecPageTests.
    $0.words.first == "lua" && !$0.words.contains("norun") && !$0.words.contains("spec")
  }

  @Test("have scripts that run, and print what stands behind -->", arguments: scripts)
  func runs(_ block: PageBlock) {
    let run = ExampleRun(block.text, name: block.place)
    #expect(run.errors == [])
    let promised = ExampleRun.promised(by: block.text)
    if !promised.isEmpty { #expect(run.output == promised) }
  }

  @Test("show the output of the scripts before it")
  func output() {
    for (script, output) in zip(Self.blocks, Self.blocks.dropFirst())
    where script.words.first == "lua" && output.words == ["text"]
      && !script.words.contains("spec")
    {
      let lines = output.text.split(separator: "\n", omittingEmptySubsequences: false)
      guard lines.first?.hasPrefix("$ ") ?? false else { continue }
      let run = ExampleRun(script.text, name: script.place)
      #expect(run.output == lines.dropFirst().map(String.init), "\(output.place)")
    }
  }

  @Test("leave out few scripts, each for a reason")
  func exceptions() {
    var found: [String: Int] = [:]
    for block in Self.blocks where block.words.contains("norun") {
      found[block.page, default: 0] += 1
    }
    #expect(found == Self.exceptions)
  }
}
