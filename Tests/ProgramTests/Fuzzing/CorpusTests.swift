// What the parsers of foreign bytes were given by `scripts/fuzz`: what broke one is kept.

import Foundation
import TestSupport
import Testing

@Suite struct CorpusTests {
  private static let folder = RepositoryFile.top + "/Tests/FuzzProgram/corpus/"
  private static let targets = [
    "clone", "configuration", "console", "frames", "guest", "http-events", "http-request",
    "http-response", "json", "recording", "url",
  ]

  @Test("all that is kept passes", arguments: targets)
  func kept(target: String) throws {
    let folder = Self.folder + target + "/"
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    let program = Program.executable.deletingLastPathComponent().path + "/FuzzProgram"
    let outcome = try Program([target] + files.map { folder + $0 }, of: program).wait()
    #expect(outcome.output == "passed \(files.count)\n", "\(outcome)")
  }

  @Test("each target has its inputs")
  func folders() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder).sorted()
    #expect(folders == Self.targets)
  }
}
