// Types of the program's own as arguments and results.

import LuaEmbed
import Testing

@Suite struct ConversionTests {
  struct Celsius: LuaConvertible, Equatable {
    var degrees: Double
    static var luaTypeName: String { "temperature" }
    static func read(_ slot: borrowing LuaSlot) -> Celsius? { Double.read(slot).map(Celsius.init) }
    func push(to seat: inout LuaSeat) { degrees.push(to: &seat) }
  }

  /// Pushes any number of values into its seat.
  struct Many: LuaPushable {
    var count: Int
    func push(to seat: inout LuaSeat) { for value in 0..<count { value.push(to: &seat) } }
  }

  @Test func `a type of the program crosses both ways`() throws {
    let lua = try LuaState()
    lua.register("warmer") { (one: Celsius) in Celsius(degrees: one.degrees + 1) }
    #expect(try lua.evaluate("return warmer(20.5)") as Celsius == Celsius(degrees: 21.5))
    #expect(try lua.evaluate("return { 1, 2 }") as [Celsius] == [1, 2].map(Celsius.init))
    let error = #expect(throws: LuaError.self) { try lua.run("warmer {}", name: "=t") }
    #expect(error?.message == "warmer: argument 1 must be a temperature, got a table (t:1)")
  }

  @Test(arguments: [0, 1, 2, 1_000_000])
  func `a seat holds the last value, or nil`(count: Int) throws {
    let lua = try LuaState()
    lua.register("many") { Many(count: count) }
    lua.register("list") { [Many(count: count), Many(count: 1)] }
    lua.set("one", Many(count: count))
    let last = count == 0 ? "nil" : "\(count - 1)"
    let text: String = try lua.evaluate(
      """
      local list = list()
      return table.concat({ select("#", many()), tostring(many()), tostring(one),
        tostring(list[1]), tostring(list[2]) }, " ")
      """)
    #expect(text == "1 \(last) \(last) \(last) 0")
  }
}
