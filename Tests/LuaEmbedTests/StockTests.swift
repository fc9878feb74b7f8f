// Inside a call of the host Lua works as usual: hooks, coroutines, the collector, error values,
// `<close>`, and Debian's C modules (lua-cjson, lua-lpeg; Debian
// builds lua-posix for Lua 5.1 to 5.3 only).

import LuaEmbed
import Testing

@Suite("Lua inside the host")
struct StockTests {
  @Test(
    "behaves as stock Lua",
    arguments: [
      (
        "hooks count lines",
        """
        local n = 0 debug.sethook(function() n = n + 1 end, 'l')
        local a = 1
        a = 2
        debug.sethook() return n >= 2
        """
      ),
      (
        "hooks of a coroutine",
        """
        local n = 0 local co = coroutine.create(function() for i = 1, 10 do end end)
        debug.sethook(co, function() n = n + 1 end, '', 1) coroutine.resume(co) return n > 5
        """
      ),
      (
        "coroutines nest",
        """
        local function f(n) return n == 0 and 'end' or coroutine.wrap(f)(n - 1) end
        return f(50) == 'end'
        """
      ),
      (
        "yield across pcall",
        """
        local function f() return pcall(function() return coroutine.yield(1) + 1 end) end
        local co = coroutine.wrap(f) co() local ok, v = co(41) return ok and v == 42
        """
      ),
      ("errors of pcall", "local ok, e = pcall(error, nil) return ok == false and e == nil"),
      (
        "pcall without arguments",
        "local ok, e = pcall(pcall) return ok == false and e:find 'bad argument #1' ~= nil"
      ),
      ("error objects", "local t = {} local ok, e = pcall(error, t) return e == t"),
      (
        "to-be-closed",
        """
        local log = {} local mt = {__close = function(_, e) log[1] = tostring(e) end}
        do local a <close> = setmetatable({}, mt) end return log[1] == 'nil'
        """
      ),
      (
        "the collector",
        "local w = setmetatable({{}}, {__mode = 'v'}) collectgarbage() return w[1] == nil"
      ),
      (
        "finalizers",
        """
        local done setmetatable({}, {__gc = function() done = true end})
        collectgarbage() collectgarbage() return done
        """
      ),
      (
        "the running coroutine",
        """
        local co, is_main = coroutine.running()
        return is_main and type(co) == 'thread' and coroutine.status(co) == 'running'
          and not coroutine.isyieldable() and not coroutine.isyieldable(co)
        """
      ),
      (
        "deep recursion",
        "local function f(n) return n == 0 and 0 or 1 + f(n - 1) end return f(10000) == 10000"
      ),
      (
        "stack overflow",
        """
        local function f() return 1 + f() end local ok, e = pcall(f)
        return not ok and e:find 'stack overflow' ~= nil
        """
      ),
      (
        "xpcall with traceback",
        "local ok, e = xpcall(error, debug.traceback, 'x') return e:find 'stack traceback' ~= nil"
      ),
      (
        "goto and integer division",
        "local i = 0 ::top:: i = i + 1 if i < 5 then goto top end return i // 2 == 2"
      ),
      ("cjson", "local c = require 'cjson' return c.decode(c.encode{a = {1, 2}}).a[2] == 2"),
      (
        "cjson errors",
        """
        local c = require 'cjson' local ok, e = pcall(c.decode, '{')
        return not ok and e:find 'Expected' ~= nil
        """
      ),
      ("lpeg", "local l = require 'lpeg' return l.match(l.C(l.R'az'^1), 'moon1') == 'moon'"),
      (
        "lpeg calls back",
        """
        local l = require 'lpeg' local function twice(s) return s .. s end
        return l.match(l.P'a' / twice, 'a') == 'aa'
        """
      ),
      (
        "cqueues' errno",
        """
        local e = require '_cqueues.errno'
        return e.strerror(e.ENOENT) == 'No such file or directory'
        """
      ),
    ])
  func stock(_ name: String, _ script: String) throws {
    let lua = try LuaState(limits: LuaLimits(memory: 512 << 20, callout: .seconds(10)))
    #expect(try lua.evaluate(script) == true)
    lua.close()
  }

  @Test("does not run what is no text")
  func loading() throws {
    let lua = try LuaState()
    let binary = #expect(throws: LuaError.self) { try lua.run("\u{1b}Lua") }
    #expect(binary?.kind == .syntax)
    #expect(binary?.message == "attempt to load a binary chunk (mode is 't')")
    let missing = #expect(throws: LuaError.self) { try lua.run(file: "/nowhere/x.lua") }
    #expect(missing?.kind == .file)
    #expect(missing?.message == "cannot open /nowhere/x.lua: No such file or directory")
    let folder = #expect(throws: LuaError.self) { try lua.run(file: "/tmp") }
    #expect(folder?.kind == .file)
    let mistake = #expect(throws: LuaError.self) { try lua.run("x =", name: "@a.lua") }
    #expect(mistake?.message == "a.lua:1: unexpected symbol near <eof>")
  }

  @Test("has modules as data and as text")
  func modules() throws {
    let lua = try LuaState()
    let answer: LuaRawFunction = { L, host in
      Unmanaged<LuaState>.fromOpaque(host!).takeUnretainedValue().stack.push(42)
      return 1
    }
    lua.setHost(Unmanaged.passUnretained(lua).toOpaque())
    lua.preload(LuaModule("deep", [.function("answer", answer)]))
    #expect(try lua.evaluate("return require('deep').answer()") == 42)
    lua.preload(by: { L, _ in
      let stack = LuaStack(L: L!)
      guard stack.string(2) == "moon.text" else { return 0 }
      let text: StaticString = "local name = ... return {name = name, f = function() error 'x' end}"
      text.withUTF8Buffer { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
          stack.push(loaderOf: $0, chunkName: "@moon/text.lua")
        }
      }
      return 1
    })
    #expect(try lua.evaluate("return require('moon.text').name") == "moon.text")
    let error = #expect(throws: LuaError.self) { try lua.run("require('moon.text').f()") }
    #expect(error?.message == "moon/text.lua:1: x")
  }

  @Test("is reported within bounds")
  func reporter() throws {
    var pipe: [Int32] = [0, 0]
    #expect(makePipe(&pipe))
    var time: UInt64 = 1
    let reporter = LuaReporter(descriptor: pipe[1], linesPerSecond: 3, now: { time })
    reporter.report("one\u{1b}[31m")
    reporter.report("two\nthree\nfour")
    reporter.report("five")
    #expect(reporter.leftOut == 2)
    time += 2_000_000_000
    reporter.report("six")
    #expect(readPipe(pipe) == "one?[31m\ntwo\nthree\n(2 lines left out)\nsix\n")
    let closed = LuaReporter(descriptor: 99_999)
    closed.report("nobody reads this")
    #expect(LuaText.clean(String(repeating: "x", count: 5000)).utf8.count == 4099)
  }
}
