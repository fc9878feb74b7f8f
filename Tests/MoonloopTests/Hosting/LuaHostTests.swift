// Hosts: Lua for Swift Concurrency, and async closures that Lua awaits.

import Moonloop
import MoonloopCore
import Testing

@Suite("A Lua host")
struct LuaHostTests {
  /// What happened, in order, on any task.
  private final class Trace: Sendable {
    private let lines = Guarded<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  @Test func `runs scripts and calls their functions`() async throws {
    let host = try await LuaHost()
    try await host.run("app = { add = function(a, b) return a + b end }")
    let sum: Int = try await host.call("app.add", 2, 3)
    #expect(sum == 5)
    try await host.call("app.add", 1, 1)
    await host.shutDown()
  }

  @Test func `says what is wrong with a call`() async throws {
    let host = try await LuaHost()
    try await host.run(
      "function fail() error('no luck', 0) end function word() return 'x' end "
        + "function find() return nil, 'no such user' end", name: "=app")
    await #expect(throws: LuaError.self) { try await host.call("missing.name") }
    let messages = Trace()
    do { try await host.call("missing.name") } catch { messages.add(error.message) }
    do { try await host.call("fail") } catch { messages.add("\(error.kind): \(error.message)") }
    for name in ["word", "find"] {
      do { let _: Int = try await host.call(name) } catch { messages.add(error.message) }
    }
    #expect(
      messages.all == [
        "there is no function 'missing.name'", "runtime: no luck",
        "the result of 'word' must be an integer, got \"x\"",
        "the result of 'find' must be an integer, got nothing: no such user",
      ])
    await host.shutDown()
  }

