// What hosts receive from scripts over time, and what they pass them at the start.

import Foundation
import Moonloop
import Testing

@Suite("A stream of a host")
struct HostStreamTests {
  private func host(_ script: String) async throws -> LuaHost {
    let host = try await LuaHost()
    try await host.run("local ml = require 'moonloop'\n" + script, name: "=app")
    return host
  }

  @Test func `gives the messages of a channel until it is closed`() async throws {
    let host = try await host(
      """
      made = 0
      function count(last)
        local channel = ml.channel(1)
        ml.current():task(function()
          for number = 1, last do channel:send(number) made = number end
          channel:close()
        end)
        return channel
      end
      """)
    var numbers: [Int] = []
    for try await number in host.stream("count", 100, of: Int.self) {
      numbers.append(number)
      // The script waits for its reader: it is never further ahead than the channel has room.
      let made: Int? = try await host.withState { _, lua in lua.globals["made"] }
      #expect(made ?? 0 <= number + 2)
    }
    #expect(numbers == Array(1...100))
    await host.shutDown()
  }

  @Test func `gives what a coroutine yields, or a function returns that waits`() async throws {
    let host = try await host(
      """
      function words(text)
        return coroutine.wrap(function()
          for word in text:gmatch "%a+" do coroutine.yield(word) end
        end)
      end
      function slow(text)
        local next = words(text)
        return function() ml.sleep(0) return next() end
      end
      """)
    for name in ["words", "slow"] {
      var words: [String] = []
      for try await word in host.stream(name, "one two three", of: String.self) {
        words.append(word)
      }
      #expect(words == ["one", "two", "three"])
    }
    await host.shutDown()
  }

  @Test func `throws what the script raises, and ends then`() async throws {
    let host = try await host(
      """
      function broken() return function() error("no luck", 0) end end
      function wrong() return 7 end
      """)
    var messages: [String] = []
    for name in ["broken", "wrong", "missing"] {
      var iterator = host.stream(name, of: Int.self).makeAsyncIterator()
      do throws(LuaError) { _ = try await iterator.next() } catch { messages.append(error.message) }
      #expect(try await iterator.next() == nil)
    }
    #expect(
      messages == [
        "no luck", "a stream must be a channel or a function, got number",
        "there is no function 'missing'",
      ])
    await host.shutDown()
  }

  @Test func `is cancelled with its task, and over when the host is shut down`() async throws {
    let host = try await host("function never() return ml.channel(1) end")
    let (asked, asks) = AsyncStream.makeStream(of: Void.self)
    try await host.withState { _, lua in lua.register("asked") { asks.yield() } }
    try await host.run(
      """
      function forever() local c = require("moonloop").channel(1)
        return function() asked() return (c:receive()) end
      end
      """)
    var waits = asked.makeAsyncIterator()
    func consume() -> Task<LuaError.Kind?, Never> {
      Task {
        var iterator = host.stream("forever", of: Int.self).makeAsyncIterator()
        do throws(LuaError) { _ = try await iterator.next() } catch { return error.kind }
        return nil
      }
    }
    let cancelled = consume()
    await waits.next()
    cancelled.cancel()
    #expect(await cancelled.value == .interrupted)
    let ended = consume()
    await waits.next()
    await host.shutDown()
    #expect(await ended.value == .closed)
  }
}

@Suite("Modules and chunks of a host")
struct HostModuleTests {
  @Test func `a module is what require finds`() async throws {
    let host = try await LuaHost()
    try await host.withState { _, lua in
      lua.module("app") { app in
        app.register("add") { (a: Int, b: Int) in a + b }
        app.registerAsync("later") { (a: Int) async throws -> Int in a + 1 }
      }
    }
    try await host.run(
      """
      local app = require "app"
      assert(add == nil and later == nil and require "app" == app)
      function sum() return app.add(1, 2) + app.later(3) end
      """)
    let sum: Int = try await host.call("sum")
    #expect(sum == 7)
    await host.shutDown()
  }

  @Test func `a closure that gets the state does not keep it`() throws {
    weak var dropped: LuaState?
    try Loop.isolated { loop in
      let lua = try LuaState(on: loop)
      dropped = lua
      lua.set("base", 40)
      lua.register("add") { (lua: LuaState, more: Int) -> Int in
        (lua.globals["base"] ?? 0) + more
      }
      lua.register("note") { (lua: LuaState, text: String) in lua.set("noted", text) }
      #expect(try lua.evaluate("note 'x' return noted .. add(2)") == "x42")
    }
    #expect(dropped == nil)
  }

  @Test func `a chunk is compiled once and run often`() throws {
    let lua = try LuaState()
    let chunk = try lua.compile("total = (total or 0) + ...; return total", name: "=add")
    for number in 1...3 { try chunk(number) }
    let total: Int = try chunk(4)
    #expect(total == 10)
    let mistake = #expect(throws: LuaError.self) { try lua.compile("x =", name: "=m") }
    #expect(mistake?.kind == .syntax && mistake?.message == "m:1: unexpected symbol near <eof>")
    lua.close()
    #expect(throws: LuaError.self) { try lua.compile("") }
    #expect(throws: LuaError.self) { try chunk(1) }
  }
}

@Suite("A host that loads its file again", .serialized)
struct HostReloadTests {
  @Test(arguments: [LuaLibraries.all, .safe])
  func `replaces handlers, and keeps all when the file has a mistake`(_ libraries: LuaLibraries)
    async throws
  {
    let path = NSTemporaryDirectory() + "moonloop-host-\(UUID().uuidString).lua"
    defer { try? FileManager.default.removeItem(atPath: path) }
    func write(_ text: String) throws {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
    let host = try await LuaHost(
      libraries: libraries, capabilities: libraries == .all ? .all : [.reload])
    try write("function answer() return 'one' end")
    try await host.reload(file: path)
    #expect(try await host.call("answer") == "one")
    try write("function answer() return 'two' end\nerror('halfway', 0)")
    let error = await #expect(throws: LuaError.self) { try await host.reload(file: path) }
    #expect(error?.message.hasSuffix("halfway") ?? false, "\(error?.message ?? "")")
    #expect(try await host.call("answer") == "one")
    try write("function answer() return 'three' end")
    try await host.reload(file: path)
    #expect(try await host.call("answer") == "three")
    let missing = await #expect(throws: LuaError.self) {
      try await host.reload(file: "/nowhere/x.lua")
    }
    #expect(missing?.message.contains("/nowhere/x.lua") ?? false, "\(missing?.message ?? "")")
    await host.shutDown()
  }
}
