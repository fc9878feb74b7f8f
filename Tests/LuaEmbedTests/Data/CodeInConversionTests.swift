// Conversions whose types run their own code, which may do anything to the state.

import LuaEmbed
import Testing

@Suite(.serialized) struct CodeInConversionTests {
  /// A value that does something when it is read or pushed.
  private struct Busy: LuaConvertible {
    // Unsafe: the tests of a suite that is serialized set and call it, on their own threads.
    nonisolated(unsafe) static var work: () -> Void = {}
    static var luaTypeName: String { "value" }

    static func read(_ slot: borrowing LuaSlot) -> Busy? {
      work()
      return Busy()
    }

    func push(to seat: inout LuaSeat) {
      1.push(to: &seat)
      Self.work()
    }
  }

  @Test func `a table may change while its values are read`() throws {
    let lua = try LuaState()
    defer { Busy.work = {} }
    try lua.run(
      """
      t, list = {}, {}
      for i = 1, 50 do t["k" .. i] = i list[i] = i end
      function change()
        for name in pairs(t) do t[name] = nil end
        for i = 1, 400 do t["n" .. i] = i end
        for i = 1, 50 do list[i] = nil end
        collectgarbage()
      end
      """)
    let change: LuaFunction = try #require(lua.globals["change"])
    Busy.work = { try? change() }
    let fields: [String: Busy]? = lua.globals["t"]
    #expect(fields?.count == 50)
    let list: [Busy]? = lua.globals["list"]
    #expect(list?.count ?? 0 <= 50)
  }

  @Test func `conversions may lie a thousand deep in one another`() throws {
    let lua = try LuaState()
    defer { Busy.work = {} }
    var left = 1000
    Busy.work = {
      left -= 1
      if left > 0 { let _: Busy? = lua.globals["print"] }
    }
    let _: Busy? = lua.globals["print"]
    #expect(left == 0)
    left = 1000
    Busy.work = {
      left -= 1
      if left > 0 { lua.set("x", Busy()) }
    }
    lua.set("x", Busy())
    #expect(left == 0)

    let bytes: LuaBytes = try lua.evaluate("return 'four'")
    func add(_ depth: Int) throws -> Int {
      depth == 0 ? 0 : try bytes.withSpan { try add(depth - 1) + $0.byteCount }
    }
    #expect(try add(1000) == 4000)
  }

  private final class Odd: LuaStruct { var value = 1 }

  private static func register<T: AnyObject>(object type: T.Type, with lua: LuaState) {
    lua.register(type, as: "Odd")
  }

  private static func register<T: LuaStruct>(structure type: T.Type, with lua: LuaState) {
    lua.register(type, as: "Odd")
  }

  @Test func `a class that conforms to LuaStruct is refused when it is registered`() async {
    let bare = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Self.register(object: Odd.self, with: try LuaState())
    }
    let boxed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Self.register(structure: Odd.self, with: try LuaState())
    }
    for result in [bare, boxed] {
      let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(text.contains("register: Odd is a class, and conforms to LuaStruct"), "\(text)")
    }
  }
}
