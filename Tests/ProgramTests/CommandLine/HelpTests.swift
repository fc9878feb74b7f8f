// `moonloop help NAME` prints what `help "NAME"` prints at a prompt.

import Testing

@Suite("Help")
struct HelpTests {
  static let names = [
    "loop:timer", "timers", "ml.sleep", "ml.http.get", "http", "configuration", "running:run",
    "describe", "it", "t", "t:spawn", "compat", "uv.install",
    "p.screen", "compat.uv", "compat.socket", "t.any",
  ]

  @Test("explains a name as the prompt does", arguments: names)
  func explains(_ name: String) throws {
    let outcome = try moonloop(["help", name])
    #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
    #expect(outcome.output.count > 60)
    let prompt = try moonloop(["repl"], input: "help \"\(name)\"\n")
    #expect(outcome.output == prompt.output)
  }

  @Test("has a help and a page of its own", arguments: [["help", "--help"], ["help", "-h"]])
  func isHelped(_ arguments: [String]) throws {
    let outcome = try moonloop(arguments)
    let named = try moonloop(["help", "help"])
    #expect(outcome.status == 0 && outcome.output == named.output)
    #expect(outcome.output.contains("Usage: moonloop help [COMMAND|NAME]"), "\(outcome)")
  }

  @Test func `of an unknown word lists nothing that is unrelated`() throws {
    let outcome = try moonloop(["help", "lua-zlib"])
    #expect(outcome.status == 2 && !outcome.errors.contains(" has describe"), "\(outcome)")
  }

  @Test func `says the nearest name at the prompt too`() throws {
    let outcome = try moonloop(["repl"], input: "help \"loop:tmier\"\n")
    #expect(outcome.output == "no help for 'loop:tmier'; did you mean 'loop:timer'?\n")
  }
}
