// Every allocation of Lua's allocator fails in turn, once and for good, for each entry of the
// interface and each kind of handler (promise S2): afterwards the loop works, and nothing is left.

import Glibc
import LuaEmbed
import Moonloop
import MoonloopCore
import ScriptGrammar
import TestSupport
import Testing

/// MOONLOOP_STRESS makes every allocation fail, as `scripts/stress` does; otherwise only some.
@Suite(.serialized) struct AllocationFaultTests {
  private static let isFull = getenv("MOONLOOP_STRESS") != nil
  private static let isSanitized = getenv("MOONLOOP_SANITIZED") != nil
  private static let step: UInt64 = isFull ? 1 : isSanitized ? 100 : 5

  private static let everyUpTo: UInt64 = isFull ? 3000 : 300

  /// Each subject runs with both kinds of collector.
  private static let collectors = ["incremental", "generational"]

  /// The outcome of one run.
  private struct Outcome {
    var wasHit = false
    var trouble: String?
  }

  private func run(
    _ text: String, failing n: UInt64, forGood: Bool, _ collector: String, _ warden: Warden
  ) throws -> Outcome {
    var outcome = Outcome()
    weak var watched: LuaState?
    try Loop.isolated(clock: .virtual) { loop in
      let lua = try LuaState(on: loop)
      watched = lua
      try ScriptRun.prepare(lua, ScriptRun.Collector())
      ExampleRun.makeItems(for: lua, ExampleRun.Collected())
      try lua.run("io.write = function() return io.stdout end \(ExampleRun.temporaryNames)")
      try lua.run("collectgarbage '\(collector)'")
      // A permanent failure may fail forever: a hundred passes show it.
      var passes = 0
      let observer = loop.observe(.beforeTimers, modes: [.common]) { _, _ in
        passes += 1
        if passes > 100 { loop.stop() }
      }
      warden.begin(0, loop)
      defer { warden.end(0) }
      lua.failAllocation(n, forGood: forGood)
      do { try lua.runtime!.mainChunk.start(chunk: text, name: "=fault") } catch {}
      if !lua.runtime!.runs.ranLoop { loop.run(for: .seconds(100_000)) }
      outcome.wasHit = lua.allocationsUntilFailure <= 1
      lua.failAllocation(0)
      observer.invalidate()
      outcome.trouble = trouble(lua, loop)
      lua.shutDown()
    }
    if watched != nil { outcome.trouble = "the state is left" }
    return outcome
  }

  /// Checks that loop and state still work.
  private func trouble(_ lua: LuaState, _ loop: Loop) -> String? {
    var fired = false
    loop.schedule(after: .zero, modes: ["check"]) { _ in fired = true }
    if !lua.isCondemned {
      do throws(LuaError) {
        try lua.run(
          """
          package.loaded.moonloop.limit { handles = 1e6, memory = 1 << 40 }
          package.loaded.moonloop.current():timer { first = 0, modes = "check",
            function() worked = true end }
          """)
      } catch { return "\(error)" }
    }
    // Twice, because a stop that the script has left for the next run ends the first.
    for _ in 1...2 { loop.run(mode: "check", for: .seconds(1)) }
    if !fired { return "the loop does not run" }
    let worked: Bool? = try? lua.evaluate("return worked or false")
    return worked == true || lua.isCondemned ? nil : "no handler is called"
  }

  /// Makes the allocations of a script fail.
  /// - Returns: How many failed.
  private func inject(_ text: String, _ name: String, _ warden: Warden) throws -> Int {
    var count = 0
    for forGood in [false, true] {
      for collector in Self.collectors {
        var n: UInt64 = forGood ? 1 : 3
        while true {
          let outcome = try ExampleRun.withInput {
            try run(text, failing: n, forGood: forGood, collector, warden)
          }
          #expect(outcome.trouble == nil, "\(name): \(collector), \(n), for good: \(forGood)")
          guard outcome.wasHit else { break }
          count += 1
          // Thousands of equal allocations need no test each.
          n += Self.step + (n > Self.everyUpTo ? n / 10 : 0)
        }
      }
    }
    return count
  }

  private func injectAll(_ subjects: [(name: String, text: String)]) throws -> Int {
    guard try LuaState().failAllocation(0) else { return 0 }  // a release build
    _ = RuntimeFolder.path
    let warden = Warden(limit: .milliseconds(300))
    defer { warden.retire() }
    // Scripts with descriptors as plain numbers lose them with an error, so those run first.
    let hasNumbers = { (text: String) in text.contains(/pipe\(\)|receive_fd/) }
    let numbers = subjects.filter { hasNumbers($0.text) }
    let others = subjects.filter { !hasNumbers($0.text) }
    return try injectAll(numbers, warden) + injectCounting(others, warden)
  }

  /// The same for scripts that lose no descriptor.
  private func injectCounting(
    _ subjects: [(name: String, text: String)], _ warden: Warden
  ) throws -> Int {
    let before = openDescriptors()
    let count = try injectAll(subjects, warden)
    // Other tests open descriptors too, but close them; a leak stays.
    var patience = 600
    while openDescriptors() - before >= 100, patience > 0 {
      patience -= 1
      poll(nil, 0, 100)
    }
    #expect(patience > 0)
    return count
  }

  private func injectAll(
    _ subjects: [(name: String, text: String)], _ warden: Warden
  ) throws -> Int {
    var count = 0
    for (name, text) in subjects {
      let began = ContinuousClock.now
      let failures = try inject(text, name, warden)
      count += failures
      let time = ContinuousClock.now - began
      if Self.isFull { print("\(name): \(failures) failing allocations, \(time)") }
    }
    print("failing allocations: \(count)")
    return count
  }

  @Test func `an allocation that fails in the example of any entry is an error, and no more`()
    throws
  {
    let subjects = Reference.entries.filter(\.isNative).map { entry in
      let isWhole = entry.example.contains("require \"moonloop\"")
      return (entry.signature, (isWhole ? "" : ExampleRun.prelude) + entry.example)
    }
    let count = try injectAll(subjects)
    #expect(count == 0 || count > 200)
  }

  @Test func `an allocation that fails in a handler of any kind is an error, and no more`() throws {
    let count = try injectAll(Self.handlers.map { ($0, "\(Self.handlerPrelude)\n\($1)") })
    #expect(count == 0 || count > 50)
  }

  // It takes minutes: `scripts/stress` runs it.
  @Test(.enabled(if: isFull))
  func `an allocation that fails in any script of the tests is an error, and no more`() throws {
    // Only scripts on the loop's own clock: those that wait for other processes would take minutes.
    let folders = [
      "CustomSources/", "Descriptors/", "Inspection/", "Items/", "Observers/", "Streams/",
    ]
    let subjects = try ScriptFileTests.scripts.filter { name in
      // One keeps the collector at work all the time, and takes as long as all others together; one
      // loops forever until a limit stops it, and a failed allocation may prevent that limit.
      folders.contains { name.hasPrefix($0) }
        && !["Streams/finalizers.lua", "Inspection/causes_world.lua"].contains(name)
    }.map { ($0, try ScriptFileTests.text($0)) }
    let count = try injectAll(subjects)
    #expect(count == 0 || count > 50)
  }
}
