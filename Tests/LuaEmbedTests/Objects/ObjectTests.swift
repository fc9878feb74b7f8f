// Swift's classes and structures in Lua: members, operators, inheritance, values, and lending.

import LuaEmbed
import Testing

/// A structure with operators.
private struct Vector: LuaStruct, Equatable {
  var x = 0.0
  var y = 0.0
}

private class Creature: LuaObject {
  var name: String
  init(name: String) { self.name = name }
  func speak() -> String { "\(name) is silent" }
}

private class Hound: Creature {
  var tricks: [String: Int] = [:]
  override func speak() -> String { "\(name) barks" }
}

private final class Boxed: LuaObject {}
private final class Puppy: Hound { var age = 7 }

@Suite struct ObjectTests {
  private func state() throws -> LuaState {
    let lua = try LuaState()
    lua.register(
      Vector.self, as: "Vector",
      .constructor { (x: Double, y: Double?) in Vector(x: x, y: y ?? 0) },
      .constant("zero", 0),
      .function("dot") { (a: Vector, b: Vector) in a.x * b.x + a.y * b.y },
      .property("x", \.x), .property("y", get: { $0.y }, set: { $0.y = $1 }),
      .computed("length") { ($0.x * $0.x + $0.y * $0.y).squareRoot() },
      .mutating("scale") { (v: inout Vector, by: Double) in
        v.x *= by
        v.y *= by
      },
      .operator(.add) { (a: Vector, b: Vector) in Vector(x: a.x + b.x, y: a.y + b.y) },
      .operator(.multiply) { (v: Vector, k: Double) in Vector(x: v.x * k, y: v.y * k) },
      .operator(.multiply) { (k: Double, v: Vector) in Vector(x: v.x * k, y: v.y * k) },
      .operator(.equal) { (a: Vector, b: Vector) in a == b },
      .operator(.less) { (a: Vector, b: Vector) in a.x < b.x },
      .operator(.concatenate) { (text: String, v: Vector) in "\(text)(\(v.x), \(v.y))" },
      .negated { Vector(x: -$0.x, y: -$0.y) },
      .length { _ in 2 },
      .call { (v: Vector, k: Double) in v.x * k },
      .pairs { [("x", $0.x), ("y", $0.y)] },
      .tostring { "<\($0.x), \($0.y)>" })
    lua.register(
      Creature.self, as: "Creature",
      .property("name", get: { $0.name }, set: { $0.name = $1 }),
      .method("speak") { $0.speak() }, .method("legs") { (_: Creature) in 4 })
    lua.register(
      Hound.self, as: "Hound", extending: Creature.self,
      .constructor { (name: String) in Hound(name: name) },
      .index { (dog: Hound, trick: String) in dog.tricks[trick] },
      .newindex { (dog: inout Hound, trick: String, level: Int) in dog.tricks[trick] = level },
      .pairs { $0.tricks },
      .method("legs") { (_: Hound) in 3 })
    return lua
  }

  private func text(_ lua: LuaState, _ chunk: String) throws -> String {
    try lua.evaluate("return tostring((function() \(chunk) end)())")
  }

  @Test(arguments: [
    ("local v = Vector(3, 4) return v.length", "5.0"),
    ("local v = Vector(1, 2) v.x, v.y = 6, 7 return v", "<6.0, 7.0>"),
    ("return Vector.new(1).y", "0.0"),
    ("local a, b = Vector(1, 2), Vector(3, 4) return a + b", "<4.0, 6.0>"),
    ("return Vector(1, 2) * 2 + 3 * Vector(1, 1)", "<5.0, 7.0>"),
    ("return Vector(1, 2) == Vector(1, 2) and Vector(1, 2) ~= Vector(2, 1)", "true"),
    ("return Vector(1, 2) < Vector(2, 0)", "true"),
    ("return 'v = ' .. Vector(1, 2)", "v = (1.0, 2.0)"),
    ("return -Vector(1, 2)", "<-1.0, -2.0>"),
    ("return #Vector(0, 0) + Vector(5, 0)(2)", "12.0"),
    (
      "local t = {} for k, n in pairs(Vector(1, 2)) do t[#t + 1] = k .. n end return t[1] .. t[2]",
      "x1.0y2.0"
    ),
    ("return Vector.dot(Vector(1, 2), Vector(3, 4)) + Vector.zero", "11.0"),
    // Only Swift copies a structure; in Lua a variable is a reference.
    ("local v = Vector(1, 2) local w = v v:scale(10) w.x = w.x + 1 return v", "<11.0, 20.0>"),
  ])
  func `a structure has members, operators and functions`(chunk: String, result: String) throws {
    #expect(try text(state(), chunk) == result)
  }

