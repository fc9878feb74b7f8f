// More programs that compile but do what they must not: with hosts, loops, and members of objects.

import Foundation
import Moonloop
import MoonloopCore

private struct Item: Codable, Sendable {
  var name: String
  var count = 1
}

/// Something that is written to a file for a while.
private func withFile(_ text: String, _ body: (String) async throws -> String) async throws
  -> String
{
  let path = FileManager.default.temporaryDirectory
    .appendingPathComponent("moonloop-misuse-\(UUID().uuidString).lua").path
  defer { try? FileManager.default.removeItem(atPath: path) }
  try text.write(toFile: path, atomically: true, encoding: .utf8)
  return try await body(path)
}

let hosts = [
  Attack(
    name: "a stream is left half-way, and its host is used, ended and dropped", end: "2 5 closed"
  ) {
    var host: LuaHost? = try await LuaHost()
    try await host!.run(
      """
      local ml = require "moonloop"
      function numbers()
        local n = 0
        return function() ml.sleep(0) n = n + 1 return n end
      end
      function five() return 5 end
      """)
    let stream = host!.stream("numbers", of: Int.self)
    var last = 0
    for try await number in stream {
      last = number
      if number == 2 { break }
    }
    let five: Int = try await host!.call("five")
    await host!.shutDown()
    let ended = await kind { for try await _ in host!.stream("numbers", of: Int.self) {} }
    host = nil
    return "\(last) \(five) \(ended)"
  },
  Attack(name: "a stream keeps its host, which was dropped", end: "done") {
    var host: LuaHost? = try await LuaHost()
    try await host!.run("function numbers() return function() return 1 end end")
    let stream = host!.stream("numbers", of: Int.self)
    host = nil
    return await kind { for try await _ in stream.prefix(1000) {} }
  },
  Attack(name: "a host reloads while calls are under way", end: "interrupted 2") {
    try await withFile(
      "local ml = require 'moonloop' function wait() ml.sleep(1e6) end n = (n or 0) + 1"
    ) { path in
      let host = try await LuaHost()
      try await host.reload(file: path)
      let calls: [LuaTask<Int>] = [await host.start("wait"), await host.start("wait")]
      try await host.reload(file: path)
      for call in calls { call.cancel() }
      var text = ""
      for call in calls { text = await kind { _ = try await call.value } }
      let count: Int = try await host.withState { _, lua in lua.globals["n"] ?? 0 }
      await host.shutDown()
      return "\(text) \(count)"
    }
  },
  Attack(name: "a script's call reloads its own host", end: "done") {
    try await withFile("function again() return reload() end") { path in
      let host = try await LuaHost()
      try await host.withState { [weak host] _, lua in
        lua.registerAsync("reload") { [weak host] () async throws -> Bool in
          try await host?.reload(file: path)
          return true
        }
      }
      try await host.reload(file: path)
      let text = await kind { let _: Bool = try await host.call("again") }
      await host.shutDown()
      return text
    }
  },
  Attack(name: "an error handler of the host ends it, and calls it", end: "closed, closed") {
    let lines = Lines()
    let kept = Guarded<LuaHost?>(nil)
    let host = try await LuaHost(
      reports: .init(onError: { _, _ in
        let host = kept.withLock { $0 }
        Task {
          await host?.shutDown()
          lines.add(await kind { try await host?.run("x = 1") })
        }
        return .continue
      }))
    kept.withLock { $0 = host }
    try await host.run("require('moonloop').current():after(0, function() error 'no' end)")
    while lines.text.isEmpty { await Task.yield() }
    kept.withLock { $0 = nil }
    return "\(await kind { try await host.run("x = 1") }), \(lines.text)"
  },
  Attack(name: "tasks of a host that is dropped are awaited", end: "closed 50") {
    var host: LuaHost? = try await LuaHost()
    try await host!.run("function wait() require('moonloop').sleep(1e6) end")
    var tasks: [LuaTask<Int>] = []
    for _ in 0..<50 { tasks.append(await host!.start("wait")) }
    host = nil
    var kinds: [String] = []
    for task in tasks { kinds.append(await kind { _ = try await task.value }) }
    return "\(Set(kinds).sorted().joined()) \(kinds.count)"
  },
  Attack(name: "a host's state is kept by one closure and used by the next", end: "7") {
    let kept = Kept<LuaState>()
    let host = try await LuaHost()
    try await host.withState { _, lua in kept.value = lua }
    let seven: Int = try await host.withState { _, _ in try kept.value!.evaluate("return 7") }
    await host.shutDown()
    return "\(seven)"
  },
  Attack(name: "a host is ended by fifty callers, while fifty call it", end: "over") {
    let host = try await LuaHost()
    try await host.run("function f() require('moonloop').sleep(0) return 1 end")
    await withTaskGroup(of: Void.self) { group in
      for turn in 0..<100 {
        group.addTask {
          if turn % 2 == 0 { await host.shutDown() } else { try? await host.call("f") }
        }
      }
    }
    return "over"
  },
]

