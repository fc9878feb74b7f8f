// The examples of docs/tasks.md, run as they stand: what they print is what the page says.

import Foundation
import Moonloop
import Testing

@Suite struct TaskPageTests {
  static let page =
    (try? String(
      contentsOf: TestScript.folder.deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "docs/tasks.md"), encoding: .utf8)) ?? ""

  static var examples: [String] {
    page.components(separatedBy: "```lua\n").dropFirst().compactMap {
      $0.components(separatedBy: "\n```").first
    }
  }

  @Test(arguments: examples)
  func `an example prints what it says`(example: String) throws {
    let expected = example.split(separator: "\n").compactMap { line -> String? in
      guard let mark = line.range(of: "--> ") else { return nil }
      return line[mark.upperBound...].split(separator: " ").joined(separator: " ")
    }
    try Loop.isolated { loop in
      let lua = try LuaState(on: loop)
      defer { lua.shutDown() }
      let runtime = try #require(lua.runtime)
      runtime.errors.write = { Issue.record("\($0)") }
      var printed: [String] = []
      lua.register("written") { (line: String) in printed.append(line) }
      try lua.run(
        """
        function print(...)
          local parts = table.pack(...)
          for i = 1, parts.n do parts[i] = tostring(parts[i]) end
          if parts[1] ~= "closing:" then written(table.concat(parts, " ")) end
        end
        """)
      try runtime.start(chunk: example, name: "@tasks.md")
      loop.run()
      #expect(printed == expected)
      #expect(lua.tasksInUse == 0)
    }
  }

  @Test func `the page has examples`() { #expect(Self.examples.count == 4) }
}
