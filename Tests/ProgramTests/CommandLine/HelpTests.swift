// `moonloop help NAME` prints what `help "NAME"` prints at a prompt.

import Testing

@Suite("Help")
struct HelpTests {
  static let names = [
    "loop:timer", "timers", "ml.sleep", "ml.http.get", "http", "configuration", "running:run",
    "describe", "it", "t", "t:spawn", "compat", "uv.install",
  ]

  @Test("explains a name as the prompt does", arguments: names)
  func explains(_ name: String) throws {
    let outcome = try moonloop(["help", name])
    #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
    #expect(outcome.output.count > 60)
    let prompt = try moonloop(["repl"], input: "help \"\(name)\"\n")
    #expect(outcome.output == prompt.output)
  }

  @Test func `says the nearest name at the prompt too`() throws {
    let outcome = try moonloop(["repl"], input: "help \"loop:tmier\"\n")
    #expect(outcome.output == "no help for 'loop:tmier'; did you mean 'loop:timer'?\n")
  }
}
