// Recorded events from other threads and processes: workers, named ports, and a script's own system
// calls. A replay has none of them, and prints the same.

import Foundation
import Testing

@Suite struct RecordedThreadsTests {
  private static let worker = """
    local ml = require "moonloop"
    local given = ...
    print("the worker begins", given.factor)
    io.stderr:write "the worker's error output\\n"
    local kept
    ml.parent:on("message", function(message, reply)
      if message.text then return ml.parent:send(message.text:upper()) end
      if message.port then
        kept = message.port
        for i = 1, 3 do kept:send { i, math.random(1 << 40) } end
        return reply(ml.parent)
      end
      if message.stream then
        message.stream:write "from the worker\\n"
        message.stream:invalidate()
        return reply(true)
      end
      if message.drop then reply = nil collectgarbage() return end
      if message.fail then error { code = "E_ODD", detail = { 1, 2 } } end
      if message.stop then ml.parent:invalidate() return end
      reply { message.number * given.factor, os.time(), math.random(), ml.now() }
    end)
    return "over", { 1, 2, given.factor }
    """

  private static let scripts: [(what: String, options: [String], text: String)] = [
    (
      "a worker: messages, requests, ports, descriptors, output, errors, its end", [],
      """
      local ml = require "moonloop"
      local loop = ml.current()
      print(ml.worker { "not-there.lua" })
      print(ml.worker { source = "this is no Lua" })
      local worker = assert(ml.worker { "worker.lua", args = { factor = 3 } })
      local own = loop:port { name = "own", capacity = 4 }
      own:on("message", function(message) print("own", message[1], message[2]) end)
      worker.port:on("message", function(message) print("told", message) end)
      for i = 1, 200 do worker.port:send { text = "text " .. i } end
      loop:every(0.002, function(timer)
        print("tick", timer.fires)
        if timer.fires == 5 then timer:invalidate() end
      end)
      loop:task(function()
        for i = 1, 20 do print(table.unpack(worker.port:request { number = i })) end
        local way = worker.port:request { port = own }
        print(way, way:is_valid(), way.name, way == own)
        local read, write = require("moonloop.posix").pipe()
        local from, to = loop:stream { fd = read }, loop:stream { fd = write }
        print(worker.port:request { stream = to })
        to:invalidate()
        print(from:read "a")
        print(worker.port:request { drop = true })
        print(worker.port:request({ drop = 1 }, { timeout = 0 }))
        table.sort({ 1, 2 }, function()
          print(worker.port:request { number = 0.5 })
          return false
        end)
        print(worker.port:request({ fail = true }))
        worker.port:send { stop = true }
        print(worker:await())
        print(worker.status, worker.port:send "late", way:is_valid())
        own:invalidate()
      end)
      """
    ),
    (
      "a full port on either side, and a busy worker that is stopped", [],
      """
      local ml = require "moonloop"
      local loop = ml.current()
      local worker = assert(ml.worker { capacity = 4, source = [[
        local ml = require "moonloop"
        local sum = 0
        ml.parent:on("message", function(message)
          if message == "go" then
            for i = 1, 500 do assert(ml.parent:send(i, { timeout = 100 })) end
            while true do end
          end
          sum = sum + message
        end)
      ]] })
      local last
      worker.port:on("message", function(message) last = message end)
      loop:task(function()
        for i = 1, 500 do assert(worker.port:send(i, { timeout = 100 })) end
        worker.port:send("go", { timeout = 100 })
        repeat ml.sleep(0.001) until last == 500
        print(worker.status, loop:why(worker):match "busy" or "idle")
        worker:stop()
        print(worker.status, worker:await { timeout = 100 })
        print "over"
      end)
      """
    ),
    (
      "requests to workers that end: by an error, by themselves, by their owner", [],
      """
      local ml = require "moonloop"
      local loop = ml.current()
      loop:task(function()
        for _, ending in ipairs { "error 'x'", "ml.current():stop()", "ml.sleep(1000)" } do
          local worker = ml.worker {
            source = "local ml = require 'moonloop' ml.parent:receive() " .. ending }
          if ending:find "sleep" then loop:after(0.01, function() worker:stop() end) end
          print(worker.port:request(1))
          print(pcall(worker.await, worker))
        end
      end)
      """
    ),
    (
      "a worker on a clock that jumps", ["--clock", "virtual"],
      """
      local ml = require "moonloop"
      local loop = ml.current()
      local worker = assert(ml.worker { source = [[
        local ml = require "moonloop"
        for i = 1, 5 do ml.sleep(60) ml.parent:send { i, ml.now() } print(i) end
        return ml.wall_time()
      ]] })
      worker.port:on("message", function(message) print(message[1], message[2], ml.now()) end)
      local ticker = loop:every(25, function() print("tick", ml.now()) end)
      loop:task(function()
        print(worker:await())
        ticker:invalidate()
      end)
      """
    ),
    (
      "a named port of its own process, that nobody answers, and one that is not there", [],
      """
      local ml = require "moonloop"
      local name = "org.example.recorded." .. arg[1]
      print(select(2, ml.port.connect(name)))
      local service = assert(ml.port.listen(name))
      print(select(2, ml.port.listen(name)) ~= nil)
      local client = assert(ml.port.connect(name, { capacity = 100 }))
      service:on("message", function(message, reply, from)
        if message == "never" then return end
        print("asked", message, from)
        if not reply { message, { from = from } } then print "nobody waits" end
        from:send "aside"
      end)
      ml.current():task(function()
        for i = 1, 50 do
          local answer = client:request(i)
          print(answer[1], answer[2].from)
        end
        print(client:request("never", { timeout = 0.01 }))
        for i = 1, 3 do print(client:receive()) end
        service:invalidate()
        repeat until not client:receive()
        print(client:is_valid(), (client:send "late"))
      end)
      """
    ),
    (
      "system calls of the script's own, and luv's interface", [],
      """
      local posix = require "moonloop.posix"
      local read, write = posix.pipe()
      print(posix.write(write, "through a pipe"), posix.read(read, 100), posix.access(read))
      print(posix.close(write), posix.read(read, 100), pcall(posix.read, "x"))
      print(posix.read(12345, 1))
      io.write "before "
      io.stdout:flush()
      posix.write(1, "straight to the output\\n")
      local uv = require("moonloop.compat.uv").install()
      local server = uv.new_tcp()
      server:bind("127.0.0.1", 0)
      server:listen(8, function()
        local peer = uv.new_tcp()
        server:accept(peer)
        peer:read_start(function(_, text)
          if text then peer:write(text:upper()) else peer:close() server:close() end
        end)
      end)
      local client = uv.new_tcp()
      client:connect("127.0.0.1", server:getsockname().port, function(failure)
        print(failure)
        client:read_start(function(_, text) print(text) client:close() end)
        client:write "hello"
      end)
      uv.getaddrinfo("localhost", nil, { socktype = "stream", family = "inet" }, function(_, found)
        print(found and found[1].addr)
      end)
      uv.run()
      """
    ),
  ]

