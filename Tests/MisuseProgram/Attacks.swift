// Programs that compile but do what they must not, with their output: none may crash.

import Foundation
import Moonloop
import MoonloopCore

/// What a program does, and its last line; for one that is stopped, part of the message.
struct Attack: Sendable {
  let name: String
  let end: String
  let run: @Sendable () async throws -> String
}

/// Lines from any thread.
final class Lines: Sendable {
  private let all = Guarded<[String]>([])
  func add(_ line: String) { all.withLock { $0.append(line) } }
  var text: String { all.withLock { $0.joined(separator: ", ") } }
}

/// Uses a value of one thread against all rules.
final class Kept<Value>: @unchecked Sendable {  // this is what the program is about
  var value: Value?
}

func kind(_ body: () async throws -> Void) async -> String {
  do {
    try await body()
    return "done"
  } catch {
    return (error as? LuaError).map { "\($0.kind)" } ?? "\(error)"
  }
}

let attacks =
  actors + verdicts + lent + ends + hosts + crossings + loops + objects + values + coded
  + types

private let actors = [
  Attack(name: "an actor is dropped while its state's code runs", end: "loop over") {
    actor Owner {
      nonisolated let loop: Loop
      nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
      var lua: LuaState?
      var functions: [LuaFunction] = []
      init(_ loop: Loop) { self.loop = loop }
      func begin() throws {
        let lua = try LuaState(on: loop)
        try lua.run(
          """
          local loop = require "moonloop".current()
          function f() return {} end
          for i = 1, 20 do loop:every(0.001, function() for i = 1, 100 do f() end end) end
          """)
        for _ in 0..<50 { functions.append(lua.globals[function: "f"]!) }
        self.lua = lua
      }
    }
    for _ in 0..<50 {
      let thread = try LoopThread.start(name: "owner")
      var owner: Owner? = Owner(thread.loop)
      try await owner?.begin()
      owner = nil
      thread.stop()
    }
    return "loop over"
  },
  Attack(name: "an async function shuts its own host down and calls it", end: "closed, closed") {
    let host = try await LuaHost()
    let lines = Lines()
    try await host.withState { [weak host] _, lua in
      lua.registerAsync("leave") { [weak host] () async in
        await host?.shutDown()
        lines.add(await kind { try await host?.call("leave") })
      }
    }
    let ended = await kind { try await host.call("leave") }
    while lines.text.isEmpty { await Task.yield() }
    return "\(ended), \(lines.text)"
  },
  Attack(name: "an async function ends after its host", end: "closed, 1") {
    var host: LuaHost? = try await LuaHost()
    let (gate, opening) = AsyncStream.makeStream(of: Void.self)
    let (begun, begins) = AsyncStream.makeStream(of: Void.self)
    let lines = Lines()
    try await host?.withState { _, lua in
      lua.registerAsync("late") { () async -> [Int] in
        begins.finish()
        await Task { for await _ in gate {} }.value
        lines.add("1")
        return [1, 2, 3]
      }
    }
    let task: LuaTask<[Int]>? = await host?.start("late")
    for await _ in begun {}
    await host?.shutDown()
    host = nil
    let ended = await kind { _ = try await task?.value }
    opening.finish()
    while lines.text.isEmpty { await Task.yield() }
    return "\(ended), \(lines.text)"
  },
  Attack(name: "one task is cancelled and awaited by many, after its host too", end: "200") {
    var host: LuaHost? = try await LuaHost()
    try await host?.run("function wait() require('moonloop').sleep(1e6) end")
    let task: LuaTask<Int> = await host!.start("wait")
    let failures = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<100 {
        group.addTask {
          task.cancel()
          return await kind { _ = try await task.value } == "interrupted" ? 1 : 0
        }
      }
      return await group.reduce(0, +)
    }
    await host?.shutDown()
    host = nil
    var more = 0
    for _ in 0..<100 {
      task.cancel()
      more += await kind { _ = try await task.value } == "interrupted" ? 1 : 0
    }
    return "\(failures + more)"
  },
]

private let verdicts = [
  Attack(
    name: "a verdict ends what fails while it ends",
    end: "inner, close, error in __gc (gc), outer, pong"
  ) {
    let lines = Lines()
    let host = try await LuaHost(
      reports: .init(onError: { error, _ in
        lines.add(error.message)
        return .stop
      }))
    try await host.run(
      """
      local ml = require "moonloop"
      local loop = ml.current()
      function begin()
        loop:task(function()
          local guard <close> = setmetatable({}, { __close = function()
            loop:after(0, function() error("made while ending", 0) end)
            loop:task(function() ml.sleep(1) end)
            error("close", 0)
          end })
          ml.sleep(1e6)
        end)
        loop:after(0, function()
          loop:every(1, print)
          loop:timer { first = 0, modes = "inner", function() error("inner", 0) end }
          loop:run { mode = "inner" }
          setmetatable({}, { __gc = function() error("gc", 0) end })
          collectgarbage()
          error("outer", 0)
        end)
      end
      function ping() ml.sleep(0) return "pong" end
      """)
    try await host.call("begin")
    var pong = ""
    for _ in 0..<5 { pong = (try? await host.call("ping")) ?? pong }
    await host.shutDown()
    return "\(lines.text), \(pong)"
  },
  Attack(name: "a verdict comes after the last reference to its host", end: "closed") {
    let kept = Guarded<LuaHost?>(nil)
    let lines = Lines()
    let host = try await LuaHost(
      reports: .init(onError: { _, _ in
        kept.withLock { $0 = nil }
        lines.add("told")
        return .stop
      }))
    kept.withLock { $0 = host }
    try await host.run(
      "require('moonloop').current():after(0, function() error('no luck', 0) end)")
    while lines.text.isEmpty { await Task.yield() }
    await host.shutDown()
    return await kind { try await host.run("x = 1") }
  },
  Attack(name: "two callers ask one stream, which ends with its host", end: "closed, nil") {
    let host = try await LuaHost()
    try await host.run(
      """
      local ml = require "moonloop"
      function numbers()
        local n = 0
        return function() n = n + 1 ml.sleep(0) if n > 50 then ml.sleep(1e6) end return n end
      end
      """)
    let stream = host.stream("numbers", of: Int.self)
    let (first, second) = (
      Task {
        var iterator = stream.makeAsyncIterator()
        do { while try await iterator.next() != nil {} } catch {
          let next = (try? await iterator.next()).map { "\($0)" } ?? "nil"
          return "\((error as? LuaError)?.kind.rawValue ?? "other"), \(next)"
        }
        return "ended"
      },
      Task { for try await n in stream where n == 50 { await host.shutDown() } }
    )
    _ = try? await second.value
    return await first.value
  },
]

