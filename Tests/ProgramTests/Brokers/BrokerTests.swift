// Ports over a real broker: three example programs, which a test kills and restarts at will, and
// the functions of a port one by one.

import Foundation
import Testing

@Suite("Ports over a broker", .serialized)
struct BrokerTests {
  /// Runs a script with its own broker, whose URL is its first argument.
  private func run(_ body: String) throws -> Outcome {
    let script = """
      local ml = require "moonloop"
      local loop = ml.current()
      local folder, over, server
      local function start_server(...)
        server = assert(ml.process.spawn { "redis-server", "--port", "0", "--unixsocket",
          folder .. "/s", "--dir", folder, "--appendonly", "yes", "--appendfsync", "no",
          "--save", "", stdout = "null" })
      end
      local function kill_server() server:kill "kill" server:await() end
      -- A command of another client.
      local function redis(...)
        return assert(ml.process.run { "redis-cli", "-s", folder .. "/s", ... }).stdout
      end
      local function body()
      \(body)
      end
      loop:task(function()
        folder = assert(ml.fs.temporary_folder())
        over = "redis+unix://" .. folder:gsub("/", "%%2F") .. "%2Fs"
        start_server()
        local ok, problem = xpcall(body, debug.traceback)
        if not ok then print(problem) end
        kill_server()
        ml.fs.remove(folder, { recursive = true })
        os.exit(0, true)
      end)
      """
    return try withFile(script) { try moonloop(["run", $0]) }
  }

