// The life of a state, and calls in both directions.

import LuaEmbed
import Testing

final class Counter {
  nonisolated(unsafe) static var alive = 0  // the tests that use it run one after the other
  private(set) var value = 0
  var step = 1
  init() { Self.alive += 1 }
  deinit { Self.alive -= 1 }
  func increment(by n: Int) { value += n }
  func reset() { value = 0 }
}

@Suite("A Lua state", .serialized)
struct StateTests {
  @Test("runs a chunk and reads its result")
  func evaluate() throws {
    let lua = try LuaState()
    let greeting: String = try lua.evaluate("return 'moon' .. 'loop'")
    #expect(greeting == "moonloop")
  }

  @Test("calls Swift closures with typed arguments")
  func register() throws {
    let lua = try LuaState()
    lua.register("add") { (a: Int, b: Int) in a + b }
    #expect(try lua.evaluate("return add(2, 3)") == 5)
    lua.register("fails") { (key: String) throws -> String in
      throw LuaFailure("no setting '\(key)'", code: "ENOENT")
    }
    #expect(
      try lua.evaluate("local a, b, c = fails('x') return tostring(a)..b..c")
        == "nilno setting 'x'ENOENT")
  }

  @Test("names function, argument, expected and given in an argument error")
  func mismatch() throws {
    let lua = try LuaState()
    lua.register("add") { (a: Int, b: Int) in a + b }
    let error = #expect(throws: LuaError.self) {
      try lua.run("add(1,\n{})", name: "@app.lua")
    }
    #expect(error?.message == "add: argument 2 must be an integer, got a table (app.lua:1)")
  }

  @Test("offers registered classes, and releases their objects")
  func classes() throws {
    #expect(Counter.alive == 0)
    let lua = try LuaState()
    lua.register(
      Counter.self, as: "Counter",
      .method("increment") { (c: Counter, by: Int?) in c.increment(by: by ?? 1) },
      .property("value", \.value),
      .property("step", \.step),
      .tostring { "Counter(\($0.value))" },
      .close { $0.reset() })
    lua.set("counter", Counter())
    try lua.run("counter:increment() counter:increment(4) counter.step = 7")
    #expect(try lua.evaluate("return tostring(counter)") == "Counter(5)")
    #expect(try lua.evaluate("return counter.value + counter.step") == 12)
    #expect(try lua.evaluate("do local c <close> = counter end return counter.value") == 0)
    let error = #expect(throws: LuaError.self) {
      try lua.run("local v = counter.valeu", name: "@a.lua")
    }
    #expect(error?.message == "Counter: unknown field 'valeu' (a.lua:1); did you mean 'value'?")
    let setting = #expect(throws: LuaError.self) {
      try lua.run("counter.value = 1", name: "@a.lua")
    }
    #expect(setting?.message == "Counter: cannot set field 'value' (a.lua:1)")
    lua.close()
    #expect(Counter.alive == 0)
  }

  @Test("reports an error with the frames it came from")
  func traceback() throws {
    let lua = try LuaState()
    let error = #expect(throws: LuaError.self) {
      try lua.run("local function f() error 'no' end\nf()", name: "@a.lua")
    }
    #expect(error?.message == "a.lua:1: no")
    #expect(
      error?.traceback.map(\.description) == [
        "[C]: in function 'error'", "a.lua:1: in local 'f'", "a.lua:2: in main chunk",
      ])
  }
}