private final class Door: LuaObject {
  var value = 0
}

private let lent = [
  Attack(name: "members close the state that they belong to", end: "true true true true") {
    try await onOneThread { loop in
      func closes(_ chunk: String) throws -> Bool {
        let lua = try LuaState(on: loop)
        lua.register(
          Door.self, as: "Door", .constructor { Door() },
          .computed("exit") { [unowned lua] (_: Door) in
            lua.shutDown()
            return 1
          },
          .method("leave") { (_: Door, lua: LuaState) in
            lua.close()
            return lua.globals[function: "print"]!
          },
          .pairs { [unowned lua] (_: Door) in
            (0..<3).lazy.map { number -> (Int, Int) in
              lua.shutDown()
              return (number, number)
            }
          },
          .close { [unowned lua] _ in lua.shutDown() })
        try lua.run(chunk)
        return lua.isClosed
      }
      return try [
        "local d <const> = Door() return d.exit + d.exit", "Door():leave()('')",
        "for k in pairs(Door()) do Door():leave() end", "local d <close> = Door()",
      ].map { "\(try closes($0))" }.joined(separator: " ")
    }
  },
  Attack(name: "a loan is lent again, and its state is closed in it", end: "runtime 1 true") {
    try await onOneThread { loop in
      let lua = try LuaState(on: loop)
      lua.register(Door.self, as: "Door", .property("value", \.value))
      lua.register("again") { (lua: LuaState, door: Door) in
        lua.lend(door) { lent in lua.set("inner", lent) }
        lua.shutDown()
        door.value += 1
      }
      let door = Door()
      let use: LuaFunction = try lua.evaluate(
        "return function(d) outer = d again(d) return inner.value end")
      var first = ""
      do { try lua.lend(door) { try use($0) } } catch { first = "\((error as! LuaError).kind)" }
      return "\(first) \(door.value) \(lua.isClosed)"
    }
  },
  Attack(name: "the state that a closure gets is kept, and used on another thread", end: "close: ")
  {
    let kept = Kept<LuaState>()
    let host = try await LuaHost()
    try await host.withState { _, lua in
      lua.register("keep") { (lua: LuaState) in kept.value = lua }
    }
    try await host.run("keep()")
    kept.value?.close()
    return "returned"
  },
]

private let ends = [
  Attack(name: "the state that a closure gets is kept beyond its end", end: "is closed") {
    let kept = Kept<LuaState>()
    return try await onOneThread { loop in
      let lua = try LuaState(on: loop)
      lua.register("keep") { (lua: LuaState) in kept.value = lua }
      try lua.run("keep()")
      lua.shutDown()
      do { try kept.value?.run("x = 1") } catch { print(error) }
      kept.value?.close()
      kept.value?.collect()
      return "returned"
    }
  },
  Attack(name: "a state is used after its isolated loop, and dropped elsewhere", end: "closed") {
    let kept = Kept<(LuaState, LuaFunction, LuaTable)>()
    try await onOneThread { loop in
      let lua = try LuaState(on: loop)
      kept.value = (lua, try lua.evaluate("return print"), try lua.table())
      return ""
    }
    let (lua, function, table) = kept.value!
    kept.value = nil
    lua.register("f") { 1 }
    table["a"] = 1
    lua.collect()
    return await kind { try function() }
  },
  Attack(name: "a value of one host is handed to another", end: "was handed to another") {
    let (first, second) = (try await LuaHost(), try await LuaHost())
    let value = try await first.withState { _, lua -> LuaReference? in
      do { try lua.run("error(setmetatable({}, {}))") } catch let error as LuaError {
        return error.value
      }
      return nil
    }
    try await second.call("print", value!)
    return "returned"
  },
  Attack(name: "a host reloads twice at once, and while it ends", end: "over") {
    let path = FileManager.default.temporaryDirectory
      .appendingPathComponent("moonloop-misuse-\(getpid()).lua").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try "require('moonloop').current():every(0.001, function() end)"
      .write(toFile: path, atomically: true, encoding: .utf8)
    for _ in 0..<20 {
      let host = try await LuaHost()
      await withTaskGroup(of: Void.self) { group in
        for turn in 0..<6 {
          group.addTask {
            if turn == 4 { await host.shutDown() } else { try? await host.reload(file: path) }
          }
        }
      }
    }
    return "over"
  },
]

/// Runs something on a thread and loop of its own, which end with it.
@discardableResult
func onOneThread(
  _ body: @escaping @Sendable (Loop) throws -> String
) async throws -> String {
  try await withCheckedThrowingContinuation { continuation in
    Thread {
      continuation.resume(with: Result { try Loop.isolated(clock: .virtual, body) })
    }.start()
  }
}
