// A state that is closed in the middle of something stays open until that is over.

import LuaEmbed
import Testing

@Suite struct LuaClosingTests {
  /// Something that crosses into Lua, and does something to the state on its way.
  private struct Crossing: LuaPushable {
    let crosses: () -> Void

    func push(to seat: inout LuaSeat) {
      crosses()
      1.push(to: &seat)
    }
  }

  private final class Thing: LuaObject {}

  private static let uses: [(name: String, use: @Sendable (LuaState) -> Void)] = [
    ("a module is defined", { lua in lua.module("app") { $0.close() } }),
    (
      "a module is defined, and goes on",
      { lua in
        lua.module("app") { app in
          app.close()
          app.register("f") { 1 }
        }
      }
    ),
    (
      "a constant is taken",
      { lua in
        lua.register(Thing.self, as: "Thing", .constant("one", Crossing { lua.close() }))
      }
    ),
    ("a global is set", { lua in lua.set("x", Crossing { lua.close() }) }),
    (
      "a function is called",
      { lua in
        let function: LuaFunction? = lua.globals["math"].flatMap { (math: LuaTable) in math["abs"] }
        let result: Int? = try? function?(Crossing { lua.close() })
        #expect(result == 1)
      }
    ),
    (
      "an object is lent",
      { lua in
        lua.register(Thing.self, as: "Thing")
        lua.lend(Thing()) { _ in lua.close() }
      }
    ),
  ]

  @Test(arguments: uses.indices)
  func `it is closed when what the program does is over`(index: Int) throws {
    let lua = try LuaState()
    Self.uses[index].use(lua)
    #expect(lua.isClosed, "\(Self.uses[index].name)")
  }

  private static let allocations: [(name: String, use: @Sendable (LuaState, Int) throws -> Void)] =
    [
      ("a function is registered", { lua, turn in lua.register("f\(turn % 9)") { 1 } }),
      ("a function is made", { lua, _ in _ = try lua.function { 1 } }),
      ("a table is made", { lua, _ in _ = try lua.table() }),
      ("a chunk is compiled", { lua, turn in _ = try lua.compile("return { \(turn) }") }),
      ("an environment is made", { lua, _ in _ = try lua.makeEnvironment() }),
      ("an object is lent", { lua, _ in lua.lend(Thing()) { _ in } }),
      ("a global is set", { lua, turn in lua.set("x", "text \(turn)") }),
    ]

  @Test(arguments: allocations.indices)
  func `a finalizer that an allocation begins may close the state`(index: Int) throws {
    let lua = try LuaState()
    lua.register(Thing.self, as: "Thing")
    lua.register("stop") { [unowned lua] in lua.close() }
    try lua.run(
      """
      collectgarbage "stop"
      for _ = 1, 5000 do setmetatable({}, { __gc = function() stop() end }) end
      collectgarbage "restart"
      """)
    for turn in 0..<200_000 where !lua.isClosed { try Self.allocations[index].use(lua, turn) }
    #expect(lua.isClosed, "\(Self.allocations[index].name)")
  }

  /// Lua finalizes nothing that is made from there on.
  @Test func `what a finalizer gives to a state that is closing is released`() throws {
    struct Failure: Error {}
    weak var captured: Thing?
    weak var object: Thing?
    var lines: [String] = []
    do {
      let lua = try LuaState()
      lua.register(Thing.self, as: "Thing")
      lua.register("note") { (line: String) in lines.append(line) }
      lua.register("fail") { () throws -> Void in throw Failure() }
      lua.register("give") { [unowned lua] in
        let thing = Thing()
        let other = Thing()
        (captured, object) = (thing, other)
        lua.register("late") { withExtendedLifetime(thing) {} }
        lua.set("thing", other)
      }
      try lua.run(
        """
        kept = setmetatable({}, { __gc = function()
          give()
          note(select(2, pcall(late)))
          note(tostring(select(2, pcall(fail))))
        end })
        """)
      lua.close()
    }
    #expect(captured == nil)
    #expect(object == nil)
    let late = "this function of the host was collected before the finalizer that calls it"
    #expect(lines == [late, "Failure()"])
  }

  @Test func `the handler of an error in a finalizer may close the state`() throws {
    let lua = try LuaState()
    lua.onFinalizerError = { [unowned lua] _ in lua.close() }
    try lua.run("for _ = 1, 3 do setmetatable({}, { __gc = function() error 'x' end }) end")
    lua.collect()
    #expect(lua.isClosed)
  }

  @Test func `a finalizer gets an error for a function that was collected before it`() throws {
    let lua = try LuaState()
    var told: [String] = []
    lua.onFinalizerError = { told.append($0.message) }
    lua.register("make") { [unowned lua] () throws -> LuaFunction in
      let list = Array(repeating: 7, count: 100)
      return try lua.function { list.count }
    }
    try lua.run(
      """
      local t = setmetatable({}, { __gc = function(o) o.f() end })
      t.f = make()
      """)
    lua.collect()
    let message = "this function of the host was collected before the finalizer that calls it"
    #expect(told.count == 1 && told[0].contains(message), "\(told)")

    // The same when the state ends.
    told = []
    try lua.run("t = setmetatable({}, { __gc = function() later() end })")
    lua.register("later") { 1 }
    lua.close()
    #expect(told.count == 1 && told[0].contains(message), "\(told)")
  }
}