  @Test func `starts tasks that are awaited later, by many, or never`() async throws {
    let host = try await LuaHost()
    try await host.run(
      """
      local ml = require "moonloop"
      local gate = ml.channel(8)
      trace = ""
      function wait(name)
        local got = gate:receive()
        trace = trace .. name .. got
        return trace
      end
      function open(value) gate:send(value) end
      function told() return trace end
      function fail() error("no luck", 0) end
      """)
    let first: LuaTask<String> = await host.start("wait", "a")
    let second: LuaTask<String> = await host.start("wait", "b")
    let cancelled: LuaTask<String> = await host.start("wait", "c")
    let never: LuaTask<String> = await host.start("wait", "d")
    let failing: LuaTask<Int> = await host.start("fail")
    let missing: LuaTask<Int> = await host.start("nothing")
    cancelled.cancel()
    try await host.call("open", 1)
    try await host.call("open", 2)
    let one: String = try await first.value
    let two = try await second.value
    #expect([one, two, try await second.value] == ["a1", "a1b2", "a1b2"])
    await #expect(throws: LuaError.self) { try await cancelled.value }
    let messages = Trace()
    do { _ = try await failing.value } catch { messages.add(error.message) }
    do { _ = try await missing.value } catch { messages.add(error.message) }
    await host.shutDown()
    do { _ = try await never.value } catch { messages.add("\(error.kind)") }
    let late: LuaTask<Int> = await host.start("fail")
    do { _ = try await late.value } catch { messages.add("\(error.kind)") }
    #expect(
      messages.all == ["no luck", "there is no function 'nothing'", "closed", "closed"])
  }

  @Test func `serves other calls while one waits`() async throws {
    let host = try await LuaHost()
    try await host.run(
      """
      local ml = require "moonloop"
      local gate = ml.channel(1)
      function wait() return gate:receive() end
      function open(value) gate:send(value) return "sent" end
      """)
    async let waiting: String = host.call("wait")
    let sent: String = try await host.call("open", "through")
    #expect(sent == "sent")
    #expect(try await waiting == "through")
    await host.shutDown()
  }

  @Test func `cancels the Lua task with the Swift task`() async throws {
    let trace = Trace()
    let host = try await LuaHost()
    let (begun, begins) = AsyncStream.makeStream(of: Void.self)
    try await host.withState { _, lua in
      lua.register("begun") { begins.finish() }
      lua.register("closed") { trace.add("closed") }
    }
    try await host.run(
      """
      function wait()
        local guard <close> = setmetatable({}, { __close = closed })
        begun()
        require("moonloop").sleep(1e6)
      end
      """)
    let task = Task { () -> LuaError? in
      do throws(LuaError) { try await host.call("wait") } catch { return error }
      return nil
    }
    for await _ in begun {}
    task.cancel()
    let error = await task.value
    #expect(error?.kind == .interrupted && error?.underlying is CancellationError)
    #expect(trace.all == ["closed"])
    await host.shutDown()
  }

  @Test func `ends calls under way when it is shut down, and refuses later ones`() async throws {
    let host = try await LuaHost()
    let (begun, begins) = AsyncStream.makeStream(of: Void.self)
    try await host.withState { _, lua in lua.register("begun") { begins.finish() } }
    try await host.run("function wait() begun() require('moonloop').sleep(1e6) end")
    let task = Task { () -> LuaError.Kind? in
      do throws(LuaError) { try await host.call("wait") } catch { return error.kind }
      return nil
    }
    for await _ in begun {}
    await host.shutDown()
    await host.shutDown()
    #expect(await task.value == .closed)
    let error = await #expect(throws: LuaError.self) { try await host.run("x = 1") }
    #expect(error?.kind == .closed)
  }

  @Test func `may be dropped while nothing is under way, on any thread`() async throws {
    for _ in 0..<20 {
      let host = try await LuaHost()
      try await host.run("require('moonloop').current():after(1e6, print)")
    }
  }

  @Test func `passes on errors, output and the end, which end nothing else`() async throws {
    let trace = Trace()
    let host = try await LuaHost(
      reports: LuaHost.Reports(
        onError: { error, _ in
          trace.add("error: \(error.message)")
          return .continue
        },
        onOutput: { trace.add("output: \($0)") },
        onExit: { trace.add("exit \($0)") }))
    try await host.run(
      """
      local loop = require("moonloop").current()
      function settle() require("moonloop").sleep(0) end
      loop:after(0, function() print "hello" error("no luck", 0) end)
      loop:stop()
      """)
    try await host.call("settle")
    try await host.call("settle")
    try await host.run("function leave() os.exit(3) end")
    let error = await #expect(throws: LuaError.self) { try await host.call("leave") }
    #expect(error?.kind == .closed)
    #expect(trace.all == ["output: hello\n", "error: no luck", "exit 3"])
    await host.shutDown()
  }

  @Test func `passes on the rest of a line when it is shut down`() async throws {
    let trace = Trace()
    let host = try await LuaHost(
      libraries: .all, reports: LuaHost.Reports(onOutput: { trace.add($0) }))
    try await host.run("io.write 'rest'")
    #expect(trace.all == [])
    await host.shutDown()
    #expect(trace.all == ["rest"])
  }

  @Test func `passes on what is written while it passes on, once and in order`() async throws {
    let trace = Trace()
    let kept = Guarded<LuaHost?>(nil)
    let host = try await LuaHost(
      libraries: .all,
      reports: LuaHost.Reports(onOutput: { text in
        trace.add(text)
        let depth = text.prefix { $0 == "+" }.count
        guard depth < 3, text.hasSuffix("\n") else { return }
        kept.withLock { $0 }?.assumeIsolated { host in
          try? host.run(
            """
            print "\(String(repeating: "+", count: depth + 1))printed"
            io.write "\(String(repeating: "+", count: depth + 1))part"
            """)
        }
      }))
    kept.withLock { $0 = host }
    try await host.run("print 'a' io.write(('b'):rep(9000), '\\n') print 'c'")
    kept.withLock { $0 = nil }
    let nested = ["+printed\n", "++printed\n", "+++printed\n", "+++part", "++part", "+part"]
    #expect(trace.all.filter { $0 == "a\n" || $0 == "c\n" } == ["a\n", "c\n"], "\(trace.all)")
    #expect(Array(trace.all.prefix(7)) == ["a\n"] + nested, "\(trace.all)")
    #expect(trace.all.joined().filter { $0 == "b" }.count == 9000)
    await host.shutDown()
  }

  @Test func `passes on errors in finalizers, and warnings; no script makes one up`() async throws {
    let trace = Trace()
    let host = try await LuaHost(
      libraries: .all,
      reports: LuaHost.Reports(
        onError: { error, subject in
          trace.add("\(subject): \(error.message)")
          return .continue
        },
        onWarning: { trace.add("warning: \($0)") }))
    try await host.run(
      """
      local function finalize(f) setmetatable({}, { __gc = f }) end
      warn "not on"
      warn "@on"
      warn("error in ", "__gc")
      finalize(function() error "in a call" end) collectgarbage()
      warn "@off"
      warn "not on"
      finalize(function() error "at the end" end)
      """, name: "=app")
    #expect(
      trace.all == ["warning: error in __gc", "a finalizer: error in __gc (app:5: in a call)"])
    await host.shutDown()
    #expect(trace.all.dropFirst(2) == ["a finalizer: error in __gc (app:8: at the end)"])
  }
}

