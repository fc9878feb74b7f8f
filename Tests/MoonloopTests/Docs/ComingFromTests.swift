// docs/coming-from.md: each of our names in its tables exists.

import Foundation
import ScriptGrammar
import TestSupport
import Testing

@Suite("Docs: coming from other loops")
struct ComingFromTests {
  @Test func `names only what exists`() throws {
    let page = try #require(RepositoryFile(path: "docs/coming-from.md").text)
    let known = Set(try Reference.entries(areInherited: true).map(\.path))
    var names: Set<String> = []
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasSuffix(" here |") }
    for row in rows {
      let ours = row.split(separator: " | ", maxSplits: 1)[1]
      for match in ours.matches(of: /`((?:ml|loop|[a-z_]+)[.:][a-z_.:]+)/) {
        names.insert(String(match.1))
      }
    }
    let standard = ["io.stderr:write", "math.huge", "os.exit"]
    #expect(names.subtracting(known).subtracting(standard) == [])
    #expect(names.count > 80)
  }
}
