// A large battery of scripts that loop or recurse forever: all are stopped, none brings us down.

import Glibc
import LuaEmbed
import TestSupport
import Testing

private struct Runaway: Sendable, CustomTestStringConvertible {
  let name: String
  let script: String
  var testDescription: String { name }

  static func all() throws -> [Runaway] {
    try scriptText("StandardLibrary/runaways.txt").split(separator: "\n---- ").dropFirst().map {
      part in
      let cut = part.firstIndex(of: "\n") ?? part.endIndex
      return Runaway(name: String(part[..<cut]), script: String(part[cut...]))
    }
  }
}

/// The processor time of this thread.
private func processorTime() -> Duration {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

@Suite("A runaway script", .serialized)
struct RunawayTests {
  @Test("is stopped in any of its shapes, soon, and leaves a state that works")
  func shapes() throws {
    let shapes = try Runaway.all()
    #expect(shapes.count >= 70)
    let limit = Duration.milliseconds(10)
    var worst: (over: Duration, name: String) = (.zero, "")
    for shape in shapes {
      let lua = try LuaState(limits: LuaLimits(callout: limit))
      let start = processorTime()
      let error = #expect(throws: LuaError.self, "\(shape.name)") { try lua.run(shape.script) }
      let over = processorTime() - start - limit
      if over > worst.over { worst = (over, shape.name) }
      #expect(error?.kind == .timeLimit, "\(shape.name): \(error?.message ?? "")")
      #expect(try lua.evaluate("return 1 + 1") == 2, "\(shape.name)")
      #expect(lua.tasksInUse == 0, "\(shape.name)")
      lua.onFinalizerError = { _ in }
      lua.close()
    }
    // Processor time, so that other work on the machine does not count.
    let bound = Duration.milliseconds(getenv("MOONLOOP_SANITIZED") == nil ? 100 : 500)
    #expect(worst.over < bound, "\(worst.name)")
  }

  /// Each must end in an error that the script can catch, well before the stack overflows.
  private static let recursions = [
    ("functions", "local function f() return 1 + f() end f()"),
    ("gsub", "local function f() return (('x'):gsub('x', f)) end f()"),
    (
      "gmatch and gsub",
      "local function f() for _ in ('x'):gmatch '.' do ('x'):gsub('.', f) end end f()"
    ),
    ("sort", "local function f() table.sort({1, 2, 3}, function() f() return false end) end f()"),
    (
      "coroutines",
      "local function f() return assert(coroutine.resume(coroutine.create(f))) end f()"
    ),
    ("wrapped coroutines", "local function f() return coroutine.wrap(f)() end f()"),
    ("pcall", "local function f() assert(pcall(f)) end f()"),
    ("xpcall", "local function f() assert(xpcall(f, function(m) return m end)) end f()"),
    (
      "message handlers",
      "local function f() error 'x' end local function h() f() end assert(xpcall(f, h))"
    ),
    (
      "index",
      "local t t = setmetatable({}, {__index = function(_, k) return t[k .. 'x'] end}) return t.x"
    ),
    (
      "index of C",
      "local m = {} local t = setmetatable({}, m) m.__index = function() return t.x end return t.x"
    ),
    (
      "tostring",
      "local t = setmetatable({}, {__tostring = function(t) return tostring(t) end}) tostring(t)"
    ),
    (
      "concat",
      "local t t = setmetatable({}, {__concat = function() return t .. 'x' end}) return t .. 'x'"
    ),
    ("close", "local function f() local x <close> = setmetatable({}, {__close = f}) end f()"),
    ("load", "local function f() return assert(load(function() f() end)) end f()"),
    (
      "require",
      """
      local n = 0
      local function f() n = n + 1 package.preload['m' .. n] = f require('m' .. n) end f()
      """
    ),
    ("the parser", "assert(load(('('):rep(100000)))"),
    ("patterns", "('x'):rep(300000):find(('x?'):rep(300000))"),
  ]

  private static func recursionFailures() -> [String] {
    var failures: [String] = []
    for (name, script) in recursions {
      do {
        let lua = try LuaState()
        defer { lua.close() }
        let ended: Bool = try lua.evaluate(
          "local ok, e = pcall(function() \(script) end) return not ok and e ~= nil")
        if !ended { failures.append("\(name): no error") }
        if try lua.evaluate("return 1 + 1") != 2 { failures.append("\(name): the state is broken") }
      } catch { failures.append("\(name): \(error)") }
    }
    return failures
  }

  @Test("that recurses ends in an error, also with a stack of 512 kB")
  func recursion() throws {
    #expect(Self.recursionFailures() == [])
    nonisolated(unsafe) var failures: [String] = []  // read after the thread was joined
    onThread(stackBytes: stackBytes) { failures = Self.recursionFailures() }
    #expect(failures == [])
  }

  /// Sanitizers make frames larger than they are.
  private var stackBytes: Int { getenv("MOONLOOP_SANITIZED") == nil ? 512 << 10 : 4 << 20 }

  @Test("that nests coroutine.close 100,000 deep gets an error")
  func closeChain() throws {
    let lua = try LuaState()
    try lua.run(
      """
      local made = {}
      local function chain(inner)
        local co = coroutine.create(function()
          local x <close> = setmetatable({}, {__close = function()
            if inner then assert(coroutine.close(inner)) end
          end})
          coroutine.yield()
        end)
        coroutine.resume(co)
        return co
      end
      local co
      for i = 1, 100000 do co = chain(co) end
      local ok, e = coroutine.close(co)
      assert(not ok and e:find('too many coroutines closed in one another', 1, true), e)
      """)
    lua.close()
  }

  @Test("that goes on with an iterator of gmatch after 'pattern too complex' gets an error again")
  func iterator() throws {
    let lua = try LuaState()
    try lua.run(
      """
      local subject = ('a'):rep(300000)
      local f = subject:gmatch('(.-)' .. ('a?'):rep(220) .. 'b')
      for i = 1, 3 do
        local ok, e = pcall(f)
        assert(ok and e == nil or e:find('too complex', 1, true), e)
      end
      local g = ('x'):rep(1000):gmatch(('x?'):rep(1000) .. 'y')
      for i = 1, 100 do
        local ok, e = pcall(g)
        assert(not ok and e:find('too complex', 1, true), e)
        collectgarbage()
      end
      """)
    lua.close()
  }
}
