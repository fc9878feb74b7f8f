// The standard functions that are ours, by the scripts that stock Lua passes as well.

import Glibc
import LuaEmbed
import Testing

@Suite("The standard functions that are ours")
struct StandardFunctionTests {
  @Test(
    "pass the scripts that stock Lua passes",
    arguments: ["string", "table", "coroutine", "load"])
  func battery(name: String) throws {
    let lua = try LuaState()
    try lua.run(try source(of: "standard/\(name).lua"), name: "@\(name).lua")
  }

  private func source(of script: String) throws -> String {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
    let path = folder.joined(separator: "/") + "/Scripts/" + script
    let file = try #require(fopen(path, "r"), "cannot open \(path)")
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = getc(file), byte != EOF { bytes.append(UInt8(byte)) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
