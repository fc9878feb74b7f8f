// Configurations from files, and Codable values across a host.

import Foundation
import Moonloop
import Testing

private struct Site: LuaDefaultFields, LuaExactFields, Equatable, Sendable {
  struct Route: Codable, Equatable, Sendable { var path: String, port: Int }
  var name = "none"
  var routes: [Route] = []
}

@Suite struct DecodingTests {
  private func decode(_ text: String) throws -> Site {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).lua")
    try text.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    return try Loop.isolated { loop in
      let lua = try LuaState(on: loop)
      do { return try lua.decode(Site.self, file: file.path) } catch let error as LuaError {
        throw LuaError(
          kind: error.kind,
          message: error.message.replacingOccurrences(of: file.path, with: "config.lua"))
      }
    }
  }

  @Test func `a file is a configuration`() throws {
    let site = try decode("local port = 80 return { routes = { { path = '/', port = port + 1 } } }")
    #expect(site == Site(routes: [Site.Route(path: "/", port: 81)]))
  }

  @Test(arguments: [
    (
      "return {\n  routes = {\n    { path = '/', port = 8 },\n    { path = '/', port =\n 'x' } } }",
      "config.lua:4: routes[2].port: must be an integer, got \"x\""
    ),
    (
      "return {\n  routes = {\n    { path = '/' },\n  },\n}",
      "config.lua:3: routes[1].port: must be an integer, got nothing"
    ),
    ("return {\n  nmae = 'a',\n}", "config.lua:1: unknown field 'nmae'; did you mean 'name'?"),
    ("return 5", "config.lua:1: must be a table, got 5"),
    ("return {", "config.lua:1: unexpected symbol near <eof>"),
    ("error 'no'", "config.lua:1: no"),
  ])
  func `a mismatch is reported with its line`(text: String, message: String) {
    let error = #expect(throws: LuaError.self) { try decode(text) }
    #expect(error?.message == message)
  }

  @Test func `a missing file is reported`() throws {
    try Loop.isolated { loop in
      let lua = try LuaState(on: loop)
      let error = #expect(throws: LuaError.self) { try lua.decode(Site.self, file: "/no/file.lua") }
      #expect(error?.kind == .file)
    }
  }

  /// Closes its state while it is being written.
  private struct Last: Encodable, Sendable {
    let close: @Sendable () -> Void
    func encode(to encoder: any Encoder) throws {
      close()
      var container = encoder.singleValueContainer()
      try container.encode("last")
    }
  }

  /// A state that is handed to code that must not have it.
  private struct Smuggled: @unchecked Sendable {  // what these tests are about
    let lua: LuaState
  }

  @Test func `a value may close the state that it is written to`() async throws {
    let host = try await LuaHost()
    try await host.run("function id(x) return x end function ask() return later() end")
    let smuggled = try await host.withState { _, lua in Smuggled(lua: lua) }
    let last = Last { smuggled.lua.shutDown() }
    let error = await #expect(throws: LuaError.self) {
      let _: String = try await host.call("id", last)
    }
    #expect(error?.kind == .closed)
    let other = try await LuaHost()
    try await other.run("function ask() return later() end")
    let second = try await other.withState { _, lua in Smuggled(lua: lua) }
    try await other.withState { _, lua in
      lua.registerAsync("later") { () async throws -> Last in Last { second.lua.shutDown() } }
    }
    // The call-out under way still ends.
    let value: String = try await other.call("ask")
    #expect(value == "last")
    await #expect(throws: LuaError.self) { let _: String = try await other.call("ask") }
    await other.shutDown()
  }

  @Test func `Codable values cross a host`() async throws {
    let host = try await LuaHost()
    try await host.run("function rename(site, name) site.name = name return site end")
    let site: Site = try await host.call("rename", Site(), "moon")
    #expect(site == Site(name: "moon"))
    try await host.withState { _, lua in
      lua.registerAsync("later") { (site: Site) async throws -> Site in
        await Task.yield()
        return Site(name: site.name + "!")
      }
    }
    try await host.run("function shout(site) return later(site) end")
    let loud: Site = try await host.call("shout", Site(name: "moon"))
    #expect(loud == Site(name: "moon!"))
    // A number that Lua cannot represent is an error in both directions.
    let error = await #expect(throws: LuaError.self) {
      let _: Site = try await host.call("shout", [UInt64.max])
    }
    #expect(error?.message == "[1]: \(UInt64.max) is too large for an integer of Lua")
    try await host.withState { _, lua in
      lua.registerAsync("huge") { () async throws -> [UInt64] in [UInt64.max] }
    }
    try await host.run("function ask() local _, message = huge() return message end")
    let message: String = try await host.call("ask")
    #expect(message == "[1]: \(UInt64.max) is too large for an integer of Lua")
    await host.shutDown()
  }
}
