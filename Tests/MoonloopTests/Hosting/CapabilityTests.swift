// What a host's scripts may reach: grants, safe libraries, and attempts to get around them.

import Foundation
import Moonloop
import MoonloopCore
import TestSupport
import Testing

@Suite struct CapabilityTests {
  /// Runs a chunk in its own state, then the loop; returns the chunk's result as text.
  private func text(
    _ chunk: String, _ capabilities: LuaCapabilities = [], _ libraries: LuaLibraries = .safe
  ) throws -> String {
    try Loop.isolated { loop in
      let lua = try LuaState(on: loop, libraries: libraries, capabilities: capabilities)
      defer { lua.shutDown() }
      let start = "local ml = require 'moonloop' local loop = ml.current() "
      return try lua.evaluate(
        start + "local _, result = pcall(function() \(chunk) end) return tostring(result)")
    }
  }

  private static let uses: [(LuaCapabilities, String, String)] = [
    (.timers, ".timers", "return loop:after(1, print)"),
    (.timers, ".timers", "return ml.timer { every = 1, print }"),
    (.timers, ".timers", "return loop:perform_after(1, print)"),
    (.net, ".net", "return ml.net.listen { host = '127.0.0.1', port = 0, print }"),
    (.net, ".net", "return ml.http.get"),
    (.files, ".files", "return ml.fs.read"),
    (.processes, ".processes", "return ml.process.spawn"),
    (.workers, ".workers", "return ml.worker { source = '' }"),
    (.signals, ".signals", "return loop:signal { 'usr1', print }"),
    (.watches, ".watches", "return loop:watch { '/tmp', print }"),
    (.namedPorts, ".namedPorts", "return ml.port.listen"),
    (.descriptors, ".descriptors", "return loop:fd { fd = 0, read = print }"),
    (.descriptors, ".descriptors", "return ml.stream"),
    (.terminal, ".terminal", "return ml.tty.open"),
    (.reload, ".reload", "return ml.reload.status"),
    (.runs, ".runs", "return loop:run { timeout = 0 }"),
    (
      .runs, ".runs",
      "local p = ml.port { print } table.sort({ 1, 2 }, function() "
        + "return p:request(1, { timeout = 0 }) end)"
    ),
    (.inspection, ".inspection", "return loop:dump()"),
    (.limits, ".limits", "return ml.limit { callout = 100 }"),
  ]

