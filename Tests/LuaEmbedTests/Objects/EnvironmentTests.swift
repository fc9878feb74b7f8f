// Chunks with their own globals.

import LuaEmbed
import Testing

@Suite struct EnvironmentTests {
  @Test func `a chunk sees the globals of the state, and keeps its own`() throws {
    let lua = try LuaState()
    lua.set("shared", 1)
    let (one, two) = (try lua.makeEnvironment(), try lua.makeEnvironment())
    try lua.run("count = (count or shared) + 1 function get() return count end", environment: one)
    try lua.run("count = 10", environment: two)
    #expect(try lua.evaluate("return count", environment: one) == 2)
    #expect(try lua.evaluate("return get()", environment: one) == 2)
    #expect(try lua.evaluate("return count", environment: two) == 10)
    #expect(try lua.evaluate("return count == nil and get == nil"))
    #expect(one["count"] == 2)
    lua.set("shared", 5)
    let next = try lua.compile("count = count + shared return count", environment: two)
    #expect(try next() == 15)
    #expect(try next() == 20)
    #expect(try lua.evaluate("return load('return count')() == nil", environment: two))
  }

  @Test func `an environment may be any table`() throws {
    let lua = try LuaState()
    let bare: LuaTable = try lua.evaluate("return { x = 3 }")
    #expect(try lua.evaluate("return x", environment: bare) == 3)
    let error = #expect(throws: LuaError.self) { try lua.run("print(x)", environment: bare) }
    #expect(error?.message.contains("global 'print'") ?? false)
    try lua.run("return 1", environment: bare)
    #expect(throws: LuaError.self) { try lua.run("= x", environment: bare) }
    #expect(try lua.evaluate("return 1", environment: bare) == 1)
  }
}
