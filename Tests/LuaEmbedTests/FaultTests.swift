// Each allocation of Lua fails in turn, once and for good: the error is a value, nothing leaks, and
// the state goes on.

import LuaEmbed
import Testing

private final class Token {
  nonisolated(unsafe) static var alive = 0  // the suite is serialized
  init() { Self.alive += 1 }
  deinit { Self.alive -= 1 }
  func touch() {}
}

/// One way into Lua: what is prepared before any allocation fails, and what runs then.
private struct Entry: CustomTestStringConvertible, Sendable {
  let testDescription: String
  var prepare = ""
  let run: @Sendable (Fixture) throws -> Void

  /// A handler with this body is called.
  static func handler(_ name: String, _ body: String, raises: Bool = false) -> Entry {
    Entry(testDescription: name, prepare: "handler = function(...) \(body) end") { f in
      let outcome = f.lua.start(push: { stack in
        stack.pushGlobal("handler")
        stack.push("argument")
        return 1
      })
      do { try f.settle(outcome) } catch let error as LuaError
        where raises && error.kind == .runtime
      {}
    }
  }
}

private final class Fixture {
  let lua: LuaState

  init(_ script: String) throws {
    lua = try LuaState()
    lua.register(Token.self, as: "Token", .method("touch") { (t: Token) -> Void in t.touch() })
    lua.setHost(Unmanaged.passUnretained(lua).toOpaque())
    lua.register("call") { (f: LuaFunction) throws -> Void in try f() }
    lua.register("again") { [unowned lua] (text: String) throws -> Void in try lua.run(text) }
    let stack = lua.stack
    stack.push(function: { _, host in
      let lua = Unmanaged<LuaState>.fromOpaque(host!).takeUnretainedValue()
      lua.set("made", Token())
      lua.stack.pushGlobal("made")
      return 1
    })
    stack.popGlobal("make")
    stack.push(function: { _, _ in LuaStatus.wait(handing: 0) })
    stack.popGlobal("wait")
    try lua.run(script)
  }

  /// Resumes what waits until it has ended; throws its error.
  func settle(_ first: DispatchOutcome) throws {
    var outcome = first
    while true {
      switch outcome {
      case .returned, .nested: return
      case .suspended(let task):
        outcome = lua.resume(task) { stack in
          stack.push("value")
          return 1
        }
      case .failed(let task), .stopped(let task): throw lua.takeError(of: task)
      }
    }
  }
}

