// Programs that compile but do what they must not: with limits, tables, loans, reports and sockets.

import Foundation
import Moonloop
import MoonloopCore

private final class Box: LuaObject {
  var value = 0
}

let values = [
  Attack(
    name: "a state is interrupted by four threads while it is made, runs and closes", end: "over"
  ) {
    try await onOneThread { loop in
      let kept = Guarded<InterruptHandle?>(nil)
      let isOver = Guarded(false)
      let threads = (0..<4).map { _ in
        let thread = Thread {
          while !isOver.withLock({ $0 }) { kept.withLock { $0 }?.interrupt() }
        }
        thread.start()
        return thread
      }
      for _ in 0..<100 {
        let lua = try LuaState(on: loop)
        kept.withLock { $0 = lua.interruptHandle }
        for _ in 0..<10 { try? lua.run("for i = 1, 1000 do pcall(string.rep, 'x', i) end") }
        lua.shutDown()
      }
      isOver.withLock { $0 = true }
      while threads.contains(where: { !$0.isFinished }) {}
      return "over"
    }
  },
  Attack(
    name: "a closure interrupts the call that it is in, and the next one goes on",
    end: "interrupted 7"
  ) {
    try await onOneThread { loop in
      let lua = try LuaState(on: loop)
      let handle = lua.interruptHandle
      lua.register("stop") { handle.interrupt() }
      let first = try kind(lua, "pcall(stop) while true do end")
      let seven: Int = try lua.evaluate("return 7")
      lua.shutDown()
      handle.interrupt()
      return "\(first) \(seven)"
    }
  },
  Attack(
    name: "limits are changed in a call that they stop, to nonsense, and back",
    end: "memoryLimit 1 timeLimit 2"
  ) {
    try await onOneThread { loop in
      let lua = try LuaState(on: loop)
      lua.register("limit") { (lua: LuaState, memory: Int, nesting: Int, callout: Int) in
        lua.setLimits(
          LuaLimits(memory: memory, callout: .milliseconds(callout), nesting: nesting, handles: -5))
      }
      let first = try kind(lua, "limit(1, -7, 100000) local t = {} for i = 1, 1e6 do t[i] = {} end")
      lua.setLimits(LuaLimits())
      let one: Int = try lua.evaluate("return 1")
      let second = try kind(lua, "limit(-3, 0, -5) while true do end")
      lua.setLimits(LuaLimits())
      let two: Int = try lua.evaluate("return 2")
      return "\(first) \(one) \(second) \(two)"
    }
  },
  Attack(
    name: "limits out of their range stop what they would stop at its edge",
    end: "memoryLimit memoryLimit memoryLimit nesting nesting, 2 open"
  ) {
    try await onOneThread { loop in
      let lua = try LuaState(on: loop)
      lua.register("deeper") { (lua: LuaState, _: Int) throws in try lua.run("deeper(1)") }
      func kind(_ limits: LuaLimits, _ chunk: String) throws -> String {
        lua.setLimits(limits)
        defer { lua.setLimits(LuaLimits()) }
        return try MisuseProgram.kind(lua, chunk)
      }
      let fill = "local t = {} for i = 1, 1e6 do t[i] = {} end"
      var open = 0
      for memory in [0, -1] where (try? LuaState(on: loop, limits: .init(memory: memory))) != nil {
        open += 1
      }
      let kinds = try [
        kind(LuaLimits(memory: 0), fill), kind(LuaLimits(memory: -1), fill),
        kind(LuaLimits(memory: .min), fill), kind(LuaLimits(nesting: .max), "deeper(1)"),
        kind(LuaLimits(nesting: .min), "deeper(1)"),
      ]
      return "\(kinds.joined(separator: " ")), \(open) open"
    }
  },
  Attack(
    name: "a table is changed, emptied, and its state closed while a closure visits it",
    end: "3 3 closed nil"
  ) {
    try await onOneThread { loop in
      let lua = try LuaState(on: loop)
      let table: LuaTable = try lua.evaluate("return { 1, 2, 3 }")
      var (first, second) = (0, 0)
      // swift-format-ignore: ReplaceForEachWithForLoop
      table.forEach { key, _ in
        first += 1
        for n in 1...100 { table[n] = n * 2 }
        table["key"] = "\(key)"
      }
      try lua.run("x = 1")
      for n in 4...100 { table[n] = nil as Int? }
      table["key"] = nil as Int?
      // swift-format-ignore: ReplaceForEachWithForLoop
      table.forEach { _, _ in
        second += 1
        lua.shutDown()
      }
      let after: Int? = table[1]
      var ended = "open"
      do throws(LuaError) { let _: Int = try table.get("x") } catch { ended = "\(error.kind)" }
      return "\(first) \(second) \(ended) \(after.map { "\($0)" } ?? "nil")"
    }
  },
  Attack(
    name: "a table is its own metatable, key and value, and is written out", end: "runtime 1 true"
  ) {
    try await onOneThread { loop in
      let lua = try LuaState(on: loop)
      let table = try lua.table()
      table.metatable = table
      table["__index"] = table
      table[table] = table
      var copied = "copied"
      do throws(LuaError) { let _: LuaCopy = try table.get("__index") } catch {
        copied = "\(error.kind)"
      }
      return "\(copied) \(table.pairs.count - 1) \(table.metatable != nil)"
    }
  },
  Attack(
    name: "a loan is kept by Swift, passed on after its end, and to another state",
    end: "handed to another"
  ) {
    try await onOneThread { loop in
      let (lua, other) = (try LuaState(on: loop), try LuaState(on: loop))
      for state in [lua, other] {
        state.register(Box.self, as: "Box", .property("value", \.value))
      }
      let kept = Kept<LuaLent>()
      lua.lend(Box()) { kept.value = $0 }
      lua.set("late", kept.value!)
      print(try kind(lua, "return late.value"))
      other.set("late", kept.value!)
      return "returned"
    }
  },
  Attack(
    name: "one object is lent twice at once, and passed as itself meanwhile", end: "1 2 3 runtime"
  ) {
    try await onOneThread { loop in
      let lua = try LuaState(on: loop)
      lua.register(Box.self, as: "Box", .property("value", \.value))
      let add: LuaFunction = try lua.evaluate(
        "return function(b) kept = kept or b b.value = b.value + 1 return b.value end")
      let box = Box()
      let counts = try lua.lend(box) { outer -> [Int] in
        let first: Int = try add(outer)
        let second: Int = try lua.lend(box) { try add($0) }
        return [first, second, try add(box)]
      }
      return "\(counts.map { "\($0)" }.joined(separator: " ")) \(try kind(lua, "kept.value = 1"))"
    }
  },
  Attack(name: "globals are kept beyond their state", end: "is closed") {
    try await onOneThread { loop in
      let lua = try LuaState(on: loop)
      let globals = lua.globals
      lua.shutDown()
      let _: Int? = globals["x"]
      return "returned"
    }
  },
  Attack(name: "every report of a host ends it, calls it and lets go of it", end: "closed 4") {
    let kept = Guarded<[LuaHost]>([])
    let lines = Lines()
    let end: @Sendable (String) -> Void = { name in
      lines.add(name)
      let host = kept.withLock { $0.popLast() }
      Task {
        await host?.shutDown()
        _ = await kind { try await host?.run("x = 1") }
      }
    }
    var ended: Set<String> = []
    for chunk in [
      "print 'x'", "warn('@on') warn 'x'", "os.exit(3)",
      "require('moonloop').current():after(0, function() error 'x' end)",
    ] {
      let before = lines.text
      let host = try await LuaHost(
        reports: .init(
          onError: { _, _ in
            end("error")
            return .stop
          }, onOutput: { _ in end("output") }, onWarning: { _ in end("warning") },
          onExit: { _ in end("exit") }))
      kept.withLock { $0 = [host] }
      try? await host.run(chunk)
      while lines.text == before { await Task.yield() }
      while await kind({ try await host.run("x = 1") }) != "closed" { await Task.yield() }
      ended.insert(await kind { try await host.run("x = 1") })
    }
    return "\(ended.sorted().joined()) \(lines.text.split(separator: ",").count)"
  },
  Attack(name: "a socket is invalidated, closed and enabled in its own handler", end: "readable 1")
  {
    try await onOneThread { loop in
      var ends: [Int32] = [0, 0]
      guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
        return "no pair"
      }
      defer { close(ends[1]) }
      _ = write(ends[1], "abc", 3)
      var count = 0
      let socket = SocketSource(
        ends[0], on: loop, reading: .read, writes: true, closesDescriptor: true
      ) { socket, _ in
        count += 1
        socket.source.invalidate()
        socket.enableWriting()
        socket.setReading(true)
        socket.setReading(false)
        socket.source.invalidate()
      }
      try loop.add(socket.source)
      loop.run(mode: .default, for: .seconds(1))
      socket.enableWriting()
      return "readable \(count)"
    }
  },
  Attack(name: "a socket is used on another thread", end: "called on thread") {
    let kept = Kept<SocketSource>()
    let ends = Kept<[Int32]>()
    ends.value = [0, 0]
    try await onOneThread { loop in
      _ = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends.value!)
      kept.value = SocketSource(ends.value![0], on: loop, reading: .read) { _, _ in }
      try loop.add(kept.value!.source)
      let ended = DispatchSemaphore(value: 0)
      Thread {
        kept.value!.enableWriting()
        ended.signal()
      }.start()
      ended.wait()
      return ""
    }
    return "returned"
  },
]

private func kind(_ lua: LuaState, _ chunk: String) throws -> String {
  do { try lua.run(chunk) } catch { return "\(error.kind)" }
  return "done"
}
