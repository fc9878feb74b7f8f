// Any value, tables, any number of arguments and results, bytes.

import LuaEmbed
import Testing

@Suite struct ValueTests {
  private enum Level: String, LuaConvertible, CaseIterable { case low, high }
  private enum Code: Int, Codable, LuaConvertible {
    case fine = 0
    case bad = 7
  }
  private struct Request: Codable, LuaConvertible, Equatable { var id: Int, path: String }

  @Test func `a value is whatever Lua has`() throws {
    let lua = try LuaState()
    let all: LuaArguments = try lua.evaluate(
      "return nil, true, 1, 1.5, 'a', '\\xff', {}, print, coroutine.create(print), nil")
    #expect(
      all.values.map(\.description) == [
        "nil", "true", "1", "1.5", "\"a\"", "a string of 1 bytes", "a table", "a function",
        "an object", "nil",
      ])
    lua.register("same") { (value: LuaValue) in value }
    #expect(
      try lua.evaluate(
        """
        local t, f, c = {}, print, coroutine.running()
        return same() == nil and same(t) == t and same(f) == f and same(c) == c
          and same "a\\xff" == "a\\xff" and math.type(same(1)) == "integer"
          and math.type(same(1.0)) == "float"
        """) as Bool)
  }

  @Test func `a table is read and written in its place`() throws {
    let lua = try LuaState()
    let table: LuaTable = try lua.evaluate("t = { 1, 2, name = 'a', [3.5] = true } return t")
    #expect(table["name"] == "a" && table[2] == 2 && table[3.5] == true)
    #expect(table["name"] as Int? == nil && table["none"] as String? == nil)
    table["name"] = "b"
    table[3] = 3
    table["gone"] = nil as Int?
    table["list"] = [1, 2]
    table[Double.nan] = 5
    table[nil as Int?] = 5
    #expect(try lua.evaluate("return t.name == 'b' and #t == 3 and t.list[2] == 2") as Bool)
    #expect(table.count == 3)
    #expect(table.items.map(\.description) == ["1", "2", "3"])
    #expect(
      table.pairs.map { "\($0.key)=\($0.value)" }.sorted()
        == ["\"list\"=a table", "\"name\"=\"b\"", "1=1", "2=2", "3.5=true", "3=3"])
    #expect(try table.get("name") == "b")
    let error = #expect(throws: LuaError.self) { try table.get("list", as: Int.self) }
    #expect(error?.message == "the field 'list' must be an integer, got a table")
  }

  @Test func `a table has the metatable that it is given`() throws {
    let lua = try LuaState()
    let (table, meta) = (try lua.table(), try lua.table())
    meta["__index"] = try lua.function { (_: LuaTable, key: String) in "no \(key)" }
    #expect(table.metatable == nil)
    table.metatable = meta
    lua.set("t", table)
    #expect(try lua.evaluate("return t.x") == "no x")
    #expect(table["x"] as String? == nil)  // Without metamethods.
    table.metatable = nil
    #expect(try lua.evaluate("return t.x == nil") as Bool)
    // A finalizer would run code where a table is merely written to.
    meta["__gc"] = true
    table.metatable = meta
    #expect(table.metatable == nil)
  }

  @Test func `a table of a closed state is empty`() throws {
    let lua = try LuaState()
    let table: LuaTable = try lua.evaluate("return { 1, a = 2 }")
    lua.close()
    #expect(table[1] as Int? == nil && table.count == 0 && table.pairs.isEmpty)
    table["a"] = 1
    let error = #expect(throws: LuaError.self) { try table.get("a", as: Int.self) }
    #expect(error?.kind == .closed)
    #expect(throws: LuaError.self) { try lua.table() }
  }

  @Test func `any number of arguments and results`() throws {
    let lua = try LuaState()
    var seen: [String] = []
    lua.register("log") { (level: String, rest: LuaArguments) in
      seen.append("\(level): \(rest.values)")
    }
    lua.register("reverse") { (all: LuaArguments) in LuaArguments(all.values.reversed()) }
    lua.register("divide") { (a: Int, b: Int) in (a / b, a % b) }
    try lua.run("log('a') log('b', nil, 1, nil) log('c', reverse(1, nil, 'x'))")
    #expect(seen == ["a: []", "b: [nil, 1, nil]", "c: [\"x\", nil, 1]"])
    let (quotient, rest): (Int, Int) = try lua.evaluate("return divide(17, 5)")
    #expect(quotient == 3 && rest == 2)
    let error = #expect(throws: LuaError.self) {
      let _: (Int, String) = try lua.evaluate("return 1, {}")
    }
    #expect(error?.message == "result 2 must be a string, got a table")
    let f: LuaFunction = try lua.evaluate("return function(...) return select('#', ...), ... end")
    let all: LuaArguments = try f(1, "a", LuaValue.nil)
    #expect(all.values.map(\.description) == ["3", "1", "\"a\"", "nil"])
  }

  @Test func `a million results are an error`() throws {
    let lua = try LuaState()
    lua.register("many") { (n: Int) in LuaArguments(Array(repeating: 1, count: n)) }
    #expect(try lua.evaluate("return select('#', many(100))") == 100)
    let error = #expect(throws: LuaError.self) { try lua.run("many(2000000)", name: "=t") }
    #expect(error?.message == "many: too many results (t:1)")
  }

  @Test func `a Swift closure is a value like any other`() throws {
    let lua = try LuaState()
    lua.register("adder") { (lua: LuaState, n: Int) in
      try lua.function("add") { (x: Int) in x + n }
    }
    #expect(try lua.evaluate("return adder(3)(4)") == 7)
    let error = #expect(throws: LuaError.self) { try lua.run("adder(3) {}", name: "=t") }
    #expect(error?.message == "add: argument 1 must be an integer, got a table (t:1)")
  }

  @Test func `a string that is not UTF-8 is bytes or an error`() throws {
    let lua = try LuaState()
    lua.register("text") { (text: String) in text }
    lua.register("bytes") { (bytes: [UInt8]) in Array(bytes.reversed()) }
    lua.register("sum") { (bytes: LuaBytes) throws in
      try bytes.withSpan { span in
        span.byteOffsets.reduce(0) { $0 + Int(span.unsafeLoad(fromByteOffset: $1, as: UInt8.self)) }
      }
    }
    let error = #expect(throws: LuaError.self) { try lua.run("text 'ab\\xffc'", name: "=t") }
    #expect(
      error?.message
        == "text: argument 1 must be a UTF-8 string, got one with the byte 0xff at 3 (t:1)")
    #expect(try lua.evaluate("return bytes 'ab\\xff' == '\\xffba'") as Bool)
    #expect(try lua.evaluate("return 'a\\xff'") as [UInt8] == [97, 255])
    #expect(try lua.evaluate("return sum('\\xff\\1')") == 256)
    #expect(throws: LuaError.self) { try lua.evaluate("return 'a\\xff'") as String }
    #expect(throws: LuaError.self) { try lua.evaluate("return { 1 }") as [UInt8] }
  }

  @Test func `a string is itself each time that it crosses, whatever was at its address before`()
    throws
  {
    let lua = try LuaState()
    lua.register("text") { (text: String) in text }
    lua.register("sum") { (text: String) in text.utf8.reduce(0) { $0 + Int($1) } }
    #expect(
      try lua.evaluate(
        """
        local wrong, kept = 0, {}
        for turn = 1, 2000 do
          local s = ("ä%d"):format(turn * 7919 % 300):rep(10, "-"):sub(1, 10 + turn % 40)
          if utf8.len(s) then
            for _ = 1, turn % 4 do
              local sum = 0
              for i = 1, #s do sum = sum + s:byte(i) end
              if text(s) ~= s or #text(s) ~= #s or _G.sum(s) ~= sum then wrong = wrong + 1 end
            end
            kept[turn % 7] = s
          else
            for _ = 1, 3 do if pcall(text, s) then wrong = wrong + 1 end end
          end
          if turn % 50 == 0 then collectgarbage() end
        end
        return wrong
        """) as Int == 0)
  }

  @Test func `a table that Lua takes for a list of 2^62 items has those up to its first hole`()
    throws
  {
    let lua = try LuaState()
    // Room for all of them at once, so that Lua does not reorder them.
    try lua.run(
      """
      holes = load("return { 1, 2" .. (", x = 1"):rep(70) .. "}")()
      holes[3] = 3
      for bit = 2, 62 do holes[1 << bit] = 4 end
      """)
    #expect(try lua.evaluate("return #holes > 1 << 40") as Bool)
    #expect(try lua.evaluate("return holes") as [Int] == [1, 2, 3, 4])
    let error = #expect(throws: LuaError.self) { try lua.decode([Int8].self, global: "holes") }
    #expect(error?.message.hasPrefix("holes: must be a list, got a table with the field") == true)
    let table: LuaTable = try lua.evaluate("return holes")
    #expect(table.items.count == 4)
  }

  @Test func `a raw value stands for its case`() throws {
    let lua = try LuaState()
    lua.register("next") { (level: Level) in level == .low ? Level.high : .low }
    lua.register("code") { (code: Code) in code }
    #expect(try lua.evaluate("return next 'low'") == "high")
    #expect(try lua.evaluate("return code(7)") == 7)
    let error = #expect(throws: LuaError.self) { try lua.run("next 'middle'", name: "=t") }
    #expect(error?.message == "next: argument 1 must be a Level, got \"middle\" (t:1)")
  }

  @Test func `a Codable type needs no code to cross`() throws {
    let lua = try LuaState()
    lua.register("more") { (f: LuaFunction, request: Request) throws in
      Request(id: try f(request.id), path: request.path + "/")
    }
    let result: Request = try lua.evaluate(
      "return more(function(n) return n * 2 end, { id = 2, path = 'a' })")
    #expect(result == Request(id: 4, path: "a/"))
    let error = #expect(throws: LuaError.self) {
      try lua.run("more(print, { id = 2 })", name: "=t")
    }
    #expect(error?.message == "more: argument 2.path must be a string, got nothing (t:1)")
  }

  @Test(arguments: [
    ("ints { 1, 'x' }", "ints: argument 1[2] must be an integer, got \"x\" (t:1)"),
    ("maps { a = { b = {} } }", "maps: argument 1.a.b must be a number, got a table (t:1)"),
    ("maps { { } }", "maps: argument 1 must have names as keys, got 1 (t:1)"),
    ("ints(5)", "ints: argument 1 must be a list of integers, got 5 (t:1)"),
    ("maybe { 1, {} }", "maybe: argument 1[2] must be an integer, got a table (t:1)"),
  ])
  func `an error says where in an argument`(call: String, message: String) throws {
    let lua = try LuaState()
    lua.register("ints") { (_: [Int]) in }
    lua.register("maps") { (_: [String: [String: Double]]) in }
    lua.register("maybe") { (_: [Int]?) in }
    let error = #expect(throws: LuaError.self) { try lua.run(call, name: "=t") }
    #expect(error?.message == message)
  }
}