let loops = [
  Attack(
    name: "work is submitted to a thread that has stopped",
    end: "short has ended with its thread, twice"
  ) {
    let thread = try LoopThread.start(name: "short")
    let loop = thread.loop
    thread.stop()
    thread.join()
    let first = await kind { _ = try await loop.submit { 1 } }
    let second = await kind { _ = try await loop.submit { () async in 1 } }
    return first == second ? "\(first), twice" : second
  },
  Attack(
    name: "a stopped thread's loop is given blocks, changes, signals and messages", end: "false"
  ) {
    let thread = try LoopThread.start(name: "short")
    let loop = thread.loop
    let source = Loop.Source(name: "late") { _ in }
    loop.changeAndWait { try? $0.add(source) }
    thread.stop()
    thread.join()
    source.signal()
    loop.wakeUp()
    loop.perform {}
    loop.stop()
    source.invalidate()
    return "\(loop.changeAndWait { _ in })"
  },
  Attack(name: "a handler pumps its own loop, and again", end: "1 2 3 finished") {
    try await onOneThread { loop in
      var trace: [Int] = []
      for number in 1...3 {
        loop.schedule(after: .zero) { _ in
          trace.append(number)
          loop.pump()
        }
      }
      let result = loop.pump()
      return "\(trace.map { "\($0)" }.joined(separator: " ")) \(result)"
    }
  },
  Attack(name: "a timer's handler runs its own mode without an end", end: "at most 64") {
    try await onOneThread { loop in
      func deeper() {
        loop.schedule(after: .zero) { _ in deeper() }
        loop.run(mode: .default, for: .seconds(1))
      }
      deeper()
      return "returned"
    }
  },
  Attack(
    name: "an item is added to a loop that it is on, by its handler, and after its end",
    end: "a source without a name is invalid: it was invalidated and cannot be added"
  ) {
    try await onOneThread { loop in
      var text = ""
      let source = loop.makeSource { source in
        try? loop.add(source)
        source.invalidate()
        source.signal()
        do { try loop.add(source) } catch { text = "\(error)" }
      }
      try loop.add(source)
      source.signal()
      loop.run(mode: .default, for: .seconds(1))
      return text
    }
  },
  Attack(name: "two threads of loops wait for each other", end: "neither could go on") {
    let (first, second) = (try LoopThread.start(name: "a"), try LoopThread.start(name: "b"))
    first.loop.performAndWait {
      second.loop.performAndWait {
        first.loop.performAndWait {}
      }
    }
    return "returned"
  },
  Attack(name: "a thread waits for one that has just ended its wait for it", end: "1000") {
    let (first, second) = (try LoopThread.start(name: "a"), try LoopThread.start(name: "b"))
    func turn() {
      let end = DispatchSemaphore(value: 0)
      first.loop.perform {
        second.loop.performAndWait {
          second.loop.perform {
            first.loop.performAndWait {}
            end.signal()
          }
        }
      }
      end.wait()
    }
    for _ in 0..<1000 { turn() }
    return "1000"
  },
  Attack(name: "an isolated loop is kept and run after its closure", end: "finished") {
    func misuse() -> String {
      let kept = Kept<Loop>()
      Loop.isolated(clock: .virtual) { loop in
        loop.schedule(after: .seconds(1)) { _ in }
        kept.value = loop
      }
      return "\(kept.value!.run())"
    }
    return misuse()
  },
]

