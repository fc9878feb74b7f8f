// Handlers on pooled coroutines: they return, wait or fail, and their coroutines come back.

import LuaEmbed
import Testing

/// A handle with a handler, as the loop has them, and a host function that waits.
private struct Fixture {
  let lua: LuaState
  let ref: Int32

  init(_ handler: String, limits: LuaLimits = LuaLimits()) throws {
    lua = try LuaState(limits: limits)
    lua.setHost(Unmanaged.passUnretained(lua).toOpaque())
    let stack = lua.stack
    stack.push(function: { L, host in
      let lua = Unmanaged<LuaState>.fromOpaque(host!).takeUnretainedValue()
      if let obstacle = lua.waitObstacle(L!) {
        lua.stack.push("cannot wait here: \(obstacle)")
        return LuaStatus.raise
      }
      return LuaStatus.wait(handing: 0)
    })
    stack.popGlobal("wait")
    try lua.run("log = {} function say(...) log[#log + 1] = table.concat({...}, ' ') end")
    try lua.run("handler = " + handler)
    _ = lua.makeHandleKind("timer", slots: 1, []).push(stack.L)
    stack.pushGlobal("handler")
    stack.popSlot(1, of: -2)
    ref = stack.popRef()
  }

  var log: String {
    get throws { try lua.evaluate("local l = table.concat(log, ';') log = {} return l") }
  }
}

@Suite("A handler")
struct TaskTests {
  @Test("that returns costs no coroutine")
  func returns() throws {
    let f = try Fixture("function(t, n) say(type(t), tostring(n)) end")
    for _ in 0..<3 {
      guard case .returned = f.lua.door.dispatch(ref: f.ref, slot: 1) else { return }
    }
    _ = f.lua.dispatch(ref: f.ref, slot: 1) { stack in
      stack.push("word")
      return 1
    }
    #expect(try f.log == "userdata nil;userdata nil;userdata nil;userdata word")
    #expect(f.lua.tasksInUse == 0)
  }

