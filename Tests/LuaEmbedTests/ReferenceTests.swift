// References that are dropped anywhere, interrupts from other threads, and errors that stay the
// same object on the way through Lua.

import Glibc
import LuaEmbed
import Synchronization
import TestSupport
import Testing

private struct Mishap: Error, Equatable { let number: Int }

@Suite("A reference", .serialized)
struct ReferenceTests {
  @Test("dropped on another thread is released on the state's")
  func dropped() throws {
    let lua = try LuaState()
    try lua.run(
      """
      weak = setmetatable({}, {__mode = 'k'})
      function f() local x = {} weak[x] = 1 return function() return x end end
      """
    )
    let make = try #require(lua.globals[function: "f"])
    for _ in 0..<100 {
      let carrier = Carrier(try make())
      onThread { carrier.value = nil }
    }
    lua.idleCollect()
    lua.collect()
    #expect(try lua.evaluate("local n = 0 for _ in pairs(weak) do n = n + 1 end return n") == 0)
  }

  /// Carries a value to another thread, to be dropped there.
  private final class Carrier: @unchecked Sendable {  // handed over whole
    var value: LuaFunction?
    init(_ value: LuaFunction) { self.value = value }
  }

  @Test("outlives its state without harm")
  func outlives() throws {
    let lua = try LuaState()
    try lua.run("function f() end")
    let function = try #require(lua.globals[function: "f"])
    lua.close()
    let error = #expect(throws: LuaError.self) { try function() }
    #expect(error?.message == "the Lua state is closed")
  }

  @Test("calls with arguments and reads a result")
  func calls() throws {
    let lua = try LuaState()
    try lua.run("function f(a, b) return (a or 0) + (b or 0) end")
    let f = try #require(lua.globals[function: "f"])
    #expect(try f(2, 3) == 5)
    try f()
    let list: [Int] = try lua.evaluate("return {1, 2, 3}")
    #expect(list == [1, 2, 3])
    let fields: [String: String] = try lua.evaluate("return {a = 'x', b = 'y'}")
    #expect(fields == ["a": "x", "b": "y"])
  }

  @Test("to an error keeps its identity through Lua and back")
  func identity() throws {
    let lua = try LuaState()
    lua.register("fail") { (n: Int) throws -> Void in throw Mishap(number: n) }
    let direct = #expect(throws: LuaError.self) { try lua.run("fail(1)") }
    #expect(direct?.underlying as? Mishap == Mishap(number: 1))
    let again = #expect(throws: LuaError.self) {
      try lua.run("local ok, e = pcall(fail, 2) assert(tostring(e):find 'Mishap') error(e)")
    }
    #expect(again?.underlying as? Mishap == Mishap(number: 2))
    lua.register("inner") { [unowned lua] () throws -> Void in try lua.run("error(object)") }
    #expect(
      try lua.evaluate(
        """
        object = {code = 'EIO', message = 'm'}
        local ok, e = pcall(inner)
        return e == object
        """))
    let table = #expect(throws: LuaError.self) { try lua.run("error(object)") }
    #expect(table?.code == "EIO" && table?.message == "m")
  }

  @Test("to an interrupt stops a busy script from another thread")
  func interrupt() throws {
    let lua = try LuaState()
    let handle = lua.interruptHandle
    let isDone = Atomic<Bool>(false)
    final class Flag: Sendable { let isBusy = Atomic<Bool>(false) }
    let flag = Flag()
    lua.register("busy") { flag.isBusy.store(true, ordering: .relaxed) }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(
      Job(handle: handle, isBusy: { flag.isBusy.load(ordering: .relaxed) }))
    pthread_create(
      &thread, nil,
      {
        let job = Unmanaged<Job>.fromOpaque($0!).takeRetainedValue()
        while !job.isBusy() { sched_yield() }
        job.handle.interrupt()
        return nil
      }, box.toOpaque())
    let error = #expect(throws: LuaError.self) {
      try lua.run("busy() while true do pcall(busy) end")
    }
    pthread_join(thread, nil)
    #expect(error?.kind == .interrupted)
    handle.interrupt()  // idle: no effect
    try lua.run("for i = 1, 1000 do end")
    lua.close()
    handle.interrupt()  // closed: no effect
    _ = isDone
  }

  private final class Job: Sendable {
    let handle: InterruptHandle
    let isBusy: @Sendable () -> Bool
    init(handle: InterruptHandle, isBusy: @escaping @Sendable () -> Bool) {
      self.handle = handle
      self.isBusy = isBusy
    }
  }
}
