// The timelines in docs/pictures match what `moonloop simulate` draws; `scripts/docs` writes
// them.

import Foundation
import TestSupport
import Testing

@Suite("Docs: timelines")
struct DocsTimelineTests {
  static let pictures: [(name: String, config: String, span: String)] = [
    ("nested", "docs/pictures/nested.lua", "8s"),
    ("service", "scripts/examples/service/service.lua", "45s"),
  ]

  @Test("are what the program draws", arguments: pictures.indices)
  func current(_ index: Int) throws {
    let (name, config, span) = Self.pictures[index]
    let drawn = try withFile("", name: "page.html") { page in
      let outcome = try moonloop(
        ["simulate", "--for", span, "--window", span, "--html", page, config], in: Program.root)
      try #require(outcome.status == 0, "\(outcome)")
      return try Self.picture(in: String(contentsOfFile: page, encoding: .utf8))
    }
    let file = RepositoryFile(path: "docs/pictures/\(name).svg")
    if getenv("MOONLOOP_DOCS").map({ String(cString: $0) }) == "write" {
      #expect(file.write(drawn))
    }
    #expect(file.text == drawn, "run scripts/docs")
  }

  /// The close view of a page, as a separate file with the page's style.
  private static func picture(in page: String) throws -> String {
    let style = try #require(page.firstMatch(of: /(?s)<style>\n(.*?)<\/style>/)).1
      .replacing(/(?m)^svg \{.*\n/, with: "")
    let begin = try #require(page.ranges(of: "<svg ").last?.lowerBound)
    let svg = page[begin...]
    let end = try #require(svg.firstRange(of: "</svg>")).upperBound
    let tag = try #require(svg.firstIndex(of: ">"))
    return "\(svg[...tag])\n<style>\n\(style)</style>\(svg[svg.index(after: tag)..<end])\n"
  }
}
