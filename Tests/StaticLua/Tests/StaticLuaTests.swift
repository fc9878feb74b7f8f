// What the trait `StaticLua` does.

import Foundation
import LuaEmbed
import Testing

@Suite struct StaticLuaTests {
  @Test func `Lua is inside a program with the trait, which needs no library of it`() throws {
    let version: String = try LuaState().evaluate("return _VERSION")
    #expect(version == "Lua 5.4")
    let mapped = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
    #expect(mapped.contains("libc.so") && !mapped.contains("liblua"))
  }
}
