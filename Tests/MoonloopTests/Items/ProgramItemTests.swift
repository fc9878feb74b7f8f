// Items that Swift made, with handles in several states (S15): what each state may do with them.

import Moonloop
import MoonloopCore
import Synchronization
import Testing

@Suite struct ProgramItemTests {
  /// A loop and a state of this thread, while a body runs.
  private func withState<Result>(
    _ body: (Loop, LuaState) throws -> Result
  ) throws -> Result {
    try Loop.isolated(clock: .virtual) { loop in
      let lua = try LuaState(on: loop)
      defer { lua.shutDown() }
      try lua.run("ml = require 'moonloop' loop = ml.current()")
      return try body(loop, lua)
    }
  }

  /// The error that a text raises.
  private func mistake(_ text: String, _ lua: LuaState) throws -> String {
    try lua.evaluate("local ok, message = pcall(function() \(text) end) return message")
  }

  @Test func `a script schedules, signals and ends what the program made`() throws {
    try withState { loop, lua in
      var trace: [String] = []
      lua.set("jobs", Loop.Source(name: "jobs") { _ in trace.append("jobs") })
      lua.set(
        "tick", Loop.Timer(after: .seconds(1), every: .seconds(1)) { _ in trace.append("tick") })
      lua.set(
        "watcher", Loop.Observer(.exit, name: "watcher") { _, _ in trace.append("exit") })
      try lua.run(
        """
        local began = ml.now()
        loop:add(jobs, { "default", "side" })
        loop:add(tick)
        loop:add(watcher)
        assert(loop:contains(jobs, "side") and #jobs:modes() == 2 and jobs.name == "jobs")
        jobs:signal()
        assert(jobs.signalled)
        loop:run { timeout = 2.5 }
        assert(not jobs.signalled and tick.next_fire - began < 3.1)
        tick:invalidate()
        loop:remove(jobs)
        loop:remove(jobs, "side")
        """)
      #expect(trace == ["jobs", "tick", "tick", "exit"])
    }
  }

  @Test func `a handle is the same one while it lives, and its end ends nothing`() throws {
    try withState { loop, lua in
      var performed = 0
      weak var watched: Loop.Source?
      do {
        let source = Loop.Source(name: "jobs") { _ in performed += 1 }
        watched = source
        lua.set("jobs", source)
        lua.set("again", source)
        try lua.run("assert(jobs == again) loop:add(jobs) jobs, again = nil collectgarbage()")
        source.signal()
        loop.run(for: .zero)
        #expect(performed == 1)
        lua.set("jobs", source)
        try lua.run("jobs:invalidate() jobs = nil collectgarbage() collectgarbage()")
      }
      #expect(watched == nil)
    }
  }

  @Test func `a mismatch is reported`() throws {
    try withState { loop, lua in
      let other = LoopThread(name: "other")
      defer { other.stop() }
      let timer = Loop.Timer(at: .init(nanoseconds: .max), name: "tick") { _ in }
      let isThere = Mutex(false)
      other.loop.performAndWait {
        try? other.loop.add(timer)
        isThere.withLock { $0 = other.loop.contains(timer) }
      }
      #expect(isThere.withLock { $0 })
      lua.set("tick", timer)
      lua.set("jobs", Loop.Source(name: "jobs") { _ in })
      let rows = [
        ("tick:signal()", "timer 'tick' is not a source, and cannot be signalled"),
        ("print(tick.signalled)", "timer 'tick' is not a source, and is never signalled"),
        ("print(jobs.next_fire)", "source 'jobs' is not a timer, and has no date"),
        ("jobs:invalidate() jobs:signal()", "source 'jobs' is invalid"),
        ("loop:add(jobs)", "source 'jobs' is invalid: it was invalidated and cannot be added"),
        ("loop:add(tick)", "timer 'tick' is in modes of another loop"),
        ("tick:invalidate()", "timer 'tick' is in modes of another loop"),
        ("print(tick.next_fire)", "timer 'tick' is in modes of another loop"),
        ("tick.next_fire = 1", "timer 'tick' is in modes of another loop"),
        ("tick.next_fire = 'soon'", "number"),
        ("print(tick.nonsense)", "nonsense"),
        ("tick.signal(1)", "program item"),
      ]
      for (text, words) in rows {
        let message = try mistake(text, lua)
        #expect(message.contains(words) && message.contains(":1"), "\(text): \(message)")
      }
      try lua.run(
        """
        assert(not loop:contains(tick) and #tick:modes() == 0)
        loop:remove(tick)
        assert(loop:why(tick):find("another loop", 1, true))
        assert(loop:why(jobs):find("has ended", 1, true))
        assert(tostring(tick) == "timer 'tick', of the program")
        """)
    }
  }

  @Test func `one source in the loops of two states is performed once for each signal`() throws {
    let performed = Mutex<[String]>([])
    let source = Loop.Source(name: "jobs") { _ in
      performed.withLock { $0.append(Loop.current.name) }
    }
    let other = LoopThread(name: "other")
    defer { other.stop() }
    // Each state adds it to its own loop.
    other.loop.performAndWait {
      guard let lua = try? LuaState(on: Loop.current) else { return }
      lua.set("jobs", source)
      try? lua.run("require 'moonloop'.current():add(jobs)")
      // The item stays in the loop when the state ends.
      lua.shutDown()
    }
    try withState { loop, lua in
      lua.set("jobs", source)
      try lua.run("loop:add(jobs, 'side') jobs:signal()")
      other.loop.performAndWait(modes: [.default]) {}
      // The other loop, which runs the default mode, has taken the signal.
      other.loop.wakeUp()
      while source.isSignalled { other.loop.performAndWait {} }
      #expect(performed.withLock { $0 } == ["other"])
      try lua.run("jobs:invalidate()")
      other.loop.performAndWait {}
      #expect(!source.isValid)
    }
  }

  @Test func `states on many threads share sources and timers`() throws {
    let source = Loop.Source(name: "shared") { _ in }
    let fired = Atomic<Int>(0)
    let timer = Loop.Timer(at: .init(nanoseconds: 0), every: .milliseconds(1), name: "shared") {
      _ in
      fired.wrappingAdd(1, ordering: .relaxed)
    }
    let threads = (0..<4).map { LoopThread(name: "thread \($0)") }
    for thread in threads {
      thread.loop.perform {
        guard let lua = try? LuaState(on: Loop.current) else { return }
        defer { lua.shutDown() }
        lua.set("source", source)
        lua.set("timer", timer)
        do {
          try lua.run(
            """
            local ml = require "moonloop"
            local loop = ml.current()
            local taken = 0
            for i = 1, 500 do
              loop:add(source, "side")
              source:signal()
              if pcall(loop.add, loop, timer, "side") then
                taken = taken + 1
                loop:run { mode = "side", timeout = 0 }
              end
              loop:remove(timer, "side")
              loop:remove(source, "side")
            end
            """)
        } catch { Issue.record("\(error)") }
      }
    }
    for thread in threads { thread.loop.performAndWait {} }
    for thread in threads { thread.stop() }
    #expect(timer.isValid && source.isValid)
    #expect(fired.load(ordering: .relaxed) > 0)
    timer.invalidate()
    source.invalidate()
  }
}