  @Test("that is held with its handle is called the same, and can be held again")
  func held() throws {
    let f = try Fixture("function(t, n) say(type(t), tostring(n)) end")
    let stack = f.lua.stack
    for turn in 1...3 {
      stack.push(ref: f.ref)
      let held = stack.hold(-1)
      stack.pushSlot(1, of: -1)
      #expect(stack.type(-1) == .nil, "the function is held, and not by the handle as well")
      stack.pop(2)
      _ = f.lua.door.dispatch(held: held, integer: Int64(turn))
      stack.pushUnheld(held)
      stack.pop()
      guard case .returned = f.lua.door.dispatch(ref: f.ref, slot: 1) else { return }
    }
    #expect(
      try f.log
        == "userdata 1;userdata nil;userdata 2;userdata nil;userdata 3;userdata nil")
    #expect(stack.count == 0)
  }

  @Test("that waits goes on with what it is given")
  func waits() throws {
    let f = try Fixture("function() say('a', wait()) say('b', wait()) end")
    guard case .suspended(let task) = f.lua.door.dispatch(ref: f.ref, slot: 1) else {
      return #expect(Bool(false))
    }
    #expect(f.lua.isSuspended(task))
    let second = f.lua.resume(task) { stack in
      stack.push("x")
      stack.push("y")
      return 2
    }
    guard case .suspended(let again) = second else { return #expect(Bool(false)) }
    #expect(again == task)
    guard case .returned = f.lua.resume(task, push: { _ in 0 }) else { return #expect(Bool(false)) }
    #expect(!f.lua.isSuspended(task))
    #expect(try f.log == "a x y;b")
    #expect(f.lua.tasksInUse == 0)
  }

  @Test("that waits can be given an error, with the place of the wait in its traceback")
  func raising() throws {
    let f = try Fixture("function()\n say(select(2, pcall(wait)))\n wait()\nend")
    guard case .suspended(let task) = f.lua.door.dispatch(ref: f.ref, slot: 1) else {
      return #expect(Bool(false))
    }
    _ = f.lua.resume(task, raising: { $0.push("cancelled") })
    #expect(try f.log == "cancelled")
    let outcome = f.lua.resume(task, raising: { $0.push("cancelled again") })
    guard case .failed(let failed) = outcome else { return #expect(Bool(false)) }
    let error = f.lua.takeError(of: failed)
    #expect(error.message == "cancelled again")
    #expect(error.traceback.map(\.line) == [0, 3])
    #expect(f.lua.tasksInUse == 0)
  }

  @Test("that is ended while it waits closes its variables")
  func ended() throws {
    let f = try Fixture(
      """
      function()
        local x <close> = setmetatable({}, {__close = function() say 'closed' end})
        local y <close> = setmetatable({}, {__close = function() error 'no' end})
        wait()
      end
      """)
    guard case .suspended(let task) = f.lua.door.dispatch(ref: f.ref, slot: 1) else {
      return #expect(Bool(false))
    }
    #expect(f.lua.end(task)?.message == "chunk:3: no")
    #expect(try f.log == "closed")
    #expect(f.lua.tasksInUse == 0)
  }

  @Test(
    "says why it cannot wait",
    arguments: [
      ("table.sort({1, 2}, wait)", "inside the comparator of table.sort"),
      ("('x'):gsub('x', wait)", "inside the replacement function of string.gsub"),
      (
        "tostring(setmetatable({}, {__tostring = wait}))",
        "inside __tostring, called by tostring"
      ),
      ("package.preload.m = wait require 'm'", "inside a module that require loads"),
      ("coroutine.wrap(wait)()", "inside a coroutine of the script's own"),
      ("load(wait)", "inside the reader of load"),
    ])
  func obstacle(_ script: String, _ words: String) throws {
    let f = try Fixture("function()\n\(script)\nend")
    let outcome = f.lua.door.dispatch(ref: f.ref, slot: 1)
    if script.hasPrefix("load") {
      guard case .returned = outcome else { return #expect(Bool(false)) }
      return
    }
    guard case .failed(let task) = outcome else { return #expect(Bool(false)) }
    #expect(f.lua.takeError(of: task).message.hasSuffix("cannot wait here: \(words)"))
  }

  @Test("called by the host for its result cannot wait")
  func synchronous() throws {
    let f = try Fixture("function() end")
    let error = #expect(throws: LuaError.self) { try f.lua.run("wait()") }
    #expect(
      error?.message == "cannot wait here: inside a function whose result the host needs at once")
    let plain = #expect(throws: LuaError.self) { try f.lua.run("coroutine.yield()") }
    #expect(plain?.message == "attempt to yield from outside a coroutine")
    #expect(f.lua.tasksInUse == 0)
  }

  /// A controller of cqueues passes on what a coroutine yields.
  @Test("that a C module makes yield fails, and closes its variables")
  func yieldsInC() throws {
    let f = try Fixture(
      """
      function()
        local x <close> = setmetatable({}, {__close = function() say 'closed' end})
        local controller = require 'cqueues'.new()
        controller:wrap(function() coroutine.yield() end)
        pcall(controller.step, controller)
      end
      """)
    guard case .failed(let task) = f.lua.door.dispatch(ref: f.ref, slot: 1) else {
      return #expect(Bool(false))
    }
    let error = f.lua.takeError(of: task)
    #expect(error.message == "attempt to yield from outside a coroutine")
    #expect(error.traceback.last?.line == 5)
    #expect(try f.log == "closed")
    #expect(f.lua.tasksInUse == 0)
  }

  @Test("can wait in protected calls, metamethods, iterators and closing")
  func waitsEverywhere() throws {
    let f = try Fixture(
      """
      function()
        say('pcall', pcall(wait))
        say('index', setmetatable({}, {__index = function() return wait() end}).x)
        for v in wait do say('for', v) break end
        do local x <close> = setmetatable({}, {__close = function() say('close', wait()) end}) end
        say('xpcall', xpcall(wait, print))
      end
      """.replacing("say('pcall', pcall(wait))", with: "say('pcall', select(2, pcall(wait)))")
        .replacing("xpcall(wait, print))", with: "select(2, xpcall(wait, print)))"))
    var outcome = f.lua.door.dispatch(ref: f.ref, slot: 1)
    var count = 0
    while case .suspended(let task) = outcome {
      count += 1
      outcome = f.lua.resume(task) { stack in
        stack.push("v\(count)")
        return 1
      }
    }
    guard case .returned = outcome else { return #expect(Bool(false)) }
    #expect(try f.log == "pcall v1;index v2;for v3;close v4;xpcall v5")
  }

  @Test("that fails leaves the others alone, whatever it raises")
  func fails() throws {
    let values: [(String, String)] = [
      ("'text'", "text"), ("nil", "(error object is a nil value)"), ("42", "42"), ("true", "true"),
      ("{message = 'm', code = 'EIO'}", "m"),
      ("setmetatable({}, {__tostring = function() return 'words' end})", "words"),
      (
        "setmetatable({}, {__tostring = function() error 'x' end})",
        "(error object is a table value)"
      ),
      (
        "setmetatable({}, {__tostring = function() return 1 end})",
        "1"
      ),
      ("setmetatable({}, {__tostring = coroutine.yield})", "(error object is a table value)"),
      (
        "setmetatable({}, {__tostring = function() while true do end end})",
        "in __tostring of an error object: call-out took longer than 0.02 seconds"
      ),
    ]
    for (value, text) in values {
      let f = try Fixture(
        "function() error(\(value), 0) end", limits: LuaLimits(callout: .milliseconds(20)))
      guard case .failed(let task) = f.lua.door.dispatch(ref: f.ref, slot: 1) else {
        return #expect(Bool(false))
      }
      let error = f.lua.takeError(of: task)
      #expect(error.message == text)
      #expect(f.lua.tasksInUse == 0)
    }
  }
}
