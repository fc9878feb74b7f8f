// What members take and return: tuples, lists of values and Codable values, as functions do.

import LuaEmbed
import Testing

private struct Item: Codable, Equatable {
  var name: String
  var count = 1
}

private final class Shop: LuaObject {
  var items: [Item] = []
  var best: Item?
  let first = Item(name: "none", count: 0)
  init(items: [Item]) { self.items = items }

  func range() -> (Int, Int) { (items.map(\.count).min() ?? 0, items.map(\.count).max() ?? 0) }
}

private struct Cell: LuaStruct {
  var items: [Item] = []
}

@Suite struct MemberDataTests {
  private func state() throws -> LuaState {
    let lua = try LuaState()
    lua.register(
      Shop.self, as: "Shop",
      .constructor { (items: [Item]) in Shop(items: items) },
      .property("items", \.items), .property("best", \.best), .property("first", \.first),
      .property("named", get: { $0.items.first }, set: { $0.items = [$1].compactMap { $0 } }),
      .computed("sold") { $0.items.filter { $0.count == 0 } },
      .index { (shop: Shop, at: Int) in shop.items.indices.contains(at) ? shop.items[at] : nil },
      .newindex { (shop: inout Shop, at: Int, item: Item) in shop.items[at] = item },
      .method("range") { (shop: Shop) in shop.range() },
      .method("three") { (shop: Shop, a: Int, b: Int, c: Int) in ("\(a)", b, shop.items.isEmpty) },
      .method("all") { (shop: Shop) in LuaArguments(shop.items.map { .string($0.name) }) },
      .method("add") { (shop: Shop, item: Item, times: Int?) in
        for _ in 0..<(times ?? 1) { shop.items.append(item) }
      },
      .method("find") { (shop: Shop, name: String) -> (Item?, Int) in
        (shop.items.first { $0.name == name }, shop.items.count)
      },
      .method("huge") { (_: Shop) -> UInt64 in .max },
      .method("open") { (shop: Shop, lua: LuaState, item: Item) -> (Item, Bool) in
        (item, lua.isClosed)
      },
      .call { (shop: Shop, item: Item) -> Item in item },
      .function("merge") { (one: Item, two: Item) -> Item in
        Item(name: one.name + two.name, count: one.count + two.count)
      },
      .function("pair") { () in (1, "two") },
      .function("rest") { (all: LuaArguments) in all },
      .constant("empty", Item(name: "")))
    lua.register(
      Cell.self, as: "Cell", .constructor { () in Cell() }, .property("items", \.items),
      .mutating("add") { (cell: inout Cell, item: Item) in cell.items.append(item) },
      .mutating("pop") { (cell: inout Cell) -> (Item?, Int) in
        (cell.items.popLast(), cell.items.count)
      },
      .mutating("swap") { (cell: inout Cell, a: Int, b: Int) in
        cell.items.swapAt(a, b)
        return (a, b)
      })
    try lua.run("shop = Shop { { name = 'ape', count = 3 }, { name = 'bee', count = 0 } }")
    return lua
  }

  private func text(_ all: LuaArguments) -> String {
    all.values.map { "\($0)".filter { $0 != "\"" } }.joined(separator: " ")
  }

  @Test(arguments: [
    ("shop:range()", "0 3"),
    ("shop:three(1, 2, 3)", "1 2 false"),
    ("shop:all()", "ape bee"),
    ("Shop({}):all()", ""),
    ("Shop.pair()", "1 two"),
    ("Shop.rest(1, nil, 3)", "1 nil 3"),
    ("shop.items[2].name, #shop.items", "bee 2"),
    ("shop.best, shop.first.name", "nil none"),
    ("shop.named.name, #shop.sold", "ape 1"),
    ("shop[0].count, shop[1].count, shop[2]", "3 0 nil"),
    ("shop:add { name = 'cat', count = 2 }", ""),
    ("shop:find('ape').count, select('#', shop:find 'none')", "3 2"),
    ("shop { name = 'a', count = 1 }.name", "a"),
    ("select(2, shop:open { name = 'a', count = 1 })", "false"),
    (
      "Shop.merge({ name = 'a', count = 1 }, { name = 'b', count = 2 }).name, Shop.empty.count",
      "ab 1"
    ),
  ])
  func `members return tuples, lists and Codable values`(call: String, results: String) throws {
    let lua = try state()
    let all: LuaArguments = try lua.evaluate("return \(call)")
    #expect(text(all) == results)
  }

