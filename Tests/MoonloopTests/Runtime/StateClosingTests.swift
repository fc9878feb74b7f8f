// A state that is closed at every step of a script's run, in every way: nothing crashes, and none
// of its functions is called afterwards.

import Glibc
import Moonloop
import Testing

@Suite struct StateClosingTests {
  /// Always has something of every kind pending. It calls `step` from each handler.
  private static let script = """
    local ml = require "moonloop"
    local loop = ml.current()
    loop:add_common_mode "side"
    local function closing() return setmetatable({}, { __close = function() end }) end
    local queue, gate = ml.channel(2), ml.semaphore(1)
    for i = 1, 3 do
      loop:task({ name = "sender" .. i }, function()
        local x <close> = closing()
        while true do queue:send { i, queue }; step(); ml.sleep(0.1 * i) end
      end)
      loop:task(function()
        for item in queue:items() do gate:with(function() ml.sleep(0.05); step() end) end
      end)
    end
    loop:task(function()
      while true do
        -- Not a child: a failed scope would raise at each of its waits, and never wait again.
        local other = loop:task(function()
          local x <close> = closing()
          ml.sleep(0.2)
          error "x"
        end)
        pcall(other.await, other)
        step()
      end
    end).on_error = function() step() end
    loop:timer { every = 0.1, modes = "common", function()
      step()
      loop:perform(step)
      loop:perform({ modes = "side" }, step)
      ml.sleep(0.25)
      step()
    end }
    loop:every(0.3, function() loop:run { mode = "side", timeout = 0.15 }; step() end)
    loop:every(0.35, function() loop:task(function() ml.sleep(0.1); step() end):wait() end)
    local source
    source = loop:source { modes = "common",
      schedule = function() end, cancel = function() step() end,
      perform = function() step(); ml.sleep(0.01); source:signal() end }
    source:signal()
    local port = loop:port { modes = "common", function(_, message, reply)
      step()
      reply(message)
    end }
    loop:every(0.2, function() port:request({ 1 }, { timeout = 0.1 }); port:send(2) end)
    local from, to = pipe()
    loop:fd { fd = from, modes = "common", read = function(fd)
      step()
      fd:read(1)
      ml.sleep(0.01)
    end }
    loop:every(0.15, function() write(to, "xy") end)
    loop:observer { on = { "before_waiting", "exit" }, modes = "common", step }
    loop:task(function()
      ml.await(function(resume) return loop:every(0.5, function() step() end) end)
    end)
    loop:task(function() while true do ml.timeout(0.1, ml.sleep, 1); step() end end)
    loop.on_error = function() step() end
    setmetatable({}, { __gc = function() step() end })
    step()
    ml.sleep(1e6)
    """

  /// Where runs are ended: at each of five hundred steps.
  private static let steps: [Int] =
    getenv("MOONLOOP_SANITIZED") == nil ? Array(1...500) : Array(stride(from: 1, to: 500, by: 9))

  /// The outcome of a run that is ended at a step.
  private func run(endingAt last: Int, way: Int) throws -> (steps: Int, callsAfterwards: Int) {
    let pipe = try #require(Pipe())
    return try Loop.isolated(clock: .virtual) { loop in
      var state: LuaState? = try LuaState(on: loop)
      var steps = 0
      var calls = 0
      var isOver = false
      state!.register("step") { if isOver { calls += 1 } }
      state!.register("write") { (_: Int, text: String) in pipe.write(text) }
      state!.register("read_end") { Int(pipe.readEnd) }
      try state!.run("function pipe() return read_end(), 0 end")
      state!.runtime!.errors.write = { _ in }
      let end = {
        guard !isOver, state?.depth == 0 else { return }
        steps += 1
        guard steps == last else { return }
        switch way {
        case 0: state?.shutDown()
        case 1: state?.close()
        default: break
        }
        state = nil  // ends it, if nothing else did
        isOver = true
        loop.stop()
      }
      let observer = loop.observe(modes: [.common]) { _, _ in end() }
      loop.schedule(after: .zero, every: .milliseconds(10), modes: [.common]) { _ in
        end()
        loop.performHere(modes: [.common]) { end() }
      }
      try state!.runtime!.mainChunk.start(chunk: Self.script, name: "@all.lua")
      loop.run(for: .seconds(100))
      loop.run(for: .milliseconds(600))
      observer.invalidate()
      state?.shutDown()
      return (steps, calls)
    }
  }

