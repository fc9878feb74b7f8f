// States on loops of other threads: dropped anywhere, ended with their loops, in actors.

import Glibc
import Moonloop
import MoonloopCore
import Synchronization
import Testing

@Suite struct StateThreadTests {
  @Test func `a state on the loop of another thread is refused`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let thread = LoopThread(name: "other")
      _ = try LuaState(on: thread.loop)
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains(/LuaState\(on:\): other .* thread \d+, called on thread \d+/), "\(said)")
  }

  @Test func `a callback that shuts its state down ends with its call-out`() throws {
    try Loop.isolated { loop in
      var trace: [String] = []
      let lua = try LuaState(on: loop)
      lua.register("unload") { [unowned lua] in
        lua.shutDown()
        trace.append("asked")
      }
      lua.register("note") { (text: String) in trace.append(text) }
      try lua.run(
        """
        local loop = require "moonloop".current()
        loop:every(1, function()
          local x <close> = setmetatable({}, { __close = function() note "left" end })
          unload()
          loop:run { mode = "default", timeout = 0 }
          note "goes on"
        end)
        """)
      #expect(loop.run() == .finished)
      #expect(trace == ["asked", "goes on", "left"] && lua.isClosed)
      lua.shutDown()
    }
  }

  @Test func `a state ends with its loop, and later calls are ignored or get an error`() throws {
    let lua = try Loop.isolated { loop in
      let lua = try LuaState(on: loop)
      try lua.run("require 'moonloop'.current():every(1, print)")
      return lua
    }
    #expect(lua.isClosed)
    lua.register("f") {}
    lua.set("x", 1)
    lua.collect()
    #expect(lua.globals[function: "f"] == nil)
    #expect(throws: LuaError.self) { try lua.run("x = 1") }
    lua.shutDown()
  }

  // MARK: Actors

  private actor Host {
    private let loop: Loop
    private var lua: LuaState?
    private let ended: @Sendable () -> Void

    init(_ loop: Loop, ended: @escaping @Sendable () -> Void = {}) {
      self.loop = loop
      self.ended = ended
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    func open() throws {
      let lua = try LuaState(on: loop)
      lua.register(Canary.self, as: "Canary")
      lua.set("canary", Canary(ended))
      try lua.run("local loop = require 'moonloop'.current() loop:every(0.001, function() end)")
      self.lua = lua
    }

    func call(_ number: Int) throws -> Int {
      guard let lua else { throw CancellationError() }
      lua.set("x", number)
      return try lua.evaluate("return x + 1")
    }

    func callLater(_ number: Int) async throws -> Int {
      await Task.yield()
      try Task.checkCancellation()
      return try call(number)
    }
  }

  /// Reports when Lua releases it, and on which thread.
  private final class Canary {
    private let ended: () -> Void
    init(_ ended: @escaping () -> Void) { self.ended = ended }
    deinit { ended() }
  }

  @Test func `an actor that is dropped elsewhere has its state closed on the loop's thread`()
    async throws
  {
    let thread = LoopThread(name: "scripts")
    let loop = thread.loop
    let box = AtomicBox()
    do {
      let host = Host(loop) { box.value.store(loop.isOnThread ? 1 : 2, ordering: .releasing) }
      try await host.open()
      #expect(try await host.call(1) == 2)
    }
    while box.value.load(ordering: .acquiring) == 0 { loop.changeAndWait { _ in } }
    #expect(box.value.load(ordering: .acquiring) == 1)
    thread.stop()
    #expect(thread.join(timeout: .seconds(60)))
  }

  private final class AtomicBox: Sendable {
    let value = Atomic<Int>(0)
  }

  @Test func `awaiting a host whose thread has ended throws an error`() async throws {
    let thread = LoopThread(name: "scripts")
    let host = Host(thread.loop)
    try await host.open()
    thread.stop()
    #expect(thread.join(timeout: .seconds(60)))
    await #expect(throws: LuaError.self) { try await host.call(1) }
    await #expect(throws: LuaError.self) { try await host.callLater(1) }
  }

  /// How many orders are tried; `scripts/stress actors` tries a thousand.
  private static let orders = getenv("MOONLOOP_STRESS") == nil ? 40 : 1000

  @Test func `stopping, dropping, cancelling and awaiting in any order ends in answers`() async {
    for seed in 0..<Self.orders { await Self.order(seed: UInt64(seed)) }
  }

  private static func order(seed: UInt64) async {
    var dice = SeededDice(seed: seed)
    let thread = LoopThread(name: "order \(seed)")
    var host: Host? = Host(thread.loop)
    try? await host?.open()
    var tasks: [Task<Int, any Error>] = []
    for step in 0..<12 {
      switch dice.next(below: 9) {
      case 0...3:
        if let host { tasks.append(Task.detached { try await host.callLater(step) }) }
      case 4: tasks.randomElement(using: &dice)?.cancel()
      case 5: if dice.next(below: 3) == 0 { thread.stop() }
      case 6: if dice.next(below: 3) == 0 { host = nil }
      case 7: _ = await tasks.randomElement(using: &dice)?.result
      default: _ = try? await host?.call(step)
      }
    }
    if dice.next(below: 2) == 0 { host = nil }
    thread.stop()
    for (number, task) in tasks.enumerated() {
      if case .success(let value) = await task.result {
        #expect(value > 0, "seed \(seed), task \(number)")
      }
    }
    host = nil
    #expect(thread.join(timeout: .seconds(60)), "seed \(seed)")
  }

  private struct SeededDice: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }
    mutating func next() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state
    }
    mutating func next(below limit: UInt64) -> UInt64 { next() % limit }
  }
}
