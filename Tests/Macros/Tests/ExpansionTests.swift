// What the macros write, letter by letter: what a person would write by hand.

import Foundation
import Testing

@Suite struct ExpansionTests {
  @Test func `a class is written as the list of its members`() {
    expect(
      """
      @LuaObject final class Counter {
        @LuaExposed private(set) var count = 0
        @LuaExposed var step = 1
        @LuaExposed init(start: Int) { count = start }
        @LuaExposed func add(_ n: Int) throws -> Int { count += n; return count }
        @LuaExposed func reset() { count = 0 }
        func hidden() {}
      }
      """,
      expandsTo: """
        final class Counter {
          private(set) var count = 0
          var step = 1
          init(start: Int) { count = start }
          func add(_ n: Int) throws -> Int { count += n; return count }
          func reset() { count = 0 }
          func hidden() {}

          static func register(with lua: LuaState) {
            lua.register(
              Counter.self, as: "Counter",
              .computed("count") { $0.count },
              .property("step", get: { $0.step }, set: { $0.step = $1 }),
              .constructor { (start: Int) in Counter(start: start) },
              .method("add") { (object: Counter, n: Int) -> Int in try object.add(n) },
              .method("reset") { (object: Counter) in object.reset() })
          }
        }

        extension Counter: LuaObject {}
        """)
  }

