// The examples that talk to other programs: a webhook that curl posts to, and a real Redis. A
// script of ours starts both sides, so that one process owns them all.

import Foundation
import Testing

@Suite("Examples with counterparts")
struct ServerExampleTests {
  private func run(_ driver: String, _ example: String) throws -> Outcome {
    let file = Program.examples.appendingPathComponent(example).path
    return try withFile(driver) { try moonloop(["run", $0, Program.executable.path, file]) }
  }

  @Test func `webhook.lua answers curl, and counts what it posts`() throws {
    let outcome = try run(
      """
      local ml = require "moonloop"
      local program, file = ...
      local hook = assert(ml.process.spawn { program, "run", file, "0", stdout = "pipe" })
      local port = hook.stdout:read "l":match "port (%d+)$"
      local function curl(path, ...)
        local url = "http://127.0.0.1:" .. port .. path
        io.write(assert(ml.process.run { "curl", "-s", "-m", "60", url, ... }).stdout)
      end
      curl("/hook/deploy", "-d", '{"ok":true}')
      curl("/hook/deploy", "-d", "{bad")
      curl("/hook/deploy", "-H", "Transfer-Encoding: chunked", "-d", "[1]")
      curl("/other", "-w", "%{http_code}\\n")
      curl("/hook/a", "-w", "%{http_code}\\n", "-H", "Expect:", "-d", ("x"):rep(110000))
      curl "/stop"
      io.write(hook.stdout:read "a")
      print(hook:await().code)
      """, "webhook.lua")
    #expect(
      outcome.output == """
        {"count":1,"name":"deploy"}
        {"error":"json:1:2: a name in quotes expected"}
        {"count":2,"name":"deploy"}
        {"error":"there is POST /hook/NAME"}
        404
        the body is too large
        413
        {"stopped":true}
        deploy #1: {"ok":true}
        deploy #2: [1]
        0

        """)
    #expect(outcome.status == 0 && outcome.errors == "")
  }

  @Test func `cores/main.lua answers on one port by several servers`() throws {
    let outcome = try run(
      """
      local ml = require "moonloop"
      local program, file = ...
      local probe = ml.net.listen { host = "127.0.0.1", port = 0, print }
      local port = probe.port
      probe:invalidate()
      local servers = assert(ml.process.spawn { program, "run", file, "2", port, stdout = "pipe" })
      print((servers.stdout:read "l":gsub("%d+$", "N")))
      for _ = 1, 8 do
        local url = ("http://127.0.0.1:%d/anything"):format(port)
        local answer
        repeat answer = ml.http.get(url) or ml.sleep(0.01) until answer
        assert(answer.body == "e958b9e8\\n")
      end
      servers:kill "term"
      print(servers:await().code)
      """, "cores/main.lua")
    #expect(outcome.output == "2 servers on port N\n143\n", "\(outcome)")
    #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
  }

  @Test func `cores/simulate.lua shows what a hash costs`() throws {
    let file = Program.examples.appendingPathComponent("cores/simulate.lua").path
    let outcome = try moonloop(["run", "--clock", "virtual", file])
    #expect(
      outcome.output == """
        by a hash    47613 requests a second, at most 27 connections, busiest core 120 %, \
        p50 2.5 ms, p99 338 ms
        the fewest   47596 requests a second, at most 16 connections, busiest core  81 %, \
        p50 1.9 ms, p99 8 ms

        """)
  }

  @Test func `sqlite/orders.lua keeps the loop going while SQLite waits`() throws {
    let file = Program.examples.appendingPathComponent("sqlite/orders.lua").path
    let outcome = try withFile("", name: "orders.db") { try moonloop(["run", file, $0]) }
    #expect(
      outcome.output == """
        ordered
        nil\tLuaSQL: CHECK constraint failed: count > 0
        false\tchanged my mind
        tea\t2
        cups\t4
        ETIMEDOUT
        the loop went on
        4
        ETIMEDOUT

        """)
    #expect(outcome.status == 0 && outcome.errors == "")
  }

  /// What docs/blocking.md says about a blocking call in a handler.
  @Test func `a call of C that waits in a handler is found by check, and why names it`() throws {
    let script = """
      local ml = require "moonloop"
      local loop = ml.current()
      local db = assert(require "luasql.sqlite3".sqlite3():connect ":memory:")
      local LONG = [[with recursive n(i) as (select 1 union all
        select i + 1 from n where i < 3000000) select count(*) as count from n]]
      local beat = loop:every(0.001, function() end)
      loop:timer { first = 0.05, name = "report", function()
        db:execute(LONG)
        print(loop:why(beat))
        loop:after(0.05, function() beat:invalidate() end)
      end }
      """
    try withFile(script, name: "app.lua") { file in
      let trace = file + ".json"
      let run = try moonloop(["run", "--trace-out", trace, file])
      #expect(run.output.contains("the handler of timer 'report'"), "\(run)")
      let check = try moonloop(["check", "--recording", trace, file])
      #expect(check.output.contains("starves-others: a call of timer 'report' took"), "\(check)")
      #expect(check.status == 1)
    }
  }

  @Test func `redis_pubsub.lua gets from a real server what it publishes`() throws {
    let outcome = try run(
      """
      local ml = require "moonloop"
      local program, file = ...
      local socket = os.tmpname()
      os.remove(socket)
      local server <close> = assert(ml.process.spawn {
        "redis-server", "--port", "0", "--unixsocket", socket, "--save", "", stdout = "null" })
      while true do
        local stream = ml.net.connect { path = socket }
        if stream then stream:close() break end
        ml.sleep(0.02)
      end
      local result = assert(ml.process.run { program, "run", file, socket, "planets" })
      io.write(result.stdout, result.stderr, result.code, "\\n")
      """, "redis_pubsub.lua")
    #expect(
      outcome.output == """
        subscribed to planets (1)
        planets: hello
        planets: two\r
        lines
        planets: bye
        0

        """)
    #expect(outcome.status == 0 && outcome.errors == "")
  }

  @Test func `websocket.lua talks to a client of Python's, and to curl`() throws {
    let outcome = try run(
      """
      local ml = require "moonloop"
      local program, file = ...
      local server = assert(ml.process.spawn { program, "run", file, "0", stdout = "pipe" })
      local port = server.stdout:read "l":match "port (%d+)$"
      local url = "127.0.0.1:" .. port .. "/"
      io.write(ml.process.run({ "curl", "-s", "-m", "60", "-w", "%{http_code}\\n", url }).stdout)
      local client = ml.process.run { "/usr/bin/python3", "-c", [[if True:
        import asyncio, sys, websockets
        async def main(url):
          async with websockets.connect(url) as one, websockets.connect(url) as other:
            for text in ["hello", "", "x" * 125, "x" * 126, "x" * 70000]:
              await one.send(text)
              assert await one.recv() == text.upper() and await other.recv() == text
            await one.send(iter(["in ", "three ", "parts"]))
            print(await one.recv(), await other.recv())
            await one.send(b"\\x00\\xff")
            print(await one.recv(), await other.recv())
            await (await one.ping())
          for bad in ["x" * (1 << 20) + "x", b"\\xff"]:
            async with websockets.connect(url) as one:
              if isinstance(bad, bytes): await one.write_frame(True, 1, bad)
              else: await one.send(bad)
              try: await one.recv()
              except websockets.ConnectionClosedError as error: print(error.rcvd.code)
          async with websockets.connect(url) as one:
            await one.send("stop")
        asyncio.run(main("ws://" + sys.argv[1]))
      ]], url, stderr = "stdout" }
      io.write(client.stdout)
      print(server:await().code)
      """, "websocket.lua")
    #expect(
      outcome.output == """
        this is a WebSocket
        426
        IN THREE PARTS in three parts
        b'\\x00\\xff' b'\\x00\\xff'
        1009
        1007
        0

        """)
    #expect(outcome.status == 0 && outcome.errors == "")
  }
}