  @Test(arguments: uses)
  func `what is not granted says so, and what is works`(
    capability: LuaCapabilities, name: String, use: String
  ) throws {
    let refused = try text(use, .all.subtracting(capability))
    let isCalled = !use.hasPrefix("return ml.worker") && !use.hasPrefix("return ml.stream")
    #expect(
      refused.contains("this script may not use that; its host can grant \(name)")
        || (!isCalled && refused.hasPrefix("function")), "\(refused)")
    #expect(try text(use, [capability]).contains("may not") == false)
  }

  @Test(arguments: [
    "return ml.port { name = 'p' }", "return ml.channel(1)", "return loop:task(function() end)",
    "return loop:source { print }", "return loop:observer { print }", "return ml.now() >= 0",
    "return loop:perform(print)", "return os.time() > 0 and os.date() ~= ''",
    "return require('moonloop.json').encode { 1 }", "return ml.semaphore(1)",
    "return debug.traceback('x')", "return load('return 6 * 7')()",
    "return collectgarbage('count') > 0",
  ])
  func `every script has what stays inside`(use: String) throws {
    let result = try text(use)
    #expect(!result.contains("may not") && !result.contains("attempt"), "\(result)")
  }

  @Test(arguments: [
    "return io", "return os.execute", "return os.getenv", "return os.exit", "return os.remove",
    "return dofile", "return loadfile", "return string.dump", "return debug.getregistry",
    "return debug.sethook", "return debug.getmetatable", "return package.loadlib",
    "return package.searchpath", "return package.path", "return package.cpath",
    "return package.loaded.io", "return package.loaded['moonloop.posix']",
    "return package.loaded['moonloop.files']", "return package.searchers[2]",
  ])
  func `what reaches outside is not there`(use: String) throws {
    #expect(try text(use, .all) == "nil")
  }

  @Test(arguments: [
    ("return require 'moonloop.posix'", "not found"),
    ("return require 'moonloop.files'", "not found"),
    ("return require 'moonloop.compat.uv'", "not found"),
    ("return require 'moonloop.console.client'", "not found"),
    ("return require 'moonloop.safe'", "not found"),
    ("return require 'moonloop.fs'", "not found"),
    ("return require 'moonloop.reach'", "not found"),
    ("return require 'moonloop.http'", "not found"),
    ("return require 'io'", "not found"), ("return require 'socket'", "not found"),
    ("package.path = '/tmp/?.lua' return require 'x'", "not found"),
    ("return load('\\27Lua')", "nil"),
    ("return getmetatable(loop)", "loop"),
    ("return collectgarbage 'stop'", "may not use 'stop'"),
    ("ml.net.connect = print", "nil"),
    ("return tostring({})", "table: 1"),
    ("return ('%s %5s'):format(print, {})", "function: 1 table: 2"),
    ("return ('%-5p'):format({})", "may not use '%p'"),
    ("return tostring(setmetatable({}, { __name = 'mine' }))", "mine: 1"),
    ("return tostring(setmetatable({}, { __tostring = function() return 'x' end }))", "x"),
    ("return #{ math.randomseed() }", "0"),
    ("return setmetatable({}, { __gc = print })", "may not use '__gc'"),
    ("return getmetatable('').__index", "nil"), ("return ('').dump", "nil"),
    ("string.upper = string.lower return ('x'):upper()", "X"),
    ("function string.twice(s) return s .. s end return ('x'):twice()", "xx"),
    ("return rawget(ml.net, 'connect')", "nil"),
    ("return getmetatable(ml.net).__index(ml.net, 'connect')", "its host can grant .net"),
    ("setmetatable(ml.net, nil) return ml.net.connect", "nil"),
    ("package.loaded.moonloop = nil return require('moonloop').net", "not found"),
  ])
  func `there is no way around`(attempt: String, result: String) throws {
    let found = try text(attempt)
    #expect(found.contains(result), "\(found)")
  }

  /// Compared byte for byte (S3 of the promises).
  @Test func `what a script without grants can reach is a list`() throws {
    let found = try Loop.isolated { loop in
      let lua = try LuaState(on: loop, libraries: .safe, capabilities: [])
      defer { lua.shutDown() }
      return try lua.reach()
    }
    let list = RepositoryFile(path: "Tests/Data/safe-reach.txt")
    if ProcessInfo.processInfo.environment["MOONLOOP_WRITE_REACH"] != nil {
      try found.write(toFile: list.full, atomically: true, encoding: .utf8)
    }
    #expect(list.text == found)
  }

  @Test func `no text of a handle shows an address`() throws {
    let use = """
      local all = { loop, loop:source { print }, loop:observer { on = "exit", print },
        loop:after(1, print), ml.port { print }, ml.channel(1), loop:task(function() end),
        ml.semaphore(1), coroutine.create(print), print, ml, ml.net, io, os }
      local texts = {}
      for place, value in pairs(all) do texts[#texts + 1] = tostring(value) end
      return table.concat(texts, " ")
      """
    let shown = try text(use, .all)
    #expect(shown.contains("loop") && !shown.contains("0x"), "\(shown)")
  }

  @Test func `files are granted without the calls of the system behind them`() throws {
    let use = """
      local name = "/tmp/moonloop-grant-" .. math.random(0)
      local result
      loop:task(function()
        ml.fs.write(name, "kept")
        result = ml.fs.read(name)
        ml.fs.remove(name)
      end)
      loop:run()
      return result .. tostring(package.loaded["moonloop.files"])
      """
    #expect(try text(use, [.files, .runs]) == "keptnil")
  }

  // MARK: Hosts

  private final class Trace: Sendable {
    private let lines = Guarded<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  @Test func `nothing that a script does ends the runs of its host`() async throws {
    let trace = Trace()
    let host = try await LuaHost(
      libraries: .safe, capabilities: [.timers],
      limits: LuaLimits(instructions: 20_000),
      reports: LuaHost.Reports(
        onError: { _, _ in
          trace.add("error")
          return .continue
        },
        onCondemned: { trace.add("condemned") }))
    try await host.run(
      """
      local ml = require "moonloop"
      local loop = ml.current()
      function stop() return tostring(loop:stop("mine")) end
      function spin() loop:perform(function() while true do end end) end
      function ping() return "pong" end
      """)
    #expect(try await host.call("stop") == "false")
    while !trace.all.contains("condemned") { try? await host.call("spin") }
    #expect(trace.all.filter { $0 == "condemned" }.count == 1)
    try await host.run("x = 1")  // The host goes on, and may end them, or load others.
    await host.shutDown()
  }

  @Test func `handles are counted`() throws {
    try Loop.isolated { loop in
      let lua = try LuaState(on: loop, limits: LuaLimits(handles: 10))
      defer { lua.shutDown() }
      let made: Int = try lua.evaluate(
        """
        local loop, count = require("moonloop").current(), 0
        while count < 100 and pcall(loop.source, loop, { print }) do count = count + 1 end
        return count
        """)
      #expect(made == 10)
      lua.setLimits(LuaLimits(handles: 12))
      #expect(
        try lua.evaluate(
          "local l = require('moonloop').current() return pcall(l.source, l, { print })"))
    }
  }
}
