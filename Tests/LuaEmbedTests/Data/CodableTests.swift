// Codable types from Lua and to Lua.

import Foundation
import LuaEmbed
import Testing

struct Route: Codable, Equatable {
  var path: String
  var port: Int
  var tags: [String]?
}

struct Site: Codable, Equatable {
  var name: String
  var routes: [Route]
  var weights: [String: Double]
}

enum Shape: Codable, Equatable {
  case none
  case circle(radius: Double)
  case pair(Int, Int)
}

struct Server: LuaDefaultFields, LuaExactFields, Equatable {
  struct Limits: LuaDefaultFields, Equatable {
    var size = 10
    var depth = 3
  }
  var host = "localhost"
  var port = 80
  var limits = Limits()
}

class Animal: Codable {
  var name = "?"
  init() {}
}

final class Dog: Animal {
  var tricks: [String] = []
  override init() { super.init() }
  private enum Keys: CodingKey { case tricks }
  required init(from decoder: any Decoder) throws {
    tricks = try decoder.container(keyedBy: Keys.self).decode([String].self, forKey: .tricks)
    let above = try decoder.container(keyedBy: Keys.self).superDecoder()
    try super.init(from: above)
  }
  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(tricks, forKey: .tricks)
    try super.encode(to: container.superEncoder())
  }
}

/// Closes a state while it is being read from it or written to it.
struct Closer: Codable {
  @TaskLocal static var close: (@Sendable () -> Void)?
  var a: [String] = []
  init() {}
  init(from decoder: any Decoder) throws {
    Self.close?()
    a = try decoder.singleValueContainer().decode([String].self)
  }
  func encode(to encoder: any Encoder) throws {
    Self.close?()
    var container = encoder.singleValueContainer()
    try container.encode(["a", "b"])
  }
}

/// An endless tree.
struct Node: Codable { var next: [Node]? }

@Suite struct CodableTests {
  private func read<T: Decodable>(_ text: String, as type: T.Type = T.self) throws -> T {
    try LuaState().evaluate("return \(text)")
  }

  private func failure<T: Decodable>(_ text: String, as type: T.Type) -> String? {
    #expect(throws: LuaError.self) { try read(text, as: type) }?.message
  }

  /// A value after a round trip through a script.
  private func returned<T: Codable>(_ value: T) throws -> T {
    let lua = try LuaState()
    try lua.set("value", value)
    return try lua.evaluate("return value")
  }

  @Test func `a table is made a value of a type, and back`() throws {
    let text = """
      { name = "moon", routes = {
          { path = "/", port = 80 },
          { path = "/a", port = 81.0, tags = { "x", "y" } },
        },
        weights = { ["two words"] = 0.5, one = 1 } }
      """
    let site: Site = try read(text)
    let routes = [
      Route(path: "/", port: 80), Route(path: "/a", port: 81, tags: ["x", "y"]),
    ]
    #expect(site == Site(name: "moon", routes: routes, weights: ["two words": 0.5, "one": 1]))
    #expect(try returned(site) == site)
  }

  @Test(arguments: [Shape.none, .circle(radius: 2), .pair(3, 4)])
  func `cases with values are tables by their names`(shape: Shape) throws {
    #expect(try returned(shape) == shape)
  }

  @Test(arguments: [
    ("'none'", Shape.none), ("{ none = {} }", .none),
    ("{ circle = { radius = 2 } }", .circle(radius: 2)),
    ("{ pair = { 3, 4 } }", .pair(3, 4)), ("{ pair = { _0 = 3, _1 = 4 } }", .pair(3, 4)),
  ])
  func `cases are written as a script would`(text: String, shape: Shape) throws {
    #expect(try read(text) == shape)
  }