  @Test(
    arguments: zip(
      LuaOperator.allCases,
      [
        "+", "-", "*", "/", "%", "^", "//", "&", "|", "~", "<<", ">>", "..", "==", "<", "<=",
      ]))
  func `each operator is asked with its operands`(operator: LuaOperator, sign: String) throws {
    let lua = try LuaState()
    var asked: [String] = []
    lua.register(
      Vector.self, as: "Vector", .constructor { (x: Double) in Vector(x: x) },
      .operator(`operator`) { (a: Vector, b: Vector) in
        asked.append("\(a.x) \(b.x)")
        return a.x
      },
      .complement { -$0.x })
    let result: LuaValue = try lua.evaluate("return Vector(3) \(sign) Vector(4)")
    // Comparisons are true or false, whatever the closure returns.
    #expect(result.description == (["==", "<", "<="].contains(sign) ? "true" : "3.0"))
    #expect(asked == ["3.0 4.0"])
    #expect(try lua.evaluate("return ~Vector(3)") == -3.0)
    if sign != ".." && sign != "==" {
      let error = #expect(throws: LuaError.self) { try lua.run("return Vector(3) \(sign) {}") }
      #expect(error?.message.contains("argument 2 must be a Vector, got a table") ?? false)
    }
  }

  @Test func `members may have no result, and may get the state`() throws {
    let lua = try LuaState()
    var trace: [String] = []
    lua.register(
      Creature.self, as: "Creature", .constructor { (name: String) in Creature(name: name) },
      .function("note") { (text: String) in trace.append(text) },
      .call { (creature: Creature, text: String) in trace.append(creature.name + text) },
      .method("call") { (creature: Creature, lua: LuaState, name: String) throws -> String in
        let f: LuaFunction? = lua.globals[function: name]
        return try f?(creature.name) ?? "nobody"
      })
    try lua.run(
      """
      function greet(name) return "hello " .. name end
      Creature.note(tostring(select("#", Creature.note("a"))))
      local c = Creature "Rex"
      c "!"
      Creature.note(c:call "greet")
      Creature.note(c:call "none")
      """)
    #expect(trace == ["a", "0", "Rex!", "hello Rex", "nobody"])
  }

  @Test(arguments: [
    ("return Vector(1, 2) * 'x'", "argument 2 must be a number, got \"x\""),
    ("return 'x' * Vector(1, 2)", "argument 1 must be a number, got \"x\""),
    ("return Vector(1, 2) + 1", "must be a Vector, got 1"),
    ("return Vector(1, 2).z", "unknown field 'z'"),
    ("Vector(1, 2).length = 1", "cannot set field 'length'"),
    ("return Vector('one')", "must be a number, got \"one\""),
    ("return Vector.dot(1, 2)", "must be a Vector, got 1"),
    ("Hound('Rex').sit = 'well'", "the value must be an integer, got \"well\""),
    ("return Hound('Rex')[{}]", "the key must be a string, got a table"),
    ("getmetatable(Vector(1, 2)).__add = nil", "index a string value"),
    ("return Vector(1, 2).x.y", "attempt to index"),
    ("local m = Vector(1, 2).scale m(Hound('Rex'), 2)", "must be a Vector, got a Hound"),
    ("local m = Hound('Rex').speak m(Vector(1, 2))", "must be a Creature, got a Vector"),
    ("local m = Hound('Rex').speak m(io.stdout)", "must be a Creature"),
  ])
  func `a mismatch is reported`(chunk: String, message: String) throws {
    let lua = try state()
    let error = #expect(throws: LuaError.self) { try lua.run(chunk) }
    #expect(error?.message.contains(message) ?? false, "\(error?.message ?? "")")
  }

  @Test func `a structure crosses as a copy`() throws {
    let lua = try state()
    var seen: [Vector] = []
    lua.register("see") { (v: Vector) in seen.append(v) }
    lua.register("make") { () in Vector(x: 7, y: 8) }
    lua.set("start", Vector(x: 1, y: 2))
    try lua.run("see(start) start.x = 5 see(start) local m = make() m:scale(2) see(m) see(make())")
    #expect(seen == [(1, 2), (5, 2), (14, 16), (7, 8)].map { Vector(x: $0.0, y: $0.1) })
  }

