// Scripts that take too much time or memory are stopped wherever they are; the state goes on.

import LuaEmbed
import Testing

struct Hostile: Sendable, CustomTestStringConvertible {
  let name: String
  let script: String
  var testDescription: String { name }
}

private let runaways = [
  Hostile(name: "a plain loop", script: "while true do end"),
  Hostile(
    name: "a loop of pcall", script: "while true do pcall(function() while true do end end) end"),
  Hostile(
    name: "a handler of xpcall that loops",
    script: "xpcall(function() while true do end end, function() while true do end end)"),
  Hostile(
    name: "a coroutine made before",
    script: "co = coroutine.wrap(function() while true do end end) co()"),
  Hostile(
    name: "coroutines made in a loop",
    script: "while true do coroutine.wrap(function() for i = 1, 10 do end end)() end"),
  Hostile(
    name: "a __close of a coroutine that loops",
    script: """
      local co = coroutine.create(function()
        local x <close> = setmetatable({}, {__close = function() while true do end end})
        coroutine.yield()
      end)
      coroutine.resume(co)
      coroutine.close(co)
      """),
  Hostile(
    name: "a __close after the stop",
    script: """
      local x <close> = setmetatable({}, {__close = function() while true do end end})
      while true do end
      """),
  Hostile(
    name: "a finalizer",
    script: "setmetatable({}, {__gc = function() while true do end end}) collectgarbage()"),
  Hostile(
    name: "a finalizer that catches",
    script: """
      local function loop() while true do pcall(function() while true do end end) end end
      setmetatable({}, {__gc = loop})
      collectgarbage()
      """),
  Hostile(
    name: "a metamethod",
    script: "local t = setmetatable({}, {__index = function() while true do end end}) return t.x"),
  Hostile(
    name: "a comparator of table.sort",
    script: "table.sort({3, 2, 1}, function() while true do end end)"),
  Hostile(
    name: "a replacement of gsub", script: "('x'):gsub('x', function() while true do end end)"),
  Hostile(
    name: "a pattern",
    script: "string.find(('a'):rep(60), ('a?'):rep(60) .. ('a'):rep(60) .. 'b')"),
  Hostile(
    name: "a table function with a lying length",
    script: """
      local lie = {__len = function() return 1 << 50 end, __index = function() return '' end}
      table.concat(setmetatable({}, lie))
      """
  ),
  Hostile(
    name: "a reader of load", script: "while true do load(function() while true do end end) end"),
  Hostile(
    name: "tostring",
    script: "tostring(setmetatable({}, {__tostring = function() while true do end end}))"),
  Hostile(
    name: "the hook of the debugger",
    script: "debug.sethook(function() while true do end end, 'l') local x = 1\nx = 2"),
  Hostile(
    name: "its own hook set again",
    script: "while true do debug.sethook(function() end, 'c') pcall(error) end"),
]

@Suite("A limit", .serialized)
struct StopTests {
  @Test("of time ends a script wherever it is", arguments: runaways)
  func time(_ hostile: Hostile) throws {
    let lua = try LuaState(limits: LuaLimits(callout: .milliseconds(40)))
    let error = #expect(throws: LuaError.self) { try lua.run(hostile.script) }
    #expect(error?.kind == .timeLimit)
    #expect(try lua.evaluate("local n = 0 for i = 1, 1000 do n = n + 1 end return n") == 1000)
    lua.collect()
    #expect(lua.tasksInUse == 0)
  }

  @Test(
    "of memory ends a script, and its memory comes back",
    arguments: [
      "local t = {} while true do t[#t + 1] = {} end",
      "local t = {} while true do pcall(function() while true do t[#t + 1] = {} end end) end",
      "local s = 'x' while true do s = s .. s end",
      "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i end",
      "local function f() return f, f() end f()",
    ])
  func memory(_ script: String) throws {
    let lua = try LuaState(limits: LuaLimits(memory: 8 << 20, callout: .seconds(20)))
    let error = #expect(throws: LuaError.self) { try lua.run(script) }
    if error?.kind != .memoryLimit { #expect(error?.message.contains("stack overflow") == true) }
    lua.collect()
    #expect(lua.bytesInUse < 2 << 20)  // call records are freed by halves
    #expect(try lua.evaluate("return #('x'):rep(1000)") == 1000)
  }

  @Test(
    "of memory is not caught, however much was asked for at once",
    arguments: [
      "pcall(string.rep, 'x', 5e7)",
      "pcall(string.rep, 'x', 1e7)",
      "xpcall(string.rep, print, 'x', 5e7)",
      "coroutine.resume(coroutine.create(string.rep), 'x', 5e7)",
      "pcall(string.gsub, ('x'):rep(3 << 20), '.', '%0%0%0%0%0%0')",
      "xpcall(string.gsub, print, ('x'):rep(3 << 20), '.', '%0%0%0%0%0%0')",
      "pcall(table.concat, { ('x'):rep(3 << 20), ('y'):rep(3 << 20) }, ('z'):rep(5e6))",
      "pcall(function() return ('x'):rep(3 << 20) .. ('y'):rep(3 << 20) .. ('z'):rep(5e6) end)",
    ])
  func large(_ script: String) throws {
    let lua = try LuaState(limits: LuaLimits(memory: 8 << 20, callout: .seconds(20)))
    let error = #expect(throws: LuaError.self) { try lua.run(script) }
    #expect(error?.kind == .memoryLimit)
    lua.collect()
    #expect(try lua.evaluate("return #('x'):rep(1000)") == 1000)
  }

  @Test("of memory lets garbage go before it stops anything")
  func garbage() throws {
    let lua = try LuaState(limits: LuaLimits(memory: 2 << 20))
    try lua.run("collectgarbage('stop') for i = 1, 1e6 do local t = {i} end")
  }

  @Test("of nesting refuses in our own words")
  func nesting() throws {
    let lua = try LuaState()
    let chunk = "again()"
    lua.register("again") { [unowned lua] () throws -> Void in try lua.run(chunk) }
    let error = #expect(throws: LuaError.self) { try lua.run(chunk) }
    #expect(error?.kind == .nesting)
    #expect(error?.message == "calls of Lua and the host are nested more than 32 deep")
  }

  @Test("stops more than ten times in a minute condemn a state")
  func condemned() throws {
    let lua = try LuaState(limits: LuaLimits(memory: 1 << 20))
    for i in 1...11 {
      #expect(!lua.isCondemned)
      #expect(throws: LuaError.self) {
        try lua.run("local t = {} while true do t[#t + 1] = {} end")
      }
      #expect(lua.stopCount == i)
    }
    #expect(lua.isCondemned)
  }

  @Test("many short calls are not added up")
  func short() throws {
    // No shorter: on a busy machine a call may wait long for the processor, and that time counts.
    let lua = try LuaState(limits: LuaLimits(callout: .milliseconds(150)))
    let end = ContinuousClock.now + .milliseconds(400)
    while .now < end { try lua.run("for i = 1, 1000 do end") }
  }

  @Test("a host that waits is not charged")
  func waits() throws {
    let lua = try LuaState(limits: LuaLimits(callout: .milliseconds(20)))
    lua.register("wait") { [unowned lua] () -> Void in
      let token = lua.suspendBudget()
      defer { lua.resumeBudget(token) }
      let end = ContinuousClock.now + .milliseconds(100)
      while .now < end {}
    }
    try lua.run("wait()")
    let error = #expect(throws: LuaError.self) { try lua.run("wait() while true do end") }
    #expect(error?.kind == .timeLimit)
  }
}
