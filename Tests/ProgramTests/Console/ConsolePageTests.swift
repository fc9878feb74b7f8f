// The page docs/console.md: the input of its `moonloop repl` sessions is typed, and the output must
// be the page's.

import Foundation
import Testing

@Suite("docs/console.md")
struct ConsolePageTests {
  private static let page = Result {
    try String(
      contentsOf: Program.root.appendingPathComponent("docs/console.md"), encoding: .utf8)
  }

  /// A command, its input, and its output.
  private struct Session {
    let command: [String]
    var typed = ""
    var answers: [String] = []
  }

  /// The sessions of the page that run a console.
  private static func sessions(_ page: String) -> [Session] {
    var found: [Session] = []
    var isInside = false
    for line in page.components(separatedBy: "\n") {
      guard line.hasPrefix("    ") else {
        isInside = false
        continue
      }
      let text = String(line.dropFirst(4))
      if text.hasPrefix("$ moonloop repl") {
        found.append(Session(command: text.dropFirst(11).split(separator: " ").map(String.init)))
        isInside = true
      } else if isInside, let prompt = text.firstRange(of: /^(?:debug)?>\ /) {
        found[found.count - 1].typed += "\(text[prompt.upperBound...])\n"
      } else if isInside {
        found[found.count - 1].answers.append(text)
      }
    }
    return found
  }

  /// A line without what varies: numbers and column spacing.
  private static func settled(_ line: some StringProtocol) -> String {
    String(line).replacing(/\d+(\.\d+)?/) { _ in "N" }.replacing(/\s+/) { _ in " " }
  }

  @Test("has sessions that answer as it says")
  func sessions() throws {
    let page = try Self.page.get()
    let sessions = Self.sessions(page)
    #expect(sessions.map(\.command) == [["repl"], ["repl", "app.lua"]])
    let script = page.components(separatedBy: "```lua\n")[1].components(separatedBy: "```")[0]
    try withFile(script, name: "app.lua") { file in
      for session in sessions {
        let outcome = try moonloop(
          session.command, input: session.typed,
          in: URL(fileURLWithPath: file).deletingLastPathComponent())
        // Without a terminal there is no greeting.
        let answers = session.answers.filter { !$0.hasPrefix("Lua 5.4 on ") }
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.map(Self.settled) == answers.map(Self.settled), "\(outcome)")
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
      }
    }
  }
}