  @Test("a replay has what other threads said", arguments: scripts.indices)
  func same(_ index: Int) throws {
    let (what, options, text) = Self.scripts[index]
    try inFolder { folder in
      let worker = folder.appendingPathComponent("worker.lua")
      try Self.worker.write(to: worker, atomically: true, encoding: .utf8)
      try text.write(
        to: folder.appendingPathComponent("script.lua"), atomically: true, encoding: .utf8)
      let name = String(folder.lastPathComponent.suffix(12))
      let first = try moonloop(
        ["run", "--record", "run.mlt"] + options + ["script.lua", name], in: folder)
      try FileManager.default.removeItem(at: worker)
      let again = try moonloop(["replay", "run.mlt"], in: folder)
      #expect(first.isOurs && first.output.hasSuffix("\n"), "\(what): \(first)")
      #expect(
        !first.errors.contains("main chunk") && !first.errors.contains("assertion"), "\(first)")
      #expect(again.output == first.output, "\(what)")
      #expect(again.errors == first.errors, "\(what)")
      #expect(again.status == first.status, "\(what): \(again)")
    }
  }

  @Test("both ends of a named port replay without each other")
  func processes() throws {
    func path(_ name: String) -> String {
      Program.examples.appendingPathComponent("ports/\(name).lua").path
    }
    try inFolder { folder in
      let name = "org.example.recorded.\(folder.lastPathComponent.suffix(12))"
      let environment = ["COUNTERS": name]
      func start(_ recording: String, _ arguments: [String]) throws -> Program {
        try Program(
          ["run", "--record", recording] + arguments, input: nil, environment: environment,
          in: folder)
      }
      var runs: [(name: String, outcome: Outcome)] = []
      let service = try start("service", [path("service"), name])
      try service.waitFor("listening")
      let watcher = try start("watcher", [path("control"), "watch", "apples"])
      try watcher.waitFor("0\n")
      for (recording, arguments) in [
        ("add", ["add", "apples", "3"]), ("list", ["list"]), ("stop", ["stop"]),
      ] {
        runs.append((recording, try start(recording, [path("control")] + arguments).wait()))
      }
      runs.append(("watcher", try watcher.wait()))
      runs.append(("service", try service.wait()))
      runs.append(("late", try start("late", [path("control"), "list"]).wait()))
      for (recording, first) in runs {
        let again = try moonloop(["replay", recording], in: folder)
        #expect(first.isOurs, "\(recording): \(first)")
        #expect(first.status == (recording == "late" ? 1 : 0), "\(recording): \(first)")
        #expect(again.output == first.output, "\(recording)")
        #expect(again.errors == first.errors, "\(recording)")
        #expect(again.status == first.status, "\(recording)")
      }
      #expect(runs.first { $0.name == "watcher" }?.outcome.output == "0\n3\n")
    }
  }
}
