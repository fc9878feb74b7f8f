// Each row of docs/embedding-compared.md names a test of this repository.

import Foundation
import TestSupport
import Testing

@Suite("Docs: the comparison with other bindings")
struct ComparisonTests {
  private static func text(_ path: String) throws -> String {
    try String(contentsOfFile: RepositoryFile(path: path).full, encoding: .utf8)
  }

  @Test func `says of every row where the others say what it says of them`() throws {
    let parts = try Self.text("docs/embedding-compared.md").components(separatedBy: "## ")
    func names(_ part: String) -> [Substring] {
      part.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2)
        .map { $0.dropFirst(2).prefix { $0 != "|" } }
    }
    let last = try #require(parts.last)
    #expect(last.hasPrefix("Where they say so") && names(parts[0]) == names(last))
  }

  @Test func `names a test that exists in every row`() throws {
    let page = try Self.text("docs/embedding-compared.md")
    let rows = page.components(separatedBy: "## ")[0].split(separator: "\n")
      .filter { $0.hasPrefix("| ") }.dropFirst(2)
    #expect(rows.count > 15)
    for row in rows {
      let link = try #require(row.firstMatch(of: /\[([^\]]+)\]\(\.\.\/([^)]+)\) \|$/), "\(row)")
      let file = try Self.text(String(link.2))
      let names = ["func `\(link.1)`", "@Test(\"\(link.1)\"", "  \"\(link.1)\""]
      #expect(names.contains { file.contains($0) }, "\(link.2) has no test '\(link.1)'")
    }
  }
}