/// An object whose end uses its state.
private final class Last: LuaObject {
  let lua: Kept<LuaState>
  init(_ lua: Kept<LuaState>) { self.lua = lua }
  deinit { try? lua.value?.run("ended = (ended or 0) + 1") }
}

private final class Node: Encodable {
  var next: Node?
}

private final class Vault: LuaObject {
  var items: [Item] = []
}

/// A value whose crossing ends its state.
private struct Fuse: LuaPushable {
  let lua: Kept<LuaState>
  func push(to seat: inout LuaSeat) {
    lua.value?.shutDown()
    1.push(to: &seat)
  }
}

let objects = [
  Attack(
    name: "an object's end runs its state's code, in a collection and at its close", end: "3 true"
  ) {
    try await onOneThread { loop in
      let kept = Kept<LuaState>()
      let lua = try LuaState(on: loop)
      kept.value = lua
      lua.register(Last.self, as: "Last", .constructor { Last(kept) })
      try lua.run("for i = 1, 3 do Last() end")
      lua.collect()
      let ended: Int = lua.globals["ended"] ?? 0
      try lua.run("kept = Last()")
      lua.shutDown()
      kept.value = nil
      return "\(ended) \(lua.isClosed)"
    }
  },
  Attack(name: "a result of a tuple ends the state that gets it", end: "true true") {
    try await onOneThread { loop in
      let kept = Kept<LuaState>()
      let lua = try LuaState(on: loop)
      kept.value = lua
      lua.register(
        Vault.self, as: "Vault", .constructor { Vault() },
        .method("open") { (_: Vault) in (Fuse(lua: kept), Fuse(lua: kept), 3) })
      let text = ran(lua, "local a, b, c = Vault():open() assert(a + b + c == 5) done = true")
      return "\(text) \(lua.isClosed)"
    }
  },
  Attack(
    name: "a member returns more than a call may, and an endless value", end: "runtime runtime"
  ) {
    try await onOneThread { loop in
      let lua = try LuaState(on: loop)
      let node = Node()
      node.next = node
      lua.register(
        Vault.self, as: "Vault", .constructor { Vault() },
        .method("many") { (_: Vault) in
          LuaArguments(Array(repeating: .integer(1), count: 2_000_000))
        },
        .method("endless") { (_: Vault) -> Node in node })
      return [try kind(lua, "Vault():many()"), try kind(lua, "Vault():endless()")]
        .joined(separator: " ")
    }
  },
  Attack(name: "a setter registers the class again, collects, and sets itself", end: "1 2") {
    try await onOneThread { loop in
      let lua = try LuaState(on: loop)
      let kept = Kept<LuaState>()
      kept.value = lua
      lua.register(
        Vault.self, as: "Vault", .constructor { Vault() },
        .property(
          "items", get: { $0.items },
          set: { (vault: inout Vault, items: [Item]) in
            vault.items = items
            kept.value?.register(Vault.self, as: "Vault", .property("items", \.items))
            kept.value?.collect()
            kept.value?.set("other", Vault())
          }))
      try lua.run(
        """
        local v = Vault()
        v.items = { { name = 'a', count = 1 } }
        other.items = { { name = 'b', count = 2 }, v.items[1] }
        first, second = #v.items, #other.items
        """)
      kept.value = nil
      let counts: (Int, Int) = try lua.evaluate("return first, second")
      return "\(counts.0) \(counts.1)"
    }
  },
  Attack(name: "a module is defined inside itself, and its definition fails", end: "no 2 nil") {
    try await onOneThread { loop in
      struct No: Error {}
      let lua = try LuaState(on: loop)
      var text = ""
      do {
        try lua.module("m") { lua in
          lua.set("a", 1)
          lua.module("m") { $0.set("a", 2) }
          throw No()
        }
      } catch { text = "no" }
      let a: Int = try lua.evaluate("return require('m').a")
      let outer: Int? = lua.globals["a"]
      return "\(text) \(a) \(outer.map { "\($0)" } ?? "nil")"
    }
  },
]

private func kind(_ lua: LuaState, _ chunk: String) throws -> String {
  do { try lua.run(chunk) } catch { return "\(error.kind)" }
  return "done"
}

private func ran(_ lua: LuaState, _ chunk: String) -> String {
  do { try lua.run(chunk) } catch { return "\(error.kind): \(error.message)" }
  return "true"
}