@Suite("A verdict of a host")
struct HostVerdictTests {
  private let script = """
    local ml = require "moonloop"
    local loop = ml.current()
    function begin()
      loop:every(1e6, function() say "tick" end)
      loop:timer { first = 0, name = "poll", modes = "default",
        function() say "poll" error("no luck", 0) end }
    end
    function wait()
      local guard <close> = setmetatable({}, { __close = function() say "closed" end })
      ml.sleep(1e6)
    end
    function settle() ml.sleep(0) ml.sleep(0) return "settled" end
    """

  /// What scripts and reports print, in order.
  private func trace(of verdict: LuaHost.Verdict) async throws -> [String] {
    let lines = Guarded<[String]>([])
    let reports = AsyncStream.makeStream(of: Void.self)
    let host = try await LuaHost(
      reports: LuaHost.Reports(
        onError: { error, subject in
          lines.withLock { $0.append("\(subject), \(subject.mode!.rawValue): \(error.message)") }
          reports.continuation.yield()
          return verdict
        }))
    try await host.withState { _, lua in
      lua.register("say") { (line: String) in lines.withLock { $0.append(line) } }
    }
    try await host.run(script, name: "=app")
    let waiting: LuaTask<Int> = await host.start("wait")
    try await host.call("begin")
    // Calls under way are among those that the verdict ends.
    for await _ in reports.stream { break }
    let settled: String = try await host.call("settle")
    lines.withLock { $0.append(settled) }
    if verdict == .stop {
      do { _ = try await waiting.value } catch { lines.withLock { $0.append("\(error.kind)") } }
    }
    let isEmpty = try await host.withState { loop, _ in loop.nextTimerDate(mode: .default) == nil }
    lines.withLock { $0.append(isEmpty ? "nothing is left" : "it goes on") }
    await host.shutDown()
    return lines.withLock { $0 }
  }

  @Test(.timeLimit(.minutes(1))) func `that says so goes on`() async throws {
    #expect(
      try await trace(of: .continue) == [
        "poll", "timer 'poll' (made at app:5), default: no luck", "settled", "it goes on", "closed",
      ])
  }

  @Test(.timeLimit(.minutes(1))) func `that says stop ends all that scripts have, and takes calls`()
    async throws
  {
    #expect(
      try await trace(of: .stop) == [
        "poll", "timer 'poll' (made at app:5), default: no luck", "closed", "settled",
        "interrupted", "nothing is left",
      ])
  }
}

@Suite("Async functions of the program")
struct AsyncFunctionTests {
  struct Odd: Error, Equatable {}

  private func host() async throws -> LuaHost {
    let host = try await LuaHost()
    try await host.withState { _, lua in
      lua.registerAsync("double") { (number: Int) async throws -> Int in
        await Task.yield()
        if number == 13 { throw LuaFailure("unlucky", code: "EUNLUCKY") }
        if number % 2 == 1 { throw Odd() }
        return 2 * number
      }
      lua.registerAsync("split") { (number: Int) async throws -> (Int, Int) in
        (number / 10, number % 10)
      }
    }
    return host
  }

  @Test func `suspend the task, and give their result`() async throws {
    let host = try await host()
    try await host.run("function run(n) return double(n) + 1 end")
    try await host.run("function sum(n) local a, b = split(n) return a + b end")
    let sum: Int = try await host.call("sum", 34)
    #expect(sum == 7)
    let result: Int = try await host.call("run", 4)
    #expect(result == 9)
    await host.shutDown()
  }

  @Test func `give nil, message and code for a failure`() async throws {
    let host = try await host()
    try await host.run(
      "function run() local v, m, c = double(13) return tostring(v) .. ' ' .. m .. ' ' .. c end")
    let result: String = try await host.call("run")
    #expect(result == "nil unlucky EUNLUCKY")
    await host.shutDown()
  }

  @Test func `raise any other error, which comes back as it was`() async throws {
    let host = try await host()
    try await host.run("function run() return double(7) end")
    let error = await #expect(throws: LuaError.self) { let _: Int = try await host.call("run") }
    #expect(error?.underlying is Odd)
    await host.shutDown()
  }