private let entries = [
  Entry(
    testDescription: "a chunk of everything",
    run: { f in
      try f.lua.run(
        """
        local t = {}
        for i = 1, 20 do t[i] = {name = 'n' .. i, f = function() return t[i].name end} end
        local co = coroutine.wrap(function()
          for i = 1, 3 do coroutine.yield(('x'):rep(i * 40)) end
        end)
        co() co()
        local closing = {__close = function() local s = ('y'):rep(100) .. #t end}
        local x <close> = setmetatable({}, closing)
        table.sort(t, function(a, b) return a.name < b.name end)
        pcall(error, {table.concat({'a', 'b', 'c'}, ('-'):rep(50))})
        make():touch()
        return ('%s'):format(('abc'):gsub('%w', '%0%0'))
        """)
    }),
  Entry(
    testDescription: "evaluate",
    run: { f in _ = try f.lua.evaluate("return ('x'):rep(99)") as String }),
  Entry(
    testDescription: "a function of Lua with arguments",
    prepare: "function f(...) return {...} end",
    run: { f in
      guard let function = f.lua.globals[function: "f"] else { return }
      try function("one", [1, 2, 3], ["a": "b"], 2.5)
    }),
  Entry(
    testDescription: "a registered class and its method", prepare: "t = make()",
    run: { f in
      try f.lua.run("t:touch() make():touch() pcall(t.touch, 1) pcall(function() t.x() end)")
    }
  ),
  Entry(
    testDescription: "a wrong argument",
    run: { f in try f.lua.run("assert(not pcall(call, 1)) assert(not pcall(again))") }),
  Entry(
    testDescription: "calls in one another",
    run: { f in
      try f.lua.run("call(function() again [[call(function() again 'return {}' end)]] end)")
    }
  ),
  Entry(
    testDescription: "errors of any type",
    run: { f in
      for value in ["'text'", "{}", "{message = 'm'}", "nil", "42", "print"] {
        do { try f.lua.run("error(\(value))") } catch let error as LuaError
          where error.kind == .runtime
        {}
      }
      let object = "setmetatable({}, {__tostring = function() return ('x'):rep(50) end})"
      do { try f.lua.run("error(\(object))") } catch let error as LuaError
        where error.kind == .runtime
      {}
    }),
  Entry(
    testDescription: "an error in a finalizer",
    run: { f in
      f.lua.onFinalizerError = { _ in }
      try f.lua.run("setmetatable({}, {__gc = function() error({}) end}) collectgarbage()")
    }),
  Entry(
    testDescription: "loading and requiring",
    run: { f in
      try f.lua.run(
        """
        assert(load('return ' .. ('1 + '):rep(300) .. '1'))()
        local n = 0
        load(function() n = n + 1 return n < 30 and 'local x' .. n .. ' = {}\\n' or nil end)
        load('x =')
        package.preload.p = function() return {} end
        require 'p'
        """)
    }),
  Entry(
    testDescription: "patterns and tables",
    run: { f in
      try f.lua.run(
        """
        for w in ('one two three'):gmatch('%a+') do local _ = w:upper() end
        local s = ('a b '):rep(60):gsub('%a', {a = 'x', b = 'y'})
        s = s:gsub('x', function(x) return x .. 1 end)
        pcall(string.rep, 'x', 1 << 40)
        local t = table.pack(s:byte(1, 50))
        table.move(t, 1, 40, 20, {}) table.insert(t, 1, {}) table.remove(t, 3)
        table.concat({s, s, s}, ('-'):rep(100))
        """)
    }),
  Entry(
    testDescription: "coroutines",
    run: { f in
      try f.lua.run(
        """
        local function gen(n) return coroutine.wrap(function()
          local x <close> = setmetatable({}, {__close = function() return {} end})
          for i = 1, n do coroutine.yield(i, ('x'):rep(i)) end error({}) end)
        end
        for i = 1, 10 do local g = gen(i) for _ = 1, i do g() end pcall(g) end
        local co = coroutine.create(gen) coroutine.resume(co, 3) coroutine.close(co)
        xpcall(function() error 'x' end, debug.traceback)
        """)
    }),
  .handler("a handler that returns", "local t = {...} t.x = 'y' .. t[1]"),
  .handler("a handler that waits", "local t = {wait()} t[2] = pcall(wait) t[3] = {wait()}"),
  .handler(
    "a handler that fails", "local x <close> = setmetatable({}, {__close = error}) error({...})",
    raises: true),
  .handler(
    "a handler that is closed while it waits",
    "local x <close> = setmetatable({}, {__close = function() return {('x'):rep(30)} end}) wait()"),
  Entry(
    testDescription: "a task that ends before its time",
    prepare: """
      handler = function()
        local closing = {__close = function() local t = {('x'):rep(99)} end}
        local x <close> = setmetatable({}, closing)
        wait()
      end
      """,
    run: { f in
      let outcome = f.lua.start(push: { stack in
        stack.pushGlobal("handler")
        return 0
      })
      guard case .suspended(let task) = outcome else { return try f.settle(outcome) }
      if let error = f.lua.end(task) { throw error }
    }),
]

/// The injected failures for one entry, in states that live through many of them.
private struct Run {
  let entry: Entry
  let forGood: Bool
  let mode: String
  var n: UInt64 = 0
  private var fixture: Fixture?
  private let tokensBefore = Token.alive

  init(entry: Entry, forGood: Bool, mode: String) {
    (self.entry, self.forGood, self.mode) = (entry, forGood, mode)
  }

  /// Makes the next allocation fail; true when none was left to fail.
  mutating func step() throws -> Bool {
    n += 1
    let f = try fixture ?? Fixture("collectgarbage '\(mode)'")
    fixture = f
    try f.lua.run(entry.prepare)
    guard f.lua.failAllocation(n, forGood: forGood) else { return true }  // a release build
    // Lua tries again after a collection, and scripts catch errors, so a failure need not show.
    do { try entry.run(f) } catch let error as LuaError {
      #expect(error.kind == .memoryLimit || error.kind == .syntax, "\(n): \(error)")
    }
    let isOver = f.lua.allocationsUntilFailure > 1
    f.lua.failAllocation(0)
    #expect(f.lua.tasksInUse == 0, "\(n)")
    #expect(try f.lua.evaluate("return 1 + 1") == 2)
    if testScale > 1 || n % 20 == 0 { try end() }
    return isOver
  }

  /// Ends the state, which must leave nothing behind.
  mutating func end() throws {
    fixture?.lua.collect()
    fixture?.lua.close()
    fixture = nil
    #expect(Token.alive == tokensBefore)
  }
}

@Suite("A failing allocation", .serialized)
struct FaultTests {
  nonisolated(unsafe) private static var injections = 0  // the suite is serialized

  @Test("is an error of the call it happens in, once and for good", arguments: entries)
  fileprivate func each(_ entry: Entry) throws {
    for forGood in [false, true] {
      for mode in ["incremental", "generational"] {
        var run = Run(entry: entry, forGood: forGood, mode: mode)
        while try !run.step() {}
        try run.end()
        #expect(run.n > 1, "no allocation failed")
        Self.injections += Int(run.n)
      }
    }
  }

  @Test("was tried often enough")
  func count() throws {
    guard try LuaState().failAllocation(0) else { return }
    print("failing allocations: \(Self.injections)")
    #expect(Self.injections == 0 || Self.injections > 2000)
  }
}
