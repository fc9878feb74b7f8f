// Every recipe in docs/cookbook.md runs, and begins with the words of the page.

import Foundation
import Testing

@Suite("Cookbook")
struct CookbookTests {
  private static let folder = Program.examples.appendingPathComponent("cookbook")

  @Test("recipes that end print what they are meant to", arguments: Recipe.all.indices)
  func prints(_ index: Int) throws {
    let recipe = Recipe.all[index]
    try withFile("", name: "here") { here in
      let folder = URL(fileURLWithPath: here).deletingLastPathComponent()
      for (name, text) in recipe.files {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
      }
      let arguments = recipe.arguments.map { $0.replacingOccurrences(of: "$T", with: folder.path) }
      let outcome = try moonloop(
        ["run"] + recipe.options + [recipe.file] + arguments, input: recipe.input, in: Self.folder)
      if recipe.isPattern {
        let pattern = try Regex(recipe.output)
        #expect(outcome.output.wholeMatch(of: pattern) != nil, "\(recipe.file)\n\(outcome)")
      } else {
        #expect(outcome.output == recipe.output, "\(recipe.file)\n\(outcome)")
      }
      #expect(outcome.errors == recipe.errors, "\(recipe.file)")
      #expect(outcome.status == recipe.status, "\(recipe.file)\n\(outcome)")
    }
  }

  @Test("recipes that go on do their part", arguments: ServedRecipe.all.indices)
  func serves(_ index: Int) throws {
    let recipe = ServedRecipe.all[index]
    try withFile(ServedRecipe.prelude + recipe.driver, name: "driver.lua") { driver in
      let folder = URL(fileURLWithPath: driver).deletingLastPathComponent()
        .appendingPathComponent("files")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let file = Self.folder.appendingPathComponent(recipe.file).path
      let outcome = try moonloop(["run", driver, Program.executable.path, file, folder.path])
      #expect(outcome.output == recipe.output, "\(recipe.file)\n\(outcome)")
      #expect(outcome.status == 0 && outcome.errors == "", "\(recipe.file)\n\(outcome)")
    }
  }

  static let specs = ["hour_spec.lua", "server_spec.lua"]

  @Test("specs pass", arguments: specs)
  func passes(_ file: String) throws {
    let outcome = try moonloop(["test", Self.folder.appendingPathComponent(file).path])
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.output.contains("2 passed, 0 failed"), "\(outcome)")
  }

  @Test func `the dashboard draws, pauses, and leaves the terminal`() throws {
    let session = try TerminalSession(
      ["run", Self.folder.appendingPathComponent("dashboard.lua").path])
    try session.waitFor("space: pause")
    try session.type(" ", "(paused)")
    try session.type("q", "\u{1B}[?1049l")
    #expect(try session.wait() == 0)
  }

  @Test("each recipe is tested, and listed with the words that it begins with")
  func areListed() throws {
    let page = try String(
      contentsOf: Program.root.appendingPathComponent("docs/cookbook.md"), encoding: .utf8)
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
      .filter { $0.hasSuffix(".lua") }
    let tested =
      Recipe.all.map(\.file) + ServedRecipe.all.map(\.file) + Self.specs + ["dashboard.lua"]
    #expect(Set(files) == Set(tested))
    for file in files {
      let text = try String(
        contentsOf: Self.folder.appendingPathComponent(file), encoding: .utf8)
      let title = text.split(separator: "\n")[0].dropFirst(3)
      #expect(page.contains("- [\(title)](../scripts/examples/cookbook/\(file))\n"))
    }
  }
}
