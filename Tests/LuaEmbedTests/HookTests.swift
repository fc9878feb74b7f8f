// Hooks of scripts: a stop replaces them, and restores them.

import LuaEmbed
import Testing

@Suite("A hook of a script", .serialized)
struct HookTests {
  /// Two coroutines with their own hooks yield in the call-out that is stopped: the one that is
  /// armed by the watchdog or by the poll of a C function yields before its next instruction.
  @Test("is there again after a stop, in every coroutine that lives on")
  func restored() throws {
    let lua = try LuaState()
    lua.register("interrupt") { [unowned lua] in lua.interruptHandle.interrupt() }
    try lua.run(
      """
      counts, coroutines = {0, 0, 0}, {}
      local function make(i)
        local co = coroutine.create(function()
          while true do interrupt_then_yield() for _ = 1, 10 do end coroutine.yield() end
        end)
        debug.sethook(co, function() counts[i] = counts[i] + 1 end, '', 3)
        coroutines[i] = co
      end
      for i = 1, 3 do make(i) end
      """)
    // A host function that is interrupted and suspends at once: its coroutine, now armed, lives.
    lua.setHost(Unmanaged.passUnretained(lua).toOpaque())
    let stack = lua.stack
    stack.push(function: { _, host in
      Unmanaged<LuaState>.fromOpaque(host!).takeUnretainedValue().interruptHandle.interrupt()
      return LuaStatus.wait(handing: 0)
    })
    stack.popGlobal("interrupt_then_yield")
    for i in 1...3 {
      let error = #expect(throws: LuaError.self) {
        try lua.run("coroutine.resume(coroutines[\(i)])")
      }
      #expect(error?.kind == .interrupted)
    }
    try lua.run("counts = {0, 0, 0}")
    for i in 1...3 {
      try lua.run("assert(coroutine.resume(coroutines[\(i)]))")
      #expect(try lua.evaluate("return counts[\(i)] > 2") == true)
      #expect(try lua.evaluate("return select(3, debug.gethook(coroutines[\(i)])) == 3") == true)
    }
    lua.close()
  }
}
