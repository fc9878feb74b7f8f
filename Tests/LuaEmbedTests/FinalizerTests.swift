// Finalizers are script code that runs at any time: limits hold wherever they run, and their errors
// are reported once.

import LuaEmbed
import Testing

/// A state that remembers what was reported of finalizers.
private final class Fixture {
  let lua: LuaState
  var told: [LuaError] = []

  init(limits: LuaLimits = LuaLimits()) throws {
    lua = try LuaState(limits: limits)
    lua.onFinalizerError = { [unowned self] in told.append($0) }
    try lua.run(
      """
      collectgarbage('stop')
      function finalize(f) setmetatable({}, {__gc = f}) end
      function loop() while true do end end
      function catch() while true do pcall(loop) end end
      """)
  }

  var messages: [String] { told.map(\.message) }
}

private let time = LuaLimits(callout: .milliseconds(20))
private let late = "in a finalizer (__gc): call-out took longer than 0.02 seconds"

@Suite("A finalizer", .serialized)
struct FinalizerTests {
  @Test(
    "that loops is stopped where nothing else of the script runs", arguments: ["loop", "catch"])
  func loops(_ how: String) throws {
    let places: [(String, (LuaState) throws -> Void)] = [
      ("a collection", { $0.collect() }),
      ("idle steps", { lua in while lua.idleCollect() { lua.set("x", "y\(lua.bytesInUse)") } }),
      ("a push of the host", { lua in for i in 0..<20_000 { lua.set("x", "text \(i)") } }),
      ("the making of a function", { lua in for _ in 0..<9000 { lua.register("f") { () in } } }),
      ("a table of the host", { lua in for i in 0..<9000 { lua.set("x", [i, 2, 3]) } }),
      ("a load", { lua in for i in 0..<4000 { _ = try lua.evaluate("return \(i)") as Int } }),
      ("the end of the state", { $0.close() }),
    ]
    for (place, run) in places {
      let f = try Fixture(limits: time)
      try f.lua.run("finalize(\(how)) collectgarbage('restart')")
      try run(f.lua)
      if !f.lua.isClosed { try f.lua.run("") }  // reported at the end of a call
      #expect(f.messages == [late], "in \(place)")
      #expect(f.told.allSatisfy { $0.kind == .timeLimit })
      f.lua.close()
      #expect(f.told.count == 1)
    }
  }

  @Test("that loops is one of many at the end of the state")
  func many() throws {
    let f = try Fixture(limits: time)
    try f.lua.run("for i = 1, 40 do finalize(loop) end finalize(function() done = true end)")
    let start = ContinuousClock.now
    f.lua.close()
    #expect(ContinuousClock.now - start < .seconds(2))
    #expect(f.messages == [late])
  }

  @Test("that takes memory without end is stopped, also at the end of the state")
  func memory() throws {
    let f = try Fixture(limits: LuaLimits(memory: 4 << 20))
    let bomb = "finalize(function() local t = {} while true do t[#t + 1] = {} end end)"
    try f.lua.run(bomb)
    f.lua.collect()
    try f.lua.run(bomb + bomb)
    f.lua.close()
    #expect(f.messages.allSatisfy { $0.hasSuffix("memory limit of 4194304 bytes exceeded") })
    #expect(f.messages.count == 2)
  }

  @Test("that raises is reported once, wherever it runs")
  func raises() throws {
    let f = try Fixture()
    let raising = "finalize(function() error 'no' end)"
    try f.lua.run(raising + " collectgarbage() assert(true)")
    #expect(f.messages == ["error in __gc (chunk:1: no)"])
    try f.lua.run(raising)
    f.lua.collect()
    try f.lua.run("finalize(function() error({}) end)")
    f.lua.close()
    #expect(
      f.messages.dropFirst() == [
        "error in __gc (chunk:1: no)", "error in __gc (error object is not a string)",
      ])
    #expect(f.told.allSatisfy { $0.kind == .runtime })
  }

  @Test("that raises may do so very often: the rest is counted")
  func flood() throws {
    let f = try Fixture()
    try f.lua.run("for i = 1, 1000 do finalize(function() error 'no' end) end")
    f.lua.collect()
    #expect(f.messages.count == 33)
    #expect(f.messages.last == "and 968 more errors in finalizers (__gc)")
  }

  @Test("that is stopped within a call is reported by the error of the call alone")
  func within() throws {
    let f = try Fixture(limits: time)
    let error = #expect(throws: LuaError.self) {
      try f.lua.run("finalize(loop) collectgarbage() while true do end")
    }
    #expect(error?.kind == .timeLimit)
    f.lua.close()
    #expect(f.messages == [])
  }

  @Test("may call Lua when reported, and raise again")
  func again() throws {
    let f = try Fixture()
    f.lua.onFinalizerError = { [unowned f] error in
      f.told.append(error)
      if f.told.count < 3 {
        try? f.lua.run("finalize(function() error 'again' end) collectgarbage()")
      }
    }
    try f.lua.run("finalize(function() error 'first' end) collectgarbage()")
    for _ in 0..<3 { try f.lua.run("") }
    #expect(
      f.messages == [
        "error in __gc (chunk:1: first)", "error in __gc (chunk:1: again)",
        "error in __gc (chunk:1: again)",
      ])
    f.lua.onFinalizerError = nil
    f.lua.close()
  }

  @Test("cannot be made up by a warning of a script")
  func warnings() throws {
    let f = try Fixture()
    try f.lua.run("warn('@off') warn('error in ', '__gc', ' (', 'x', ')') warn('error in __gc')")
    f.lua.close()
    #expect(f.messages == [])
  }

  @Test("may run while the host makes what a call needs; its stop is not the call's")
  func pushes() throws {
    let f = try Fixture(limits: time)
    try f.lua.run("function take(...) return select('#', ...) end finalize(loop)")
    let take = try #require(f.lua.globals[function: "take"])
    try f.lua.run("collectgarbage('restart') collectgarbage('setpause', 10)")
    for i in 0..<3000 { #expect(try take("argument \(i)", [i]) == 2) }
    #expect(f.messages == [late])
    f.lua.close()
  }
}
