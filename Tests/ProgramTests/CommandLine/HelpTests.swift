// `moonloop help NAME` prints what `help "NAME"` prints at a prompt.

import Foundation
import TestSupport
import Testing

@Suite("Help")
struct HelpTests {
  static let names = [
    "loop:timer", "timers", "ml.sleep", "ml.http.get", "http", "configuration", "running:run",
    "describe", "it", "t", "t:spawn", "compat", "uv.install",
    "p.screen", "compat.uv", "compat.socket", "moonloop.compat.uv", "luv", "LuaSocket", "os.time",
    "t.any", "sqlite", "blocking", "faq", "C libraries that block", "brokers",
  ]

  @Test func `knows every page of the documentation`() throws {
    for file in try FileManager.default.contentsOfDirectory(atPath: RepositoryFile.top + "/docs")
    where file.hasSuffix(".md") && !["README.md", "lua-api.intro.md"].contains(file) {
      let outcome = try moonloop(["help", String(file.dropLast(3))])
      let hasPage = outcome.output.contains("docs/\(file)")
      #expect(outcome.status == 0 && hasPage, "\(file): \(outcome)")
    }
  }

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

  /// A word of the texts is no misspelt name.
  @Test func `of a word that only the texts have names one of them`() throws {
    let outcome = try moonloop(["help", "scope"])
    #expect(
      outcome.errors
        == "moonloop: help: no command and no entry is called 'scope'; 'loop:task' mentions it\n")
  }

  static let neighbours = [
    ("timer:cancel", "timer:invalidate"), ("ml.after", "loop:after"),
    ("ml.worker.spawn", "ml.worker"), ("limits", "ml.limit"), ("loop:tmier", "loop:timer"),
    ("rn", "run"), ("everyy", "loop:every"), ("sqlte", "sqlite"), ("hostng", "hosting"),
  ]

  @Test("suggests what is meant", arguments: neighbours)
  func suggests(_ name: String, _ meant: String) throws {
    let outcome = try moonloop(["help", name])
    #expect(outcome.status == 2)
    #expect(
      outcome.errors
        == "moonloop: help: no command and no entry is called '\(name)'; did you mean '\(meant)'?\n"
    )
  }

  @Test("explains what a class inherits, once, and without links")
  func inherited() throws {
    let ofItem = try moonloop(["help", "item:invalidate"])
    #expect(try moonloop(["help", "timer:invalidate"]).output == ofItem.output)
    #expect(try moonloop(["help", "server:invalidate"]).output == ofItem.output)
    #expect(try moonloop(["help", "ml.sleep"]).output.split(separator: "Suspends").count == 2)
    #expect(try moonloop(["help", "ml.json"]).output.hasPrefix("ml.json: reads and writes"))
    #expect(!(try moonloop(["help", "ml.net.listen"]).output.contains("](")))
  }

  @Test("of an unknown word lists the commands and the subjects; takes one name")
  func unknown() throws {
    let outcome = try moonloop(["help", "qqqqq"])
    #expect(outcome.errors.contains("the commands are run, replay, "))
    #expect(outcome.errors.contains("; the subjects are moonloop, loop, items, timers, "))
    let two = try moonloop(["help", "run", "loop:timer"])
    #expect(two.status == 2)
    #expect(two.errors.hasPrefix("moonloop: help: one name at a time, got 'loop:timer' too\n"))
    let more = try moonloop(["ps", "x"])
    #expect(
      more.status == 2 && more.errors.hasPrefix("moonloop: ps: takes only options, got 'x'\n"))
  }

  @Test func `says the nearest name at the prompt too`() throws {
    let outcome = try moonloop(["repl"], input: "help \"loop:tmier\"\n")
    #expect(outcome.output == "no help for 'loop:tmier'; did you mean 'loop:timer'?\n")
  }
}