  @Test func `Codable properties are set whole, and methods change structures`() throws {
    let lua = try state()
    try lua.run(
      """
      shop.best = { name = 'x', count = 9 }
      shop.items = { shop.best, shop.first }
      shop[1] = { name = 'y', count = 8 }
      shop:add({ name = 'z', count = 7 }, 2)
      local copy = shop.items
      copy[1].count = 100
      cell = Cell()
      cell:add { name = 'a', count = 1 }
      cell:add { name = 'b', count = 2 }
      """)
    let shop: Shop = try lua.evaluate("return shop")
    #expect(shop.items.map { "\($0.name)\($0.count)" } == ["x9", "y8", "z7", "z7"])
    try lua.run("shop.best, shop.named = nil, shop.items[3]")
    #expect(shop.best == nil && shop.items == [Item(name: "z", count: 7)])
    let left: LuaArguments = try lua.evaluate(
      "local a, b = cell:swap(0, 1) local item, rest = cell:pop() return a, b, item.name, rest")
    #expect(text(left) == "0 1 a 1")
  }

  @Test(arguments: [
    ("shop:add { name = 'a' }", "Shop.add: argument 1.count must be an integer, got nothing"),
    ("shop:add()", "Shop.add: argument 1 must be a table, got no value"),
    ("shop:add({ name = 'a', count = 1 }, 'x')", "Shop.add: argument 2 must be an integer"),
    ("shop.add(shop, 5)", "Shop.add: argument 2 must be a table, got 5"),
    ("local other = { add = shop.add } other:add(5)", "Shop.add: self must be a Shop, got a table"),
    ("shop.add(5)", "Shop.add: argument 1 must be a Shop, got 5"),
    ("Shop { { name = 1 } }", "Shop: argument 1[1].name must be a string, got 1"),
    ("Shop.new { { name = 1 } }", "Shop.new: argument 1[1].name must be a string, got 1"),
    ("Shop.merge(shop.first, 5)", "Shop.merge: argument 2 must be a table, got 5"),
    ("shop.items = { {} }", "Shop.items: the value[1].name must be a string, got nothing"),
    ("shop.best = 5", "Shop.best: the value must be a table, got 5"),
    ("shop[1] = { name = {} }", "Shop.newindex: the value.name must be a string, got a table"),
    ("shop.first = {}", "Shop.newindex: the key must be an integer, got \"first\""),
    ("shop:huge()", "18446744073709551615 is too large for an integer of Lua"),
    ("shop { count = 'x' }", "Shop.__call: argument 2.name must be a string, got nothing"),
  ])
  func `an error names the argument and the place in it`(call: String, message: String) throws {
    let lua = try state()
    let error = #expect(throws: LuaError.self) { try lua.run(call, name: "=t") }
    #expect(error?.message.contains(message) ?? false, "\(error?.message ?? "")")
  }

  @Test func `functions with the state and functions as values do the same`() throws {
    let lua = try LuaState()
    lua.register("ends") { (lua: LuaState, items: [Item]) -> (Item?, Item?) in
      (items.first, items.last)
    }
    lua.register("two") { (lua: LuaState, n: Int) in (n, n * 2) }
    lua.register("four") { (n: Int) in (n, "b", true, 1.5) }
    lua.set("pair", try lua.function { (item: Item) -> (Item, Int) in (item, item.count) })
    lua.set("list", try lua.function { (all: LuaArguments) in all })
    let all: LuaArguments = try lua.evaluate(
      """
      local first, last = ends { { name = 'a', count = 1 }, { name = 'b', count = 2 } }
      local item, count = pair(last)
      return first.name, item.name, count, select('#', list(1, 2)), select(2, two(4)), four(1)
      """)
    #expect(text(all) == "a b 2 2 8 1 b true 1.5")
  }
}
