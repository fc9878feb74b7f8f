// Every allocation of Lua fails in turn, once and for good: the error is a value, nothing leaks, and
// the state goes on.

import LuaEmbed
import Testing

private final class Token {
  nonisolated(unsafe) static var alive = 0  // the suite is serialized
  init() { Self.alive += 1 }
  deinit { Self.alive -= 1 }
  func touch() {}
}

private let work = """
  local t = {}
  for i = 1, 20 do t[i] = {name = 'n' .. i, f = function() return t[i].name end} end
  local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(('x'):rep(i * 40)) end end)
  co() co()
  local x <close> = setmetatable({}, {__close = function() local s = ('y'):rep(100) .. #t end})
  table.sort(t, function(a, b) return a.name < b.name end)
  pcall(error, {table.concat({'a', 'b', 'c'}, ('-'):rep(50))})
  local object = make()
  object:touch()
  return ('%s'):format(('abc'):gsub('%w', '%0%0'))
  """

@Suite("A failing allocation", .serialized)
struct FaultTests {
  @Test("is an error of the call it happens in", arguments: [false, true])
  func each(_ forGood: Bool) throws {
    let before = Token.alive
    var n: UInt64 = 1
    var failures = 0
    while true {
      let lua = try LuaState()
      guard lua.failAllocation(0) else { return }  // a release build
      lua.register(Token.self, as: "Token", .method("touch") { (t: Token) -> Void in t.touch() })
      let stack = lua.stack
      lua.setHost(Unmanaged.passUnretained(lua).toOpaque())
      stack.push(function: { L, host in
        let lua = Unmanaged<LuaState>.fromOpaque(host!).takeUnretainedValue()
        lua.set("made", Token())
        lua.stack.pushGlobal("made")
        return 1
      })
      stack.popGlobal("make")
      lua.failAllocation(n, forGood: forGood)
      var failed = false
      do { try lua.run(work) } catch {
        failed = true
        #expect(error.kind == .memoryLimit)
      }
      let isOver = lua.allocationsUntilFailure > 1 || (!failed && !forGood && n > 2000)
      lua.failAllocation(0)
      #expect(try lua.evaluate("return 1 + 1") == 2)
      #expect(lua.tasksInUse == 0)
      lua.close()
      #expect(Token.alive == before)
      if failed { failures += 1 }
      if isOver { break }
      n += 1
    }
    // Lua tries again after a collection, so that one refusal alone need not show.
    if forGood { #expect(failures > 50) }
  }
}