  @Test func `a value of a type that is not registered is kept, and its fields are errors`() throws
  {
    final class Stranger: LuaObject { var number = 3 }
    struct Point: LuaStruct { var x = 4 }
    let lua = try state()
    lua.register("stranger") { () in Stranger() }
    lua.register("point") { () in Point() }
    lua.register("sum") { (stranger: Stranger, point: Point) in stranger.number + point.x }
    #expect(try text(lua, "return sum(stranger(), point())") == "7")
    var point = Point()
    for use in ["stranger().number", "stranger():count()", "point().x = 1", "local x = lent.x"] {
      let error = try #require(
        throws: LuaError.self,
        performing: {
          try lua.lend(&point) { point in
            lua.set("lent", point)
            try lua.run(use.hasPrefix("stranger().") ? "local n = \(use)" : use, name: "=use")
          }
        })
      let field = use.contains("count") ? "count" : use.contains("number") ? "number" : "x"
      let type = use.hasPrefix("stranger") ? "Stranger" : "Point"
      #expect(
        error.message.replacing(/thread \d+/, with: "T")
          == "\(type): no field '\(field)', as the type is not registered with the Lua state of T"
          + " (use:1); call register(\(type).self, …) before one crosses")
    }
    lua.register(Stranger.self, as: "Stranger", .property("number", \.number))
    #expect(try text(lua, "return stranger().number") == "3")
  }

  @Test func `what Lua has of a type keeps its worth when that or another is registered`() throws {
    final class Stranger: LuaObject { var number = 3 }
    struct Point: LuaStruct { var x = 4 }
    let lua = try state()
    let stranger = Stranger()
    lua.set("stranger", stranger)
    lua.set("point", Point())
    lua.register("sum") { (stranger: Stranger, point: Point) in stranger.number + point.x }
    lua.register(Boxed.self, as: "Boxed")  // another one
    #expect(try text(lua, "return sum(stranger, point)") == "7")
    lua.register(Stranger.self, as: "Stranger", .property("number", \.number))
    lua.register(Point.self, as: "Point", .property("x", \.x))
    #expect(try text(lua, "return sum(stranger, point)") == "7")
    lua.set("again", stranger)
    #expect(
      try text(lua, "return tostring(rawequal(again, stranger)) .. stranger.number") == "true3")
    // What is lent has the members of the nearest registered class, too, and takes them from none.
    try lua.lend(Puppy(name: "Tiny")) { puppy throws in
      lua.set("lent", puppy)
      #expect(try text(lua, "return lent:speak()") == "Tiny barks")
    }
    lua.set("puppy", Puppy(name: "Rex"))
    #expect(try text(lua, "return puppy:speak()") == "Rex barks")
  }

  @Test func `a structure that a call is changing refuses other changes`() throws {
    let lua = try state()
    lua.register(
      Vector.self, as: "V", .property("x", \.x),
      .mutating("with") { (vector: inout Vector, body: LuaFunction) in
        try body()
        vector.y = 9
      },
      .mutating("run") { (vector: inout Vector, lua: LuaState, body: String) -> Int in
        vector.x += 1
        return try lua.evaluate(body)
      },
      .mutating("swap") { (vector: inout Vector) in
        swap(&vector.x, &vector.y)
        return LuaArguments([.number(vector.x), .number(vector.y)])
      },
      .method("both") { (vector: Vector, _: LuaState) in
        LuaArguments([.number(vector.x), .number(vector.y)])
      })
    lua.set("v", Vector(x: 1, y: 2))
    #expect(
      try text(
        lua,
        """
        local ok, problem = pcall(v.with, v, function() assert(v.x == 1) v.x = 5 end)
        v:with(function() end)
        return tostring(ok) .. problem .. v.x .. v:run "return 7" .. table.concat({ v:swap() }, " ")
          .. table.concat({ v:both() }, " ")
        """)
        == "falseV.x: this V is being changed by a call that has not returned (chunk:1)1.0"
        + "79.0 2.09.0 2.0")
  }

  @Test func `a subclass has what its parent has, its own first`() throws {
    let lua = try state()
    lua.set("cat", Creature(name: "Tom"))
    lua.set("puppy", Puppy(name: "Tiny") as Creature)  // not registered: a Hound
    #expect(try text(lua, "return cat:speak() .. cat:legs()") == "Tom is silent4")
    #expect(
      try text(lua, "local d = Hound('Rex') d.name = 'Max' return d:speak() .. d:legs()")
        == "Max barks3")
    #expect(
      try text(lua, "puppy.sit = 3 return puppy:speak() .. puppy:legs() .. puppy.sit")
        == "Tiny barks33")
    #expect(try text(lua, "for k, v in pairs(puppy) do return k .. v end") == "sit3")
    lua.register("name") { (animal: Creature) in animal.name }
    #expect(try text(lua, "return name(puppy) .. name(Hound('Rex')) .. name(cat)") == "TinyRexTom")
    #expect(try text(lua, "return Hound('Rex').sit") == "nil")
    // Only its own objects are of a class that is not registered, though their kind is Hound's.
    lua.register("ages") { (puppy: Puppy) in puppy.age }
    #expect(try text(lua, "return ages(puppy)") == "7")
    #expect(
      try text(lua, "return select(2, pcall(ages, Hound('Rex')))")
        == "ages: argument 1 must be a Puppy, got a Hound (chunk:1)")
  }

  @Test func `an object is one in Lua, and is released when Lua has let go of it`() throws {
    let lua = try state()
    weak var gone: Hound?
    try { () throws in
      let dog = Hound(name: "Rex")
      gone = dog
      lua.set("a", dog)
      lua.set("b", dog as Creature)
      #expect(try lua.evaluate("return rawequal(a, b)"))
    }()
    #expect(gone != nil)
    try lua.run("a, b = nil, nil")
    lua.collect()
    #expect(gone == nil)
  }

  @Test func `what is lent is over when the closure returns`() throws {
    let lua = try state()
    weak var gone: Hound?
    try { () throws in
      let dog = Hound(name: "Rex")
      gone = dog
      let keep: LuaFunction = try lua.evaluate("return function(d) kept = d return d:speak() end")
      #expect(try lua.lend(dog) { try keep($0) } as String == "Rex barks")
    }()
    #expect(gone == nil)
    let error = #expect(throws: LuaError.self) { try lua.run("kept:speak()") }
    #expect(
      error?.message.contains("Creature.speak: self is a Hound whose loan has ended") ?? false)
    lua.collect()
  }

  @Test func `a structure that is lent is changed in its place, also if the closure fails`() throws
  {
    let lua = try state()
    var vector = Vector(x: 1, y: 2)
    let scale: LuaFunction = try lua.evaluate(
      "return function(v) kept = v v:scale(3) error 'no' end")
    #expect(throws: LuaError.self) { try lua.lend(&vector) { try scale($0) } }
    #expect(vector == Vector(x: 3, y: 6))
    #expect(throws: LuaError.self) { try lua.run("kept.x = 100") }
    #expect(vector == Vector(x: 3, y: 6))
  }

  @Test func `lending may be nested, be and be of what Lua holds`() throws {
    let lua = try state()
    let dog = Hound(name: "Rex")
    lua.set("mine", dog)
    let same: LuaFunction = try lua.evaluate("return function(a, b) return a == b end")
    // A loan is a different handle from the one Lua keeps, so that it can end alone.
    try lua.lend(dog) { outer in
      let isSame: Bool = try lua.lend(dog) { try same(outer, $0) }
      #expect(!isSame)
      #expect(try text(lua, "return mine:speak()") == "Rex barks")
    }
    #expect(try text(lua, "return mine:speak()") == "Rex barks")
  }

  @Test func `one object may be in several states`() throws {
    let (first, second) = (try state(), try state())
    let dog = Hound(name: "Rex")
    first.set("dog", dog)
    second.set("dog", dog)
    try first.run("dog.name = 'Max'")
    #expect(try text(second, "return dog.name") == "Max")
    #expect(try text(second, "return dog:speak()") == "Max barks")
  }

  @Test func `a closure of a member may throw, register again, and end its object`() throws {
    let lua = try state()
    lua.register(
      Creature.self, as: "Creature",
      .method("change") { [unowned lua] (animal: Creature) in
        lua.register(Creature.self, as: "Creature", .method("new_method") { (_: Creature) in 1 })
        lua.set("next", Creature(name: "b"))
        lua.collect()
        return animal.name
      },
      .method("fail") { (_: Creature) -> Int in throw LuaFailure("no", code: "ENO") })
    lua.set("animal", Creature(name: "a"))
    #expect(
      try text(lua, "local a = animal animal = nil return a:change() .. next:new_method()") == "a1")
    lua.set("animal", Creature(name: "a"))
    #expect(throws: LuaError.self) { try lua.run("animal:change()") }
  }
}