  @Test func `messages are acknowledged, requests answered, and kinds of values kept`() throws {
    let outcome = try run(
      """
      ml.port { name = "jobs", over = over, function(_, message, reply)
        if message == "ignored" then return end
        reply(message)
      end }
      local jobs = ml.port { name = "jobs", over = over }
      for _, message in ipairs { "a\\0\\xff", { 1, 2.0, { a = {} } }, 7, 7.0, false } do
        local reply = jobs:request(message)
        print(type(reply) == "string" and #reply or ml.json.encode(reply))
      end
      print(jobs:request "ignored")
      print(jobs:send { 1 })
      repeat until jobs:count() == 0
      print "done"
      """)
    #expect(
      outcome.output == """
        3
        [1,2.0,{"a":[]}]
        7
        7.0
        false
        nil\tport 'jobs': there will be no reply\tEPIPE
        true
        done

        """)
    #expect(outcome.status == 0)
    // The broker may still be starting.
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines.allSatisfy { $0.hasSuffix("; trying again") }, "\(outcome.errors)")
  }

  @Test func `what is for all comes to all, one after the other`() throws {
    let outcome = try run(
      """
      local heard = ml.channel(10)
      for place = 1, 2 do
        ml.port { name = "news", over = over, deliver = "all",
          function(_, text) heard:send(place .. text) end }
      end
      local news = ml.port { name = "news", over = over, deliver = "all" }
      repeat until redis("PUBSUB", "NUMSUB", "moonloop:{news}"):find "2"
      print(news:send "a", news:send "b")
      local all = {}
      for place = 1, 4 do all[place] = heard:receive() end
      table.sort(all)
      print(table.concat(all, " "))
      print(pcall(news.request, news, 1))
      """)
    #expect(
      outcome.output.hasPrefix(
        """
        true\ttrue
        1a 1b 2a 2b
        false\tport 'news': messages to all get no reply (
        """))
  }

  @Test func `a failed message is given out again, and put aside in the end`() throws {
    let outcome = try run(
      """
      local errors = 0
      -- There is no limit for them.
      local function others()
        return redis("EVAL", "for i = 1, 10500 do redis.call('XADD', KEYS[1], '*', 'a', 'b') end "
          .. "return 1", "1", "moonloop:{jobs}:failed")
      end
      repeat ml.sleep(0.05) until others():find "^1"
      ml.port { name = "jobs", over = over, lease = 0.2, attempts = 2, function(_, message)
        error("no luck with " .. message, 0)
      end, on_error = function(e)
        errors = errors + 1
        print(e.message)
      end }
      local jobs = ml.port { name = "jobs", over = over }
      jobs:send "7"
      repeat ml.sleep(0.05) until jobs:count() == 0
      print(errors, redis("XLEN", "moonloop:{jobs}:failed"))
      """)
    #expect(outcome.output == "no luck with 7\nno luck with 7\n2\t10501\n\n")
  }

  @Test func `a lease is renewed while the handler runs, and taken over when it is not`() throws {
    let outcome = try run(
      """
      local times = 0
      local function handler(_, message, reply)
        times = times + 1
        ml.sleep(1)
      end
      for _ = 1, 2 do ml.port { name = "jobs", over = over, lease = 0.3, handler } end
      local jobs = ml.port { name = "jobs", over = over }
      jobs:send "long"
      repeat ml.sleep(0.05) until jobs:count() == 0
      print(times)
      local first = ml.port { name = "other", over = over, lease = 0.3 }
      local sender = ml.port { name = "other", over = over }
      sender:send "x"
      print(first:receive())
      first:invalidate()
      local second = ml.port { name = "other", over = over, lease = 0.3 }
      local message, reply = second:receive()
      print(message, reply())
      print(reply())
      """)
    #expect(outcome.output.hasPrefix("1\nx\tfunction: "), "\(outcome)")
    #expect(
      outcome.output.hasSuffix(
        "\nx\ttrue\nnil\tport 'other': it was already answered\tEPIPE\n"), "\(outcome)")
  }

  @Test func `a full queue makes senders wait, and a sender that gives up has not sent`() throws {
    let outcome = try run(
      """
      local jobs = ml.port { name = "jobs", over = over, capacity = 2 }
      print(jobs:send(1), jobs:send(2))
      print(jobs:send(3, { timeout = 0.3 }))
      local waiting = loop:task(function() return jobs:send(4) end)
      ml.sleep(0.2)
      local receiver = ml.port { name = "jobs", over = over }
      for _ = 1, 3 do
        local message, reply = receiver:receive()
        print(message, reply())
      end
      print(waiting:await())
      """)
    #expect(
      outcome.output == """
        true\ttrue
        nil\tport 'jobs': not taken within 0.3 s: it stays full, capacity 2\tETIMEDOUT
        1\ttrue
        2\ttrue
        4\ttrue
        true

        """)
  }

  @Test func `a broker that is killed and started again keeps what it has taken`() throws {
    let outcome = try run(
      """
      local jobs = ml.port { name = "jobs", over = over }
      print(jobs:send "before")
      kill_server()
      local late = loop:task(function() return jobs:send "meanwhile" end)
      ml.sleep(0.5)
      start_server()
      print(late:await())
      local receiver = ml.port { name = "jobs", over = over }
      for _ = 1, 2 do
        local message, reply = receiver:receive()
        print(message, reply())
      end
      redis "FLUSHALL"
      print(jobs:send "after")
      print((receiver:receive()))
      redis("DEL", "moonloop:{jobs}")
      redis("SET", "moonloop:{jobs}", "text")
      print(select(3, jobs:send "x"))
      """)
    #expect(
      outcome.output == """
        true
        true
        before\ttrue
        meanwhile\ttrue
        true
        after
        EINVAL

        """)
  }

  @Test func `a password is asked for, and must be right`() throws {
    let outcome = try run(
      """
      repeat until redis("PING"):find "PONG"
      redis("CONFIG", "SET", "requirepass", "open sesame")
      local place = over:gsub("//", "//:open%%20sesame@")
      print(ml.port({ name = "jobs", over = place }):send "x")
      print(select(3, ml.port({ name = "jobs", over = over }):send "x"))
      place = over:gsub("//", "//:wrong@")
      print(select(3, ml.port({ name = "jobs", over = place }):send "x"))
      """)
    #expect(outcome.output == "true\nEACCES\nEACCES\n")
  }

  @Test func `the ledgers of killed workers over a killed broker agree`() throws {
    let isStress = ProcessInfo.processInfo.environment["MOONLOOP_STRESS"] != nil
    let count = isStress ? 100_000 : 3000
    let file = Program.examples.appendingPathComponent("broker/ledger.lua").path
    let outcome = try moonloop(
      ["run", file, Program.executable.path, "\(count)"])
    #expect(
      outcome.output == "\(count) jobs: 0 lost, 0 acknowledged twice, 0 begun after that\n",
      "\(outcome)")
  }
}