@Suite struct CopyTests {
  private let all: LuaCopy = .table([
    .string("list"): .list([.integer(1), .number(1.5), .string("a"), .bytes([255]), .boolean(true)]
    ),
    .integer(7): .list([]), .boolean(false): .table([.string("x"): .string("y")]),
  ])

  @Test func `a copy crosses both ways`() throws {
    let lua = try LuaState()
    lua.register("same") { (value: LuaCopy) in value }
    let copy: LuaCopy = try lua.evaluate(
      "return same { list = { 1, 1.5, 'a', '\\xff', true }, [7] = {}, [false] = { x = 'y' } }")
    #expect(copy == all)
    #expect(try lua.evaluate("return same() == nil and math.type(same(1.0)) == 'float'") as Bool)
    lua.set("again", copy)
    #expect(try lua.evaluate("return #again.list == 5 and again[false].x == 'y'") as Bool)
    lua.set("odd", LuaCopy.table([.nil: .integer(1), .number(.nan): .integer(1)]))
    #expect(try lua.evaluate("return next(odd) == nil") as Bool)
  }

  @Test func `what has no copy is named with its place`() throws {
    let lua = try LuaState()
    lua.register("f") { (_: LuaCopy) in }
    func message(_ text: String) -> String? {
      #expect(throws: LuaError.self) { try lua.run(text, name: "=t") }?.message
    }
    #expect(
      message("f { a = { 1, { b = print } } }")
        == "f: argument 1.a[2].b must be a value that can be copied, got a function (t:1)")
    #expect(
      message("f(coroutine.create(print))")
        == "f: argument 1 must be a value that can be copied, got a thread (t:1)")
    #expect(
      message("local t = {} t[1] = t f(t)")?.hasSuffix("must be at most 200 tables deep (t:1)")
        == true)
    #expect(
      message("local t = {} for i = 1, 60 do t = { t, t } end f(t)")?
        .hasSuffix("must have at most 4194304 values (t:1)") == true)
  }
}