  @Test(arguments: 0..<3)
  func `after closing at any step nothing is called any more`(way: Int) throws {
    for step in Self.steps {
      let (steps, calls) = try run(endingAt: step, way: way)
      #expect(steps == step && calls == 0, "step \(step)")
    }
  }

  /// What handlers may start while their state ends.
  private static let lastActs = [
    "coroutine.yield()",
    "ml.sleep(0)",
    "ml.sleep(1)",
    "loop:task(f)",
    "loop:every(0.1, f)",
    "loop:perform(f)",
    "loop:perform_after(1, f)",
    "loop:source { perform = f, cancel = f }:signal()",
    "loop:task(f):await()",
    "loop:task(function() local x <close> = closing() ml.sleep(1) end)",
    "error 'x'",
  ]

  private static let endings = [
    "loop:source { perform = f, cancel = act }",
    "loop:task(function() local x <close> = closing(act) ml.sleep(9) end)",
    "loop:task(function() local x <close> = closing(error) ml.sleep(9) end).on_error = act",
    "loop.on_error = act  loop:task(function() local x <close> = closing(error) ml.sleep(9) end)",
    "failed = loop:task(error, 'unseen')  loop.on_error = act",
  ]

  @Test(arguments: endings)
  func `what handlers begin while their state ends goes with it`(ending: String) throws {
    for act in Self.lastActs {
      try Loop.isolated(clock: .virtual) { loop in
        let state = try LuaState(on: loop)
        var calls = 0
        var isOver = false
        state.register("f") { if isOver { calls += 1 } }
        state.runtime!.errors.write = { _ in }
        try state.runtime!.mainChunk.start(
          chunk: """
            ml = require "moonloop"
            loop = ml.current()
            function closing(g) return setmetatable({}, { __close = g or f }) end
            local function act() \(act) end
            \(ending)
            """, name: "@ending.lua")
        loop.performHere(modes: [.default]) { loop.stop() }
        loop.run(for: .seconds(1))
        state.shutDown()
        isOver = true
        #expect(loop.run(for: .zero) == .finished, "\(act)")
        loop.run(for: .seconds(3))
        #expect(calls == 0, "\(act)")
      }
    }
  }

  /// What finalizers call when everything else of their state has ended.
  private static let lastCalls = [
    "loop:metrics()", "loop:metrics { on = true }", "loop:dump()", "ml.why(loop)",
    "loop:add_common_mode 'new'", "loop:watch { '.', f }", "loop:notifications { f }:enqueue 'a'",
    "loop:perform(f)", "loop:every(0.1, f)", "ml.process.spawn { 'true' }", "loop.on_error = f",
    "ml.tty.open()", "ml.guest { text = '' }", "ml.reload.on_unload(f)", "loop:signal('usr1', f)",
    "ml.channel(1):try_send(1)", "ml.worker { source = '' }", "ml.warn 'x'", "warn '@on' warn 'x'",
  ]

  @Test(arguments: lastCalls)
  func `what finalizers call does not outlast their state`(call: String) throws {
    try Loop.isolated(clock: .virtual) { loop in
      var state: LuaState? = try LuaState(on: loop)
      var calls = 0
      state!.register("f") { calls += 1 }
      state!.runtime!.errors.write = { _ in }
      try state!.runtime!.mainChunk.start(
        chunk: """
          local ml = require "moonloop"
          local loop = ml.current()
          setmetatable({}, { __gc = function() \(call) end })
          kept = setmetatable({}, { __gc = function() \(call) end })
          """, name: "@last.lua")
      state = nil
      calls = 0
      loop.schedule(after: .zero) { _ in loop.addCommonMode("other") }
      loop.perform {}
      try loop.add(loop.makeSource { _ in }, modes: ["third", .default])
      loop.run(for: .seconds(10))
      #expect(calls == 0)
    }
  }

  /// Two nonblocking descriptors.
  private final class Pipe {
    let readEnd: Int32
    private let writeEnd: Int32

    init?() {
      var ends: [Int32] = [0, 0]
      guard pipe(&ends) == 0 else { return nil }
      for end in ends {
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      }
      readEnd = ends[0]
      writeEnd = ends[1]
    }

    deinit {
      _ = Glibc.close(readEnd)
      _ = Glibc.close(writeEnd)
    }

    func write(_ text: String) { _ = Glibc.write(writeEnd, text, text.utf8.count) }
  }
}
