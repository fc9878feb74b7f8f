// Errors that cross Swift and Lua several times keep the frames of both.

import LuaEmbed
import Testing

@Suite("Errors through several levels")
struct BothTracesTests {
  struct Odd: Error {}

  @Test func `have the frames below and above a Swift closure`() throws {
    let lua = try LuaState()
    lua.register("through") { (body: LuaFunction) throws in try body() }
    let error = #expect(throws: LuaError.self) {
      try lua.run(
        """
        local function inner() error("no luck") end
        local function outer()
          through(inner)
        end
        outer()
        """, name: "=app")
    }
    #expect(error?.message == "app:1: no luck")
    #expect(
      error?.traceback.map(\.description) == [
        "[C]: in function 'error'", "app:1: in function 'app:1'", "[C]: in function 'through'",
        "app:3: in local 'outer'", "app:5: in main chunk",
      ])
  }

  @Test func `have no frames of an error that Lua caught before`() throws {
    let lua = try LuaState()
    lua.register("through") { (body: LuaFunction) throws in try body() }
    let error = #expect(throws: LuaError.self) {
      try lua.run(
        """
        pcall(through, function() error({}) end)
        error("another")
        """, name: "=app")
    }
    #expect(
      error?.traceback.map(\.description) == ["[C]: in function 'error'", "app:2: in main chunk"])
  }

  @Test func `keep the error of Swift, thrown below Lua below Swift`() throws {
    let lua = try LuaState()
    lua.register("fail") { () throws in throw Odd() }
    lua.register("through") { (body: LuaFunction) throws in try body() }
    let error = #expect(throws: LuaError.self) {
      try lua.run(
        "function low() fail() end\nfunction high() through(low) end\nhigh()", name: "=app")
    }
    #expect(error?.underlying is Odd)
    #expect(
      error?.traceback.map(\.description) == [
        "[C]: in function 'fail'", "app:1: in function 'app:1'", "[C]: in function 'through'",
        "app:2: in function 'high'", "app:3: in main chunk",
      ])
  }
}
