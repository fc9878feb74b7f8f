// Runs the scripts of Tests/Scripts/<module>/ on the virtual clock: one test for each file.

import Foundation
import Moonloop
import Testing

/// A script that checks itself with `assert` and `same`.
///
/// Its first line may say how many errors it means to be reported: `-- errors: 2`.
struct TestScript: CustomTestStringConvertible, Sendable {
  let name: String
  let text: String

  var testDescription: String { name }

  var errorsMeant: Int {
    guard text.hasPrefix("-- errors: ") else { return 0 }
    return Int(text.dropFirst(11).prefix { $0.isNumber }) ?? 0
  }

  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Scripts")

  /// The scripts that need a loop; those of `standard` are run without one.
  static let all: [TestScript] = {
    let files = FileManager.default
    let modules = (try? files.contentsOfDirectory(atPath: folder.path())) ?? []
    return modules.filter { $0 != "standard" }.sorted().flatMap { module in
      let names = (try? files.contentsOfDirectory(atPath: folder.path() + "/" + module)) ?? []
      return names.filter { $0.hasSuffix(".lua") }.sorted().map { name in
        let text = try? String(
          contentsOf: folder.appending(path: "\(module)/\(name)"), encoding: .utf8)
        return TestScript(name: "\(module)/\(name)", text: text ?? "error 'cannot be read'")
      }
    }
  }()
}

/// What a script has besides Lua: `same(actual, expected)` compares values and lists, and says both.
private let prelude = """
  local function text(value)
    if type(value) == "string" then return ("%q"):format(value) end
    if type(value) ~= "table" then return tostring(value) end
    local parts = {}
    for i = 1, value.n or #value do parts[i] = text(value[i]) end
    return "{ " .. table.concat(parts, ", ") .. " }"
  end
  function same(actual, expected)
    local a, b = text(actual), text(expected)
    if a ~= b then error("expected " .. b .. "\\n     got " .. a, 2) end
  end
  """

@Suite struct ScriptTests {
  @Test(arguments: TestScript.all)
  func `a script of a module runs without a report, and leaves nothing`(script: TestScript) throws {
    try Loop.isolated(clock: .virtual) { loop in
      let lua = try LuaState(on: loop)
      defer { lua.shutDown() }
      let runtime = try #require(lua.runtime)
      var reports: [String] = []
      runtime.errors.write = { reports.append($0) }
      runtime.errors.verdict = .stop
      try lua.run(prelude, name: "=prelude")
      try runtime.start(chunk: script.text, name: "@" + script.name)
      loop.run()
      let tasksLeft = lua.tasksInUse
      lua.shutDown()
      let report = reports.joined(separator: "\n")
      #expect(runtime.errors.count == script.errorsMeant, "\(report)")
      #expect(tasksLeft == 0, "tasks are left")
    }
  }
}
