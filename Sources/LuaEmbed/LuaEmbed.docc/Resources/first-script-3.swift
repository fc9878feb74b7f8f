import LuaEmbed

struct Item: Codable {
  var name: String
  var count: Int
}

final class Shop: LuaObject {
  var items: [Item] = []
  func range() -> (Int, Int) { (items.map(\.count).min() ?? 0, items.map(\.count).max() ?? 0) }
}

let lua = try LuaState()
lua.register(
  Shop.self, as: "Shop",
  .property("items", \.items),
  .method("add") { (shop: Shop, item: Item) in shop.items.append(item) },
  .method("range") { (shop: Shop) in shop.range() })
let shop = Shop()
lua.set("shop", shop)
try lua.run(
  """
  shop:add { name = "apple", count = 3 }
  shop:add { name = "pear", count = 5 }
  print(shop:range())
  """)
print(shop.items.map(\.name))
