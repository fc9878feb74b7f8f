// There is one door into Lua: no other call of what enters it stands in the sources, but those
// below it that say so.

import Foundation
import Testing

@Suite("The door into Lua")
struct DoorTests {
  private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")

  /// Functions of Lua that run Lua code, as names of C and as the symbols that a label may rename.
  private static let entering = [
    "lua_pcall", "lua_pcallk", "lua_call", "lua_callk", "lua_resume", "lua_resetthread",
    "lua_closethread", "lua_close", "luaL_dofile", "luaL_dostring", "luaL_callmeta",
  ]

  private struct Line {
    let file: String
    let number: Int
    let text: String
    var place: String { "\(file):\(number): \(text.trimmingCharacters(in: .whitespaces))" }
  }

  private static func lines() throws -> [Line] {
    let files = try #require(FileManager.default.enumerator(atPath: sources.path()))
    return try files.compactMap { $0 as? String }
      .filter { $0.hasSuffix(".c") || $0.hasSuffix(".h") || $0.hasSuffix(".swift") }
      .flatMap { file in
        try String(contentsOf: sources.appending(path: file), encoding: .utf8)
          .split(separator: "\n", omittingEmptySubsequences: false).enumerated()
          .map { Line(file: file, number: $0.offset + 1, text: String($0.element)) }
      }
  }

  private static func enters(_ line: Line) -> Bool {
    let code = line.text.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)[0]
    return entering.contains { name in
      code.ranges(of: name).contains { range in
        let after = code[range.upperBound...].first
        return after == "(" || after == "\""  // a call, or the label that renames one
      }
    }
  }

  @Test("is passed by every call into Lua; those below it say why they are right")
  func passed() throws {
    let found = try Self.lines().filter(Self.enters)
    #expect(found.count > 8, "the search itself is wrong")
    for line in found { #expect(line.text.contains("// door: "), "\(line.place)") }
  }

  @Test("stands in one file, in C")
  func single() throws {
    let doors = try Self.lines().filter { $0.text.contains("// door: the door") }
    #expect(Set(doors.map(\.file)) == ["CLuaShims/cml_call.c"])
    let swift = try Self.lines().filter { $0.file.hasSuffix(".swift") && Self.enters($0) }
    #expect(swift.map(\.place) == [])
  }

  @Test("would be missed where a call does not say why")
  func fails() {
    let bad = [
      "lua_call(L, 0, 0);", "x = lua_pcallk(L, 0, 0, 0, 0, NULL)", "__asm__(\"lua_resume\")",
    ]
    for text in bad { #expect(Self.enters(Line(file: "x.c", number: 1, text: text))) }
    let good = ["// lua_call(L, 0, 0)", "cml_callout(L)", "static int lua_callback;"]
    for text in good { #expect(!Self.enters(Line(file: "x.c", number: 1, text: text))) }
  }
}
