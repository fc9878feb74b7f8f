// More programs that compile but do what they must not: across hosts, and with what is cancelled,
// ended or dropped in its middle.

import Foundation
import Moonloop
import MoonloopCore

let crossings = [
  Attack(name: "two hosts call each other, and one is ended in the middle", end: "closed") {
    let (first, second) = (try await LuaHost(name: "first"), try await LuaHost(name: "second"))
    let text = """
      local ml = require "moonloop"
      function turn(n) if n == 0 then ml.sleep(1e6) end return other(n - 1) end
      """
    try await first.withState { [weak second] _, lua in
      lua.registerAsync("other") { [weak second] (n: Int) async throws -> Int in
        try await second?.call("turn", n) ?? -1
      }
    }
    try await second.withState { [weak first] _, lua in
      lua.registerAsync("other") { [weak first] (n: Int) async throws -> Int in
        try await first?.call("turn", n) ?? -1
      }
    }
    try await first.run(text)
    try await second.run(text)
    let call = Task { await kind { let _: Int = try await first.call("turn", 20) } }
    for _ in 0..<1000 { await Task.yield() }
    await second.shutDown()
    let ended = await call.value
    await first.shutDown()
    return ended
  },
  Attack(name: "a task that is cancelled already calls, starts and streams", end: "interrupted") {
    let host = try await LuaHost()
    try await host.run("function f() return 1 end function s() return function() return 1 end end")
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      let called = await kind { let _: Int = try await host.call("f") }
      let started = await kind {
        let task: LuaTask<Int> = await host.start("f")
        _ = try await task.value
      }
      let streamed = await kind { for try await _ in host.stream("s", of: Int.self) {} }
      return Set([called, started, streamed]).subtracting(["done"]).sorted().joined(separator: " ")
    }
    let text = await task.value
    await host.shutDown()
    return text
  },
  Attack(name: "a state is shut down inside withState, and used there", end: "closed closed") {
    let host = try await LuaHost()
    let text = try await host.withState { _, lua in
      lua.shutDown()
      lua.shutDown()
      let kind: String
      do {
        let _: Int = try lua.evaluate("return 1")
        kind = "ran"
      } catch { kind = (error as? LuaError).map { "\($0.kind)" } ?? "" }
      return kind
    }
    let later = await kind { let _: Int = try await host.call("f") }
    await host.shutDown()
    return "\(text) \(later)"
  },
  Attack(name: "a host is called by names that no function has", end: "6 errors") {
    let host = try await LuaHost()
    var errors = 0
    for name in ["", ".", "a..b", ".a", "a\0b", String(repeating: "a.", count: 100_000)] {
      if await kind({ try await host.call(name) }) == "runtime" { errors += 1 }
    }
    await host.shutDown()
    return "\(errors) errors"
  },
  Attack(name: "an async function throws a cancellation that nobody asked for", end: "true") {
    let host = try await LuaHost()
    try await host.withState { _, lua in
      lua.registerAsync("f") { () async throws -> Int in throw CancellationError() }
    }
    try await host.run("function g() local ok, why = pcall(f) return not ok, tostring(why) end")
    let caught: Bool = try await host.call("g")
    await host.shutDown()
    return "\(caught)"
  },
  Attack(name: "an async function is called where nothing can wait", end: "runtime false runtime") {
    let host = try await LuaHost()
    try await host.withState { _, lua in
      lua.registerAsync("f") { () async -> Int in 3 }
    }
    let plain = await kind { try await host.run("f()") }
    let inFinalizer: Bool = try await host.withState { _, lua in
      try lua.run("local t = setmetatable({}, { __gc = function() ok = pcall(f) end }) t = nil")
      lua.collect()
      return lua.globals["ok"] ?? false
    }
    try await host.run("function g() return coroutine.wrap(function() return f() end)() end")
    let inCoroutine = await kind { try await host.call("g") }
    await host.shutDown()
    return "\(plain) \(inFinalizer) \(inCoroutine)"
  },
  Attack(
    name: "an async function ignores that it is cancelled, and its host is gone", end: "closed"
  ) {
    var host: LuaHost? = try await LuaHost()
    let (gate, opened) = AsyncStream.makeStream(of: Void.self)
    try await host!.withState { _, lua in
      lua.registerAsync("f") { () async -> String in
        await Task.detached { for await _ in gate {} }.value
        return String(repeating: "late", count: 10)
      }
    }
    try await host!.run("function g() return f() end")
    let call: LuaTask<String> = await host!.start("g")
    await host!.shutDown()
    host = nil
    let text = await kind { _ = try await call.value }
    opened.finish()
    for _ in 0..<1000 { await Task.yield() }
    return text
  },
  Attack(name: "the last reference to a state goes in its own function", end: "closed true") {
    try await onOneThread { loop in
      let kept = Kept<LuaState>()
      kept.value = try LuaState(on: loop)
      weak let state = kept.value
      kept.value!.register("drop") { () -> Int in
        kept.value = nil
        return 1
      }
      let f = kept.value!.globals[function: "drop"]!
      try f()
      loop.run(mode: .default, for: .zero)
      let text: String
      do {
        try f()
        text = "ran"
      } catch { text = (error as? LuaError).map { "\($0.kind)" } ?? "" }
      return "\(text) \(state == nil)"
    }
  },
  Attack(name: "one stream is read by eight tasks, and half are cancelled", end: "over") {
    let host = try await LuaHost()
    try await host.run(
      """
      local ml = require "moonloop"
      function s()
        local n = 0
        return function() n = n + 1 ml.sleep(0) if n < 50 then return n end end
      end
      """)
    let stream = host.stream("s", of: Int.self)
    await withTaskGroup(of: Void.self) { group in
      for turn in 0..<8 {
        group.addTask {
          let reader = Task { await kind { for try await _ in stream {} } }
          for _ in 0..<turn * 5 { await Task.yield() }
          if turn % 2 == 0 { reader.cancel() }
          _ = await reader.value
        }
      }
    }
    await host.shutDown()
    return "over"
  },
  Attack(name: "a thousand hosts begin and are dropped at once", end: "1000") {
    let count = await withTaskGroup(of: Int.self) { group in
      for number in 0..<1000 {
        group.addTask {
          let host = try? await LuaHost(name: "host \(number)")
          if number % 3 == 0 { await host?.shutDown() }
          return 1
        }
        if number % 20 == 0 { _ = await group.next() }
      }
      return 1000
    }
    return "\(count)"
  },
  Attack(name: "strings that cross often are kept, and their state ends in a conversion", end: "2")
  {
    try await onOneThread { loop in
      let kept = Kept<LuaState>()
      let lua = try LuaState(on: loop)
      kept.value = lua
      var texts: [String] = []
      lua.register("f") { (text: String) in
        texts.append(text)
        if texts.count == 5 { kept.value?.shutDown() }
      }
      try? lua.run("for i = 1, 9 do f('0123456789abcdef0123456789') end")
      kept.value = nil
      return "\(Set(texts).count + (texts.count > 4 ? 1 : 0))"
    }
  },
]