  @Test func `refuse a wrong argument at the line of the caller`() async throws {
    let host = try await host()
    try await host.run("function run()\n return double('x') end", name: "=app")
    let error = await #expect(throws: LuaError.self) { let _: Int = try await host.call("run") }
    #expect(
      error?.message == "double: argument 1 must be an integer, got \"x\" (app:2)",
      "\(error?.message ?? "")")
    await host.shutDown()
  }

  @Test func `are cancelled with the Lua task`() async throws {
    let host = try await LuaHost()
    let (ends, ended) = AsyncStream.makeStream(of: Bool.self)
    try await host.withState { _, lua in
      lua.registerAsync("forever") { () async throws -> Void in
        let (nothing, keeper) = AsyncStream.makeStream(of: Void.self)
        for await _ in nothing {}  // until it is cancelled
        keeper.finish()
        ended.yield(Task.isCancelled)
        ended.finish()
      }
    }
    try await host.run(
      "function run() return select(3, require('moonloop').timeout(0.01, forever)) end")
    let code: String = try await host.call("run")
    #expect(code == "ETIMEDOUT")
    var wasCancelled: [Bool] = []
    for await one in ends { wasCancelled.append(one) }
    #expect(wasCancelled == [true])
    await host.shutDown()
  }

  /// Counts the fetches that began, by number, and what they hold and have not released.
  private final class Ledger: Sendable {
    // Not a `Mutex`, in which ThreadSanitizer sees no order.
    private let entries = Guarded((begun: Array(repeating: 0, count: 10_000), alive: 0))
    var begun: [Int] { entries.withLock { $0.begun } }
    var alive: Int { entries.withLock { $0.alive } }
    func begin(_ number: Int) { entries.withLock { $0.begun[number] += 1 } }
    fileprivate func hold(_ change: Int) { entries.withLock { $0.alive += change } }
  }

  /// What a fetch holds.
  private final class Held: Sendable {
    private let ledger: Ledger
    init(_ ledger: Ledger) {
      self.ledger = ledger
      ledger.hold(1)
    }
    deinit { ledger.hold(-1) }
  }

  @Test func `lose, double and keep nothing, whichever is cancelled`() async throws {
    let (host, ledger) = (try await LuaHost(), Ledger())
    try await host.withState { _, lua in
      lua.registerAsync("fetch") { (number: Int) async throws -> Int in
        let held = Held(ledger)
        ledger.begin(number)
        for _ in 0..<number % 5 { await Task.yield() }
        try Task.checkCancellation()
        return withExtendedLifetime(held) { 2 * number }
      }
    }
    // Every third is cancelled by Lua before it can have begun, or after, or too late.
    try await host.run(
      """
      local ml = require "moonloop"
      function run(n)
        if n % 3 > 0 then return fetch(n) end
        local task = ml.current():task(function() return fetch(n) end)
        if n % 2 == 0 then ml.sleep(0) end
        task:cancel()
        local ok, value = pcall(task.wait, task)
        if not ok and value == "the task was cancelled" then return -1 end
        return assert(ok and value, value)
      end
      """)
    let results = await withTaskGroup(of: (Int, Int?).self) { group in
      for number in 0..<10_000 {
        group.addTask {
          let call = Task { () -> Int? in try? await host.call("run", number) }
          // Half of them, scattered over the numbers: at once, or after others have had their turn.
          if number * 7919 % 101 < 50 {
            for _ in 0..<number % 7 { await Task.yield() }
            call.cancel()
          }
          return (number, await call.value)
        }
      }
      var found: [Int: Int?] = [:]
      for await (number, result) in group { found[number] = .some(result) }
      return found
    }
    #expect(results.count == 10_000)
    for (number, result) in results {
      let mayBeCancelled = number * 7919 % 101 < 50
      let isRight =
        result == 2 * number || (mayBeCancelled && result == nil)
        || (number % 3 == 0 && result == -1)
      if !isRight { Issue.record("fetch \(number) gave \(String(describing: result))") }
    }
    let begun = ledger.begun
    #expect(begun.allSatisfy { $0 <= 1 })
    #expect(begun.indices.allSatisfy { begun[$0] == 1 || results[$0] != .some(2 * $0) })
    await host.shutDown()
    while ledger.alive > 0 { await Task.yield() }  // cancelled fetches finish first
  }
}
