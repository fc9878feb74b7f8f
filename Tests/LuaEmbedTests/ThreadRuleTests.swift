// The end of a state: by its own code, on another thread, and calls after it.
// Tests/MisuseProgram uses each entry on another thread.

import LuaEmbed
import TestSupport
import Testing

@Suite struct LuaThreadRuleTests {
  @Test func `a state without a loop that is dropped elsewhere names both threads`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      final class Holder: @unchecked Sendable {  // handed over whole
        var lua: LuaState?
        init(_ lua: LuaState) { self.lua = lua }
      }
      let holder = Holder(try LuaState())
      onThread { holder.lua = nil }
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains(/dropped on thread \d+, .* its own, thread \d+/))
  }

  // MARK: A closed state

  @Test func `what can throw says that the state is closed`() throws {
    let lua = try LuaState()
    lua.close()
    lua.close()
    #expect(lua.isClosed && lua.depth == 0 && lua.stopCount == 0)
    #expect(kind { try lua.run("x = 1") } == .closed)
    #expect(kind { try lua.run(file: "none.lua") } == .closed)
    #expect(kind { let _: Int = try lua.evaluate("return 1") } == .closed)
  }

  @Test func `a function throws once its state is closed, on any thread`() throws {
    let lua = try LuaState()
    try lua.run("function f() end")
    nonisolated(unsafe) let f = try #require(lua.globals[function: "f"])  // What this is about.
    lua.close()
    let here = kind { try f() }
    #expect(here == .closed)
    onThread {
      let there = kind { try f() }
      #expect(there == .closed)
    }
  }

  @Test func `a state that its own code closes ends when that is over`() throws {
    let lua = try LuaState()
    var trace: [String] = []
    lua.register("close") { [unowned lua] in
      lua.close()
      trace.append("closed: \(lua.isClosed)")
    }
    lua.register("note") { (text: String) in trace.append(text) }
    try lua.run(
      "setmetatable({}, { __gc = function() note 'collected' end }) close() note 'goes on'")
    #expect(lua.isClosed)
    #expect(trace == ["closed: false", "goes on", "collected"])
  }

  @Test func `a state that is dropped while its code runs ends when that is over`() throws {
    var trace: [String] = []
    var lua: LuaState? = try LuaState()
    lua?.register("drop") {
      lua = nil
      trace.append("dropped")
    }
    lua?.register("note") { (text: String) in trace.append(text) }
    let chunk = "setmetatable({}, { __gc = function() note 'collected' end }) drop() note 'goes on'"
    if let f: LuaFunction = try lua?.evaluate("return function() \(chunk) end") { try f() }
    #expect(trace == ["dropped", "goes on", "collected"])
  }
}

/// The kind of error that a body throws.
private func kind(_ body: () throws -> Void) -> LuaError.Kind? {
  do { try body() } catch { return (error as? LuaError)?.kind }
  return nil
}
