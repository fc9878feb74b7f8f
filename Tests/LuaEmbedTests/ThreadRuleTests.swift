// A state is for one thread: what is used on another stops the program, and names both.

import LuaEmbed
import TestSupport
import Testing

@Suite struct LuaThreadRuleTests {
  /// A value that is carried to another thread against all rules.
  private struct Smuggled<Value>: @unchecked Sendable {  // what these tests are about
    let value: Value
  }

  private static let entries: [(name: String, use: @Sendable (LuaState) -> Void)] = [
    ("register", { $0.register("f") {} }), ("set", { $0.set("x", 1) }),
    ("globals", { _ = $0.globals[function: "f"] }), ("run", { try? $0.run("x = 1") }),
    ("evaluate", { let _: Int? = try? $0.evaluate("return 1") }), ("collect", { $0.collect() }),
    ("idleCollect", { $0.idleCollect() }), ("depth", { _ = $0.depth }),
    ("bytesInUse", { _ = $0.bytesInUse }), ("limits", { _ = $0.limits }),
    ("setLimits", { $0.setLimits(LuaLimits()) }), ("stopCount", { _ = $0.stopCount }),
    ("isCondemned", { _ = $0.isCondemned }), ("allowTextOnly", { $0.allowTextOnly() }),
    ("onFinalizerError", { $0.onFinalizerError = nil }), ("close", { $0.close() }),
    ("table", { _ = try? $0.table() }), ("function", { _ = try? $0.function { 1 } }),
    ("decode", { let _: [Int]? = try? $0.decode(global: "x") }),
  ]

  /// What is done with a table or a string of Lua.
  private static let uses: [(name: String, use: @Sendable (LuaTable, LuaBytes) throws -> Void)] = [
    ("LuaTable", { table, _ in table["a"] = 1 }), ("LuaTable", { table, _ in _ = table.count }),
    ("LuaTable", { table, _ in let _: Int? = table[1] }),
    ("LuaTable", { table, _ in let _: Int = try table.get(1) }),
    ("LuaTable", { table, _ in _ = table.pairs }), ("LuaTable", { table, _ in _ = table.items }),
    ("LuaTable", { table, _ in table.metatable = nil }),
    ("LuaBytes", { _, bytes in try bytes.withSpan { _ in } }),
  ]

  @Test(arguments: uses.indices)
  func `a table and a string name both threads`(index: Int) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [index] in
      let lua = try LuaState()
      let (table, bytes): (LuaTable, LuaBytes) = try lua.evaluate("return {}, 'abc'")
      onThread { try? Self.uses[index].use(table, bytes) }
      lua.close()
    }
    let text = said(result)
    #expect(text.contains("\(Self.uses[index].name): "), "\(text)")
    #expect(text.contains(/thread \d+, used on thread \d+/), "\(text)")
  }

  private func said(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test(arguments: entries.indices)
  func `a member of a state names both threads`(index: Int) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [index] in
      let lua = Smuggled(value: try LuaState())
      onThread { Self.entries[index].use(lua.value) }
    }
    let text = said(result)
    #expect(text.contains("Fatal error: \(Self.entries[index].name): "), "\(text)")
    #expect(text.contains(/thread \d+, called on thread \d+/), "\(text)")
  }

  @Test func `a function names both threads, and throws once its state is closed`() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let lua = try LuaState()
      try lua.run("function f() end")
      let f = lua.globals[function: "f"]
      onThread { try? f?() }
      lua.close()
    }
    let text = said(result)
    #expect(text.contains(/LuaFunction: .* thread \d+, used on thread \d+/), "\(text)")

    let lua = try LuaState()
    try lua.run("function f() end")
    let f = try #require(lua.globals[function: "f"])
    lua.close()
    #expect(kind { try f() } == .closed)
    onThread { #expect(kind { try f() } == .closed) }
  }

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
    #expect(said(result).contains(/dropped on thread \d+, .* its own, thread \d+/))
  }

  // MARK: A closed state

  private static let silent: [(name: String, use: @Sendable (LuaState) -> Void)] = entries.filter {
    ["register", "set", "globals", "collect", "idleCollect", "setLimits", "allowTextOnly"]
      .contains($0.name)
  }

  @Test(arguments: silent.indices)
  func `what cannot throw stops the program when the state is closed`(index: Int) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [index] in
      let lua = try LuaState()
      lua.close()
      Self.silent[index].use(lua)
    }
    let text = said(result)
    let name = Self.silent[index].name
    #expect(text.contains(/Fatal error: .*: the Lua state of thread \d+ is closed/), "\(text)")
    #expect(text.contains("\(name): "), "\(text)")
  }

  @Test func `what can throw says that the state is closed`() throws {
    let lua = try LuaState()
    lua.close()
    lua.close()
    #expect(lua.isClosed && lua.depth == 0 && lua.stopCount == 0)
    #expect(kind { try lua.run("x = 1") } == .closed)
    #expect(kind { try lua.run(file: "none.lua") } == .closed)
    #expect(kind { let _: Int = try lua.evaluate("return 1") } == .closed)
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

  /// The kind of error that a body throws.
  private func kind(_ body: () throws -> Void) -> LuaError.Kind? {
    do { try body() } catch { return (error as? LuaError)?.kind }
    return nil
  }
}
