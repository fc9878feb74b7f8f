// There is one door into Lua: the sources enter it in no other way, except those below the door
// that say so.

import Glibc
import TestSupport
import Testing

@Suite("The door into Lua")
struct DoorTests {
  private static let sources = RepositoryFile(path: "Sources")

  /// Functions of Lua that run Lua code, as names of C and as the symbols that a label may rename.
  private static let entering = [
    "lua_pcall", "lua_pcallk", "lua_call", "lua_callk", "lua_resume", "lua_resetthread",
    "lua_closethread", "lua_close", "luaL_dofile", "luaL_dostring", "luaL_callmeta",
  ]

  private struct Line {
    let file: String
    let number: Int
    let text: String
    var place: String { "\(file):\(number): \(text)" }
  }

  /// The C and Swift files below a folder, as paths from there.
  private static func files(_ folder: String) -> [String] {
    guard let stream = opendir("\(sources.full)/\(folder)") else { return [] }
    defer { closedir(stream) }
    var found: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasPrefix(".") { continue }
      let path = folder.isEmpty ? name : "\(folder)/\(name)"
      if entry.pointee.d_type == UInt8(DT_DIR) {
        found += files(path)
      } else if [".c", ".h", ".swift"].contains(where: { name.hasSuffix($0) }) {
        found.append(path)
      }
    }
    return found
  }

  private static func lines() throws -> [Line] {
    try files("").flatMap { file in
      try RepositoryFile(path: "\(sources.path)/\(file)").read()
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
