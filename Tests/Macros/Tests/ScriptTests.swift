// Scripts that use classes whose members the macros wrote. One of them is shown in docs/swift.md.

import LuaEmbedMacros
import Testing

@LuaObject final class Stock {
  @LuaExposed private(set) var count: Int
  @LuaExposed var unit = "boxes"
  @LuaExposed init(start: Int) { count = start }
  @LuaExposed("take_out") func takeOut(_ n: Int = 1) throws -> Int {
    if n > count { throw LuaFailure("only \(count) \(unit) left", code: "ENOENT") }
    count -= n
    return count
  }
}

/// Each sort of member, and names that are words of Swift.
@LuaObject("Beast") class Animal {
  @LuaExposed static let kingdom = "animals"
  @LuaExposed lazy var legs = 4
  @LuaExposed var `default`: Int { legs * 2 }
  @LuaExposed var age: Int { get throws { throw LuaFailure("not known") } }
  @LuaExposed weak var friend: Animal?
  let name: String

  @LuaExposed required init(_ name: String) { self.name = name }
  @LuaExposed("default") static func `default`() -> Self { self.init("nobody") }
  @LuaExposed static func forget() {}
  @LuaExposed func greet(_ object: Animal, `for` n: Int = 1 + 1, in: String? = "o") -> String {
    "\(name) greets \(object.name) \(n) times" + (`in` ?? "")
  }
  @LuaExposed func first(_ one: Animal! = nil, _ other: Animal? = nil) -> Animal! {
    one ?? other ?? self
  }
  @LuaExposed func same(as other: Animal?) -> Bool { other === self }
  @LuaExposed fileprivate func tell(_ lua: LuaState, _ name: String) throws -> Int {
    try lua.evaluate("return \(name)")
  }
}

@LuaObject(extending: Animal.self) final class Dog: Animal {
  @LuaExposed required init(_ name: String) { super.init(name) }
  @LuaExposed func bark() -> String { "\(name) barks" }
}

enum Nested {
  @MainActor @LuaObject final class Window {
    @LuaExposed var title = "none"
    @LuaExposed init() {}
    @LuaExposed func close() { title = "closed" }
  }
}

/// Operators, calls, tuples, lists and Codable values.
@LuaObject final class Money {
  struct Price: Codable {
    var amount: Int
    var unit: String
  }
  @LuaExposed var prices: [Price] = []
  @LuaExposed var amount: Int
  @LuaExposed init(_ amount: Int = 0) { self.amount = amount }
  @LuaExposed func parts() -> (whole: Int, rest: Int) { (amount / 100, amount % 100) }
  @LuaExposed func put(_ price: Price, times: Int = 1) -> Price {
    prices += Array(repeating: price, count: times)
    return price
  }
  @LuaExposed func dearest() -> Price? { prices.max { $0.amount < $1.amount } }
  @LuaExposed func callAsFunction(_ n: Int) -> Int { amount * n }
  @LuaExposed static func + (a: Money, b: Money) -> Money { Money(a.amount + b.amount) }
  @LuaExposed static func - (a: Money, b: Money) -> Money { Money(a.amount - b.amount) }
  @LuaExposed static func * (a: Money, k: Int) -> Money { Money(a.amount * k) }
  @LuaExposed static func * (k: Int, a: Money) -> Money { Money(a.amount * k) }
  @LuaExposed static prefix func - (a: Money) -> Money { Money(-a.amount) }
  @LuaExposed static func == (a: Money, b: Money) -> Bool { a.amount == b.amount }
  @LuaExposed static func < (a: Money, b: Money) -> Bool { a.amount < b.amount }
}

/// What has no name in Lua.
@LuaObject final class Shelf {
  @LuaExposed @LuaExposed(.pairs) var books = ["b": 2]
  @LuaExposed var isOpen = true
  @LuaExposed init() {}
  @LuaExposed @LuaExposed(.close) func close() -> Bool {
    isOpen = false
    return true
  }
  @LuaExposed(.length) func count() throws -> Int { books.count }
  @LuaExposed(.tostring) var description: String { "\(books.count) books" }
  @LuaExposed subscript(title: String) -> Int? {
    get { books[title] }
    set { books[title] = newValue }
  }
}

/// A structure: each crossing copies.
@LuaStruct struct Vector {
  @LuaExposed static let zero = Vector(0, 0)
  @LuaExposed var x: Double
  @LuaExposed private(set) var y: Double
  @LuaExposed init(_ x: Double = 1, _ y: Double = 2) { (self.x, self.y) = (x, y) }
  @LuaExposed var sum: Double { x + y }
  @LuaExposed mutating func scale(by k: Double) -> Double {
    (x, y) = (x * k, y * k)
    return x
  }
  @LuaExposed func plus(_ other: Self) -> Self { Vector(x + other.x, y + other.y) }
  @LuaExposed static func * (v: Vector, k: Double) -> Vector { Vector(v.x * k, v.y * k) }
  @LuaExposed subscript(i: Int) -> Double {
    get throws {
      if i != 1 && i != 2 { throw LuaFailure("no place \(i)") }
      return i == 1 ? x : y
    }
  }
  @LuaExposed(.pairs) func parts() -> [(String, Double)] { [("x", x), ("y", y)] }
}

