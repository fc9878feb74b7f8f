// A server whose handlers are Lua while all the rest is Swift Concurrency: connections are tasks,
// what handlers ask for is an actor of Swift. docs/hosting.md explains it; `ProgramTests` runs it.

import Moonloop

/// What the program knows; handlers ask it, and wait.
actor Store {
  private var visits: [String: Int] = [:]
  func visit(_ page: String) -> Int {
    visits[page, default: 0] += 1
    return visits[page, default: 0]
  }
}

let handlers = """
  local ml = require "moonloop"
  local pages = {}
  function pages.count(name) return name .. " visit " .. visit(name) end
  function pages.slow() ml.sleep(0.02) return "done" end
  function pages.broken() error("out of order") end
  function handle(line)
    local page, rest = line:match("^(%a+) ?(.*)$")
    local answer = pages[page]
    return answer and answer(rest) or "no such page: " .. line
  end
  """

/// Serves one connection.
func serve(_ connection: Connection, _ host: LuaHost) async {
  let line = await connection.line()
  do {
    let reply: String = try await host.call("handle", line)
    await connection.end(reply)
  } catch {
    await connection.end("error: \(error.message)")
  }
}

/// What a client gets for a line.
func ask(_ port: UInt16, _ line: String) async -> String {
  guard let connection = Listener.connect(to: port) else { return "no connection" }
  await connection.send(line)
  return "\(line) -> \(await connection.line())"
}

let store = Store()
let host = try await LuaHost(
  name: "handlers", libraries: .safe, capabilities: [.timers],
  limits: LuaLimits(memory: 16 << 20, callout: .seconds(1)))
try await host.withState { _, lua in
  lua.registerAsync("visit") { (page: String) async -> Int in await store.visit(page) }
}
try await host.run(handlers, name: "=handlers")

guard let listener = Listener() else { fatalError("no port is free") }
let server = Task {
  await withDiscardingTaskGroup { group in
    for await connection in listener.connections {
      group.addTask { await serve(connection, host) }
    }
  }
}
let lines = ["slow", "count home", "count home", "broken", "elsewhere"]
let asked = lines.map { line in Task { await ask(listener.port, line) } }
var replies: [String] = []
for task in asked { replies.append(await task.value) }
for reply in replies.sorted() { print(reply) }
server.cancel()
await host.shutDown()
do {
  let late: String = try await host.call("handle", "slow")
  print(late)
} catch { print("after the end: \(error.kind)") }