  @Test func `the page shows what is written`() throws {
    let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..").standardized
    let page = try String(contentsOf: root.appendingPathComponent("docs/swift.md"), encoding: .utf8)
    func block(_ start: String) throws -> String {
      let from = try #require(page.range(of: start)).upperBound
      return String(page[from..<(try #require(page[from...].range(of: "\n```"))).lowerBound])
    }
    let source = "@LuaObject " + (try block("```swift\n@LuaObject "))
    let written = try block("```swift expansion\n").split(separator: "\n").map { "  \($0)\n" }
    let plain = source.replacing(#/@Lua(Object|Exposed)(\("\w+"\))? /#, with: "").dropLast()
    expect(
      source,
      expandsTo: "\(plain)\n\(written.joined())}\n\nextension Stock: LuaObject {}")
  }

  @Test func `names may be others in Lua`() {
    expect(
      """
      @LuaObject("Tally") public final class Counter {
        @LuaExposed("add_one") func addOne() {}
        @LuaExposed("last") var `repeat`: Int?
        @LuaExposed("from_text") init(text: String) throws {}
        @LuaExposed("until_zero") func `until`(`repeat` n: Int) {}
      }
      """,
      expandsTo: """
        public final class Counter {
          func addOne() {}
          var `repeat`: Int?
          init(text: String) throws {}
          func `until`(`repeat` n: Int) {}

          public static func register(with lua: LuaState) {
            lua.register(
              Counter.self, as: "Tally",
              .method("add_one") { (object: Counter) in object.addOne() },
              .property("last", get: { $0.`repeat` }, set: { $0.`repeat` = $1 }),
              .constructor("from_text") { (text: String) in try Counter(text: text) },
              .method("until_zero") { (object: Counter, n: Int) in object.`until`(repeat: n) })
          }
        }

        extension Counter: LuaObject {}
        """)
  }

  @Test func `static members belong to the type`() {
    expect(
      """
      @LuaObject final class Counter {
        @LuaExposed static let limit = 10
        @LuaExposed static func parse(_ text: String) throws -> Self? { nil }
        @LuaExposed static func warmUp() {}
      }
      """,
      expandsTo: """
        final class Counter {
          static let limit = 10
          static func parse(_ text: String) throws -> Self? { nil }
          static func warmUp() {}

          static func register(with lua: LuaState) {
            lua.register(
              Counter.self, as: "Counter",
              .constant("limit", Counter.limit),
              .function("parse") { (text: String) -> Counter? in try Counter.parse(text) },
              .function("warmUp") { () in Counter.warmUp() })
          }
        }

        extension Counter: LuaObject {}
        """)
  }

  @Test func `operators are those of Lua`() {
    expect(
      """
      @LuaObject final class Sum {
        @LuaExposed static func + (a: Sum, b: Sum) -> Sum { a }
        @LuaExposed static func * (a: Sum, k: Double) throws -> Sum { a }
        @LuaExposed static func * (_ k: Double, _ a: Sum) -> Sum { a }
        @LuaExposed static prefix func - (a: Sum) -> Sum { a }
        @LuaExposed static func == (lhs: Sum, rhs: Sum) -> Bool { true }
        @LuaExposed func callAsFunction(_ n: Int) -> (Int, text: String) { (n, "") }
      }
      """,
      expandsTo: """
        final class Sum {
          static func + (a: Sum, b: Sum) -> Sum { a }
          static func * (a: Sum, k: Double) throws -> Sum { a }
          static func * (_ k: Double, _ a: Sum) -> Sum { a }
          static prefix func - (a: Sum) -> Sum { a }
          static func == (lhs: Sum, rhs: Sum) -> Bool { true }
          func callAsFunction(_ n: Int) -> (Int, text: String) { (n, "") }

          static func register(with lua: LuaState) {
            lua.register(
              Sum.self, as: "Sum",
              .operator(.add) { (a: Sum, b: Sum) -> Sum in a + b },
              .operator(.multiply) { (a: Sum, k: Double) -> Sum in try a * k },
              .operator(.multiply) { (k: Double, a: Sum) -> Sum in k * a },
              .negated { -$0 },
              .operator(.equal) { (lhs: Sum, rhs: Sum) -> Bool in lhs == rhs },
              .call { (object: Sum, n: Int) -> (Int, String) in object.callAsFunction(n) })
          }
        }

        extension Sum: LuaObject {}
        """)
  }

  @Test func `a subscript is for the fields that are not members`() {
    expect(
      """
      @LuaObject final class Words {
        @LuaExposed subscript(key: String) -> Int? {
          get { 1 }
          set {}
        }
      }
      """,
      expandsTo: """
        final class Words {
          subscript(key: String) -> Int? {
            get { 1 }
            set {}
          }

          static func register(with lua: LuaState) {
            lua.register(
              Words.self, as: "Words",
              .index { (object: Words, key: String) -> Int? in object[key] },
              .newindex { (object: inout Words, key: String, value: Int?) in object[key] = value })
          }
        }

        extension Words: LuaObject {}
        """)
    expect(
      """
      @LuaObject final class Half {
        @LuaExposed private(set) subscript(at object: Int) -> Self {
          get { self }
          set {}
        }
      }
      @LuaObject final class Read {
        @LuaExposed subscript(i: Int) -> Int { get throws { i } }
      }
      """,
      expandsTo: """
        final class Half {
          private(set) subscript(at object: Int) -> Self {
            get { self }
            set {}
          }

          static func register(with lua: LuaState) {
            lua.register(
              Half.self, as: "Half",
              .index { (object_: Half, object: Int) -> Half in object_[at: object] })
          }
        }
        final class Read {
          subscript(i: Int) -> Int { get throws { i } }

          static func register(with lua: LuaState) {
            lua.register(
              Read.self, as: "Read",
              .index { (object: Read, i: Int) -> Int in try object[i] })
          }
        }

        extension Half: LuaObject {}

        extension Read: LuaObject {}
        """)
  }

  @Test func `members may be used without their names`() {
    expect(
      """
      @LuaObject final class File {
        @LuaExposed @LuaExposed(.close) func close() -> Bool { true }
        @LuaExposed(.length) var size: Int { get throws { 1 } }
        @LuaExposed(.pairs) func lines(from: Int = 0) throws -> [(Int, String)] { [] }
        @LuaExposed(.tostring) var description: String { "" }
      }
      """,
      expandsTo: """
        final class File {
          func close() -> Bool { true }
          var size: Int { get throws { 1 } }
          func lines(from: Int = 0) throws -> [(Int, String)] { [] }
          var description: String { "" }

          static func register(with lua: LuaState) {
            lua.register(
              File.self, as: "File",
              .method("close") { (object: File) -> Bool in object.close() },
              .close { _ = $0.close() },
              .length { try $0.size },
              .pairs { try $0.lines() },
              .tostring { $0.description })
          }
        }

        extension File: LuaObject {}
        """)
  }

  @Test func `a structure crosses as a copy, which its methods may change`() {
    expect(
      """
      @LuaStruct("Vec") public struct Vector {
        @LuaExposed var x: Double
        @LuaExposed let id = 1
        @LuaExposed init(x: Double = 0) { self.x = x }
        @LuaExposed mutating func scale(by k: Double = 2) -> Self { self }
        @LuaExposed func callAsFunction() -> Double { x }
        @LuaExposed static func * (v: Vector, k: Double) -> Vector { v }
        @LuaExposed subscript(i: Int) -> Double { get { x } nonmutating set {} }
      }
      """,
      expandsTo: """
        public struct Vector {
          var x: Double
          let id = 1
          init(x: Double = 0) { self.x = x }
          mutating func scale(by k: Double = 2) -> Self { self }
          func callAsFunction() -> Double { x }
          static func * (v: Vector, k: Double) -> Vector { v }
          subscript(i: Int) -> Double { get { x } nonmutating set {} }

          public static func register(with lua: LuaState) {
            lua.register(
              Vector.self, as: "Vec",
              .property("x", get: { $0.x }, set: { $0.x = $1 }),
              .computed("id") { $0.id },
              .constructor { (x: Double?) in Vector(x: x ?? 0) },
              .mutating("scale") { (object: inout Vector, k: Double?) -> Vector in \
        object.scale(by: k ?? 2) },
              .call { (object: Vector) -> Double in object.callAsFunction() },
              .operator(.multiply) { (v: Vector, k: Double) -> Vector in v * k },
              .index { (object: Vector, i: Int) -> Double in object[i] },
              .newindex { (object: inout Vector, i: Int, value: Double) in object[i] = value })
          }
        }

        extension Vector: LuaStruct {}
        """)
  }

  @Test func `parameters keep their labels and default values`() {
    expect(
      """
      @LuaObject final class Counter {
        @LuaExposed func move(by n: Int = 1, _ scale: Double? = nil, in _: Bool) -> Void {}
        @LuaExposed func same(as object: Self) -> Bool { true }
        @LuaExposed func take(_ list: consuming [Int] = [] + [1], for: String? = "x") {}
        @LuaExposed func look(_ path: String = try! home()) {}
        @LuaExposed func find(_ id: Int! = 1, _ other: Optional<Self> = nil) -> Self! { self }
      }
      """,
      expandsTo: """
        final class Counter {
          func move(by n: Int = 1, _ scale: Double? = nil, in _: Bool) -> Void {}
          func same(as object: Self) -> Bool { true }
          func take(_ list: consuming [Int] = [] + [1], for: String? = "x") {}
          func look(_ path: String = try! home()) {}
          func find(_ id: Int! = 1, _ other: Optional<Self> = nil) -> Self! { self }

          static func register(with lua: LuaState) {
            lua.register(
              Counter.self, as: "Counter",
              .method("move") { (object: Counter, n: Int?, scale: Double?, argument3: Bool) in \
        object.move(by: n ?? 1, scale, in: argument3) },
              .method("same") { (object_: Counter, object: Counter) -> Bool in \
        object_.same(as: object) },
              .method("take") { (object: Counter, list: [Int]?, `for`: String?) in \
        object.take(list ?? ([] + [1]), for: `for` ?? "x") },
              .method("look") { (object: Counter, path: String?) in \
        object.look(path ?? (try! home())) },
              .method("find") { (object: Counter, id: Int?, other: Optional<Counter>) -> Counter? \
        in object.find(id ?? 1, other) })
          }
        }

        extension Counter: LuaObject {}
        """)
  }

  @Test func `a property can be set only if anybody may set it`() {
    expect(
      """
      @LuaObject final class Counter {
        @LuaExposed let id = 1
        @LuaExposed var both: Int { get { 1 } set { } }
        @LuaExposed var half: Int { 1 }
        @LuaExposed var watched = 0 { didSet {} }
        @LuaExposed public internal(set) var narrow = 0
        @LuaExposed @Clamped var wrapped = 0
        @LuaExposed var direct: Int { _read { yield x } _modify { yield &x } }
        @LuaExposed var checked: Int { get throws { 1 } }
      }
      """,
      expandsTo: """
        final class Counter {
          let id = 1
          var both: Int { get { 1 } set { } }
          var half: Int { 1 }
          var watched = 0 { didSet {} }
          public internal(set) var narrow = 0
          @Clamped var wrapped = 0
          var direct: Int { _read { yield x } _modify { yield &x } }
          var checked: Int { get throws { 1 } }

          static func register(with lua: LuaState) {
            lua.register(
              Counter.self, as: "Counter",
              .computed("id") { $0.id },
              .property("both", get: { $0.both }, set: { $0.both = $1 }),
              .computed("half") { $0.half },
              .property("watched", get: { $0.watched }, set: { $0.watched = $1 }),
              .computed("narrow") { $0.narrow },
              .property("wrapped", \\.wrapped),
              .property("direct", \\.direct),
              .computed("checked") { try $0.checked })
          }
        }

        extension Counter: LuaObject {}
        """)
  }

  @Test func `a class above is named, and extended`() {
    expect(
      "@LuaObject open class Animal {}",
      expandsTo: """
        open class Animal {

          open class func register(with lua: LuaState) {
            lua.register(Animal.self, as: "Animal")
          }
        }

        extension Animal: LuaObject {}
        """)
    expect(
      """
      @LuaObject(extending: Animal.self) final class Dog: Animal {
        @LuaExposed func bark() -> String { "wuff" }
      }
      """,
      expandsTo: """
        final class Dog: Animal {
          func bark() -> String { "wuff" }

          override static func register(with lua: LuaState) {
            lua.register(
              Dog.self, as: "Dog", extending: Animal.self,
              .method("bark") { (object: Dog) -> String in object.bark() })
          }
        }
        """, inherits: true)
  }
}