@Suite struct ScriptTests {
  @Test(arguments: [
    ("#Shelf()", "1"), ("tostring(Shelf())", "1 books"), ("Shelf().b", "2"), ("Shelf().c", "nil"),
    ("(function() local s = Shelf() s.c = 3 s.b = nil return s.c, s.b, #s end)()", "3"),
    ("(function() for k, v in pairs(Shelf()) do return k .. v end end)()", "b2"),
    (
      "(function() local s = Shelf() do local t <close> = s end return s.isOpen end)()", "false"
    ),
    ("Shelf():close()", "true"), ("Shelf().books.b", "2"),
    ("Vector().sum", "3.0"), ("Vector.zero.sum", "0.0"), ("(Vector(3) * 2).x", "6.0"),
    ("(function() local v = Vector() v.x = 5 v:scale(2) return v.x + v.y end)()", "14.0"),
    ("Vector(1):plus(Vector(2)).x", "3.0"), ("Vector()[2]", "2.0"), ("Vector()[3]", "nil"),
    (
      "(function() local t = '' for k, v in pairs(Vector()) do t = t .. k .. v end return t end)()",
      "x1.0y2.0"
    ),
    (
      "select(2, pcall(function() Vector().y = 1 end)):match 'cannot set field'", "cannot set field"
    ),
  ])
  func `what has no name, and structures, do in Lua what they do in Swift`(
    expression: String, result: String
  ) throws {
    let lua = try LuaState()
    Shelf.register(with: lua)
    Vector.register(with: lua)
    #expect(try lua.evaluate("return tostring((\(expression)))") == result)
  }

  @Test(arguments: [
    ("(Money(1) + Money(2) - Money(4)).amount", "-1"),
    ("(Money(3) * 2 + 2 * Money(3)).amount", "12"), ("(-Money(5)).amount", "-5"),
    ("Money(5) == Money(5)", "true"), ("Money(5) ~= Money(5)", "false"),
    ("Money(1) < Money(2)", "true"), ("Money(1) > Money(2)", "false"), ("Money(7)(3)", "21"),
    ("select(2, Money(250):parts())", "50"),
    ("Money():put({ amount = 3, unit = 'x' }, 2).unit", "x"), ("#Money().prices", "0"),
    ("Money():dearest()", "nil"),
    (
      "(function() local m = Money() m.prices = { { amount = 9, unit = 'y' } } "
        + "return m:dearest().amount end)()", "9"
    ),
  ])
  func `operators, tuples and Codable values cross as in Swift`(
    expression: String, result: String
  ) throws {
    let lua = try LuaState()
    Money.register(with: lua)
    #expect(try lua.evaluate("return tostring((\(expression)))") == result)
  }

  @Test func `a script uses a class that the macro registered`() throws {
    let lua = try LuaState()
    Stock.register(with: lua)
    try lua.run(
      """
      local stock = Stock(3)
      assert(stock:take_out() == 2 and stock.count == 2)
      stock.unit = "bags"
      local left, message, code = stock:take_out(5)
      assert(left == nil and message == "only 2 bags left" and code == "ENOENT")
      """)
    let errors = [
      "Stock(3).count = 4": "count", "Stock('x')": "must be an integer",
      "Stock(3):take_out('x')": "take_out",
    ]
    for (chunk, part) in errors {
      let error = #expect(throws: LuaError.self) { try lua.run(chunk) }
      #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }
  }

  @Test(arguments: [
    ("Beast.kingdom", "animals"), ("Beast('a').legs", "4"), ("Beast('a').default", "8"),
    ("select(2, pcall(function() return Beast('a').age end))", "nil"),
    ("Beast.default():greet(Beast('b'))", "nobody greets b 2 timeso"),
    ("Beast('a'):greet(Beast('b'), 5, '!')", "a greets b 5 times!"),
    ("Beast('a'):same(nil)", "false"),
    ("Beast('a'):first():greet(Beast('b'), 1)", "a greets b 1 timeso"),
    ("Beast('a').friend", "nil"),
    ("Beast.forget()", "nil"), ("Beast('a'):tell('1 + 2')", "3"),
    ("Dog.new('c'):bark()", "c barks"), ("Dog('c').legs", "4"),
    ("Dog('c'):greet(Beast('b'), 1)", "c greets b 1 timeso"),
  ])
  func `each sort of member does in Lua what it does in Swift`(
    expression: String, result: String
  ) throws {
    let lua = try LuaState()
    Animal.register(with: lua)
    Dog.register(with: lua)
    #expect(try lua.evaluate("return tostring((\(expression)))") == result)
  }

  @MainActor @Test func `a class of the main actor is registered on it`() throws {
    let lua = try LuaState()
    Nested.Window.register(with: lua)
    #expect(try lua.evaluate("local w = Window() w:close() return w.title") == "closed")
  }
}