  @Test func `what is missing is the default, at each depth`() throws {
    #expect(try read("{}") == Server())
    #expect(
      try read("{ port = 8080, limits = { depth = 4 } }")
        == Server(port: 8080, limits: Server.Limits(depth: 4)))
  }

  @Test(arguments: [
    ("{ prot = 1 }", "unknown field 'prot'; did you mean 'port'?"),
    ("{ colour = 1 }", "unknown field 'colour'; there are host, limits, port"),
    ("{ 5 }", "unknown field '[1]'; there are host, limits, port"),
    ("{ limits = { sise = 1 } }", nil),  // Only a type that asks for it refuses unknown fields.
  ])
  func `a type may refuse what it does not know`(text: String, message: String?) throws {
    if let message {
      #expect(failure(text, as: Server.self) == message)
    } else {
      #expect(try read(text) == Server())
    }
  }

  @Test(arguments: [
    ("{ name = 1 }", "name: must be a string, got 1"),
    ("{ name = 'a' }", "routes: must be a list, got nothing"),
    ("{ name = 'a', routes = { 1 } }", "routes[1]: must be a table, got 1"),
    (
      "{ name = 'a', routes = { { path = '', port = 1 }, { path = '', port = 'x' } } }",
      "routes[2].port: must be an integer, got \"x\""
    ),
    (
      "{ name = 'a', routes = { { path = '' } } }",
      "routes[1].port: must be an integer, got nothing"
    ),
    (
      "{ name = 'a', routes = { { path = '', port = 1.5 } } }",
      "routes[1].port: must be an integer, got 1.5"
    ),
    (
      "{ name = 'a', routes = { port = 1 } }",
      "routes: must be a list, got a table with the field \"port\""
    ),
    (
      "{ name = 'a', routes = {}, weights = { ['two words'] = {} } }",
      "weights[\"two words\"]: must be a number, got a table"
    ),
    (
      "{ name = 'a\\xff' }", "name: must be a UTF-8 string, got one with the byte 0xff at 2"
    ),
    ("7", "must be a table, got 7"),
  ])
  func `an error names the place`(text: String, message: String) {
    #expect(failure(text, as: Site.self) == message)
  }

  @Test func `an error is Swift's own underneath`() {
    let error = #expect(throws: LuaError.self) {
      try read("{ path = '', port = {} }", as: Route.self)
    }
    guard case .typeMismatch(_, let context)? = error?.underlying as? DecodingError else {
      Issue.record("\(String(describing: error?.underlying))")
      return
    }
    #expect(context.codingPath.map(\.stringValue) == ["port"])
  }

  /// Complains of a place that no list has.
  private struct Complaint: Decodable {
    init(from decoder: any Decoder) throws {
      let keys = decoder.codingPath.compactMap { type(of: $0).init(intValue: .max) }
      throw DecodingError.dataCorrupted(.init(codingPath: keys, debugDescription: "is odd"))
    }
  }

  @Test func `a path may have any number`() {
    #expect(failure("{ 1 }", as: [Complaint].self)?.hasSuffix(": is odd") == true)
  }

  @Test func `numbers have the range of their types`() throws {
    #expect(try read("{ 0, 255 }", as: [UInt16].self) == [0, 255])
    #expect(
      failure("{ 1, 256 }", as: [Int8].self) == "[2]: must be an integer from -128 to 127, got 256")
    #expect(failure("-1", as: UInt.self)?.hasPrefix("must be an integer from 0 to ") == true)
    #expect(failure("'5'", as: UInt64.self) == "must be an integer, got \"5\"")
    let lua = try LuaState()
    let error = #expect(throws: LuaError.self) { try lua.set("x", ["a": [UInt64.max]]) }
    #expect(error?.message == "a[1]: \(UInt64.max) is too large for an integer of Lua")
  }

  @Test func `dates and lengths of time are seconds`() throws {
    struct Plan: Codable, Equatable { var at: Date, every: Duration }
    let plan = Plan(at: Date(timeIntervalSince1970: 1_000_000_000.5), every: .milliseconds(250))
    #expect(try read("{ at = 1000000000.5, every = 0.25 }") == plan)
    #expect(try returned(plan) == plan)
    #expect(
      failure("{ at = 'now', every = 1 }", as: Plan.self) == "at: must be a number, got \"now\"")
    #expect(
      failure("{ at = 1, every = 0/0 }", as: Plan.self)
        == "every: must be seconds, a finite number, got nan")
    for far in ["-1e300", "1e300", "-9223372037"] {
      let text = failure("{ at = 1, every = \(far) }", as: Plan.self)
      #expect(text?.hasPrefix("every: must be seconds") == true)
    }
  }

  @Test func `bytes are strings`() throws {
    struct Blob: Codable, Equatable { var data: Data, bytes: [UInt8] }
    let blob = Blob(data: Data([0, 255, 10]), bytes: [1, 254])
    #expect(try read("{ data = '\\0\\xff\\n', bytes = '\\1\\xfe' }") == blob)
    #expect(try returned(blob) == blob)
    #expect(failure("'abc'", as: [Int].self) == "must be a list, got \"abc\"")
    let lua = try LuaState()
    lua.set("blob", LuaCoded(blob))
    #expect(
      try lua.evaluate("return blob.data == '\\0\\xff\\n' and blob.bytes == '\\1\\xfe'") as Bool)
  }

  @Test func `a list has no gaps and no names`() throws {
    let numbers: [Int?] = [1, nil, 3]
    #expect(failure("{ [1] = 1, [3] = 3 }", as: [Int?].self)?.contains("the field 3") == true)
    #expect(failure("{ 1, 2, name = 'a' }", as: [Int].self)?.contains("\"name\"") == true)
    #expect(try read("{ [2] = 2, [1] = 1 }") == [1, 2])
    #expect(
      try read("(function() local t = {} for i = 9, 1, -1 do t[i] = i end return t end)()")
        == Array(1...9))
    #expect(throws: (any Error).self) { try returned(numbers) }
  }

  @Test func `dictionaries keep the kind of their keys`() throws {
    let lua = try LuaState()
    try lua.set("names", ["1": Route(path: "a", port: 1)])
    try lua.set("numbers", [1: "a", -7: "b", .min: "c"] as [Int: String])
    #expect(try lua.evaluate("return numbers[math.mininteger] == 'c'") as Bool)
    #expect(try lua.evaluate("return names['1'].path == 'a' and names[1] == nil") as Bool)
    #expect(try lua.evaluate("return numbers[1] == 'a' and numbers[-7] == 'b'") as Bool)
    #expect(try lua.decode([Int: String].self, global: "numbers") == [1: "a", -7: "b", .min: "c"])
  }

  @Test func `a class reads what is of the class above it`() throws {
    let dog = Dog()
    (dog.name, dog.tricks) = ("Rex", ["sit"])
    let copy = try returned(dog)
    #expect(copy.name == "Rex" && copy.tricks == ["sit"])
  }

  @Test func `a table that holds itself has an end`() throws {
    let lua = try LuaState()
    try lua.run("node = {} node.next = { node }")
    let error = #expect(throws: LuaError.self) { try lua.decode(Node.self, global: "node") }
    #expect(error?.message.hasSuffix("must not be nested more than 200 deep") == true)
  }

  @Test func `a decoder that was kept is over`() throws {
    struct Keeper: Decodable {
      let decoder: any Decoder
      init(from decoder: any Decoder) { self.decoder = decoder }
    }
    let kept: Keeper = try read("{ 1, 2 }")
    #expect(throws: DecodingError.self) { try kept.decoder.unkeyedContainer() }
    #expect(throws: DecodingError.self) { try kept.decoder.singleValueContainer() }
    #expect(throws: DecodingError.self) { try [Int](from: kept.decoder) }
  }

  @Test func `functions take and give Codable values`() throws {
    let lua = try LuaState()
    lua.register("rate") { (site: Site, factor: Double) in
      site.weights.mapValues { $0 * factor }
    }
    let rated: [String: Double] = try lua.evaluate(
      "return rate({ name = '', routes = {}, weights = { a = 2 } }, 3)")
    #expect(rated == ["a": 6])
    lua.register("shape") { (n: Int) -> Shape in n == 0 ? Shape.none : .circle(radius: Double(n)) }
    #expect(try lua.evaluate("return shape(2).circle.radius") == 2.0)
    lua.register("apply") { (f: LuaFunction, route: LuaCoded<Route>) in
      let result: Route = try f(route)
      return LuaCoded(result)
    }
    let port: Int = try lua.evaluate(
      "return apply(function(r) r.port = r.port + 1 return r end, { path = '/', port = 1 }).port")
    #expect(port == 2)
    let error = #expect(throws: LuaError.self) {
      try lua.run("rate({ name = '', routes = { { path = 5 } } }, 1)", name: "=t")
    }
    #expect(error?.message == "rate: argument 1.routes[1].path must be a string, got 5 (t:1)")
  }

  /// A state that is handed to code that must not have it.
  private struct Smuggled: @unchecked Sendable {  // what these tests are about
    let lua: LuaState
  }

  @Test func `a type may close the state that it is read from`() throws {
    func attempt<R>(_ body: (LuaState) throws -> R) throws -> (R, Bool) {
      let lua = try LuaState()
      try lua.run("list = { 'a', 'b' } t = {}")
      let smuggled = Smuggled(lua: lua)
      let close: @Sendable () -> Void = { smuggled.lua.close() }
      return try Closer.$close.withValue(close) {
        (try body(lua), lua.isClosed)
      }
    }
    let (read, isClosed) = try attempt { try $0.decode(Closer.self, global: "list") }
    #expect(read.a == ["a", "b"] && isClosed)
    #expect(try attempt { try $0.set("x", Closer()) }.1)
    #expect(try attempt { _ = try $0.table(Closer()) }.1)
    #expect(try attempt { _ = try $0.evaluate("return list") as Closer }.1)
    let (sum, hasEnded) = try attempt { lua in
      let bytes: LuaBytes = try lua.evaluate("return ('x'):rep(100000)")
      return try bytes.withSpan { span in
        lua.close()
        return span.byteOffsets.reduce(0) {
          $0 + Int(span.unsafeLoad(fromByteOffset: $1, as: UInt8.self))
        }
      }
    }
    #expect(sum == 12_000_000 && hasEnded)
  }
}
