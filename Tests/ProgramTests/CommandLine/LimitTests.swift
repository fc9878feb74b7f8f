// Limits bound what scripts make the host hold, and how many handles they have.

import Foundation
import Testing

@Suite struct LimitTests {
  private static let begin = """
    local ml = require "moonloop"
    local loop = ml.current()
    local text = ("x"):rep(1 << 16)

    """
  private static let modes = "local modes = {} for i = 1, 500 do modes[i] = 'm' .. i end"
  /// Scripts that hold about 256 MB, nearly all of it outside Lua.
  static let holders: [(what: String, script: String)] = [
    (
      "messages in a port",
      "local port = loop:port { function() end } for i = 1, 4096 do port:send(text) end"
    ),
    (
      "messages for a worker",
      """
      local worker = ml.worker { source = "require('moonloop').sleep(100)" }
      for i = 1, 4096 do worker.port:send(text) end
      """
    ),
    (
      "scripts and arguments of workers",
      """
      for i = 1, 20 do
        ml.worker { source = "require('moonloop').sleep(100)", args = text:rep(64) .. i }
      end
      os.exit(0)
      """
    ),
    (
      "values in a channel",
      "local c = ml.channel(1 << 20) for i = 1, 4096 do c:try_send(i .. text) end"
    ),
    (
      "writes under way",
      """
      local _, writer = require("moonloop.posix").pipe()
      local out = loop:stream { fd = writer, read = false, write_limit = 1 << 40 }
      for i = 1, 4096 do out:write(text) end
      """
    ),
    (
      "notifications",
      """
      local queue = loop:notifications { function() end }
      for i = 1, 400000 do queue:enqueue(tostring(i)) end
      """
    ),
    ("performs", "for i = 1, 400000 do loop:perform(print) end"),
    // Lua's own part of these is less than the limit.
    ("timers", "local t = {} for i = 1, 80000 do t[i] = loop:after(1000, print) end os.exit(0)"),
    ("ports", "local t = {} for i = 1, 40000 do t[i] = loop:port { print } end os.exit(0)"),
    ("sources", "local t = {} for i = 1, 40000 do t[i] = loop:source { print } end os.exit(0)"),
    (
      "names of channels",
      """
      local t = {}
      for i = 1, 30000 do t[i] = ml.channel { name = text:sub(1, 990) .. i } end
      os.exit(0)
      """
    ),
    (
      "names of semaphores",
      """
      local t = {}
      for i = 1, 30000 do t[i] = ml.semaphore { permits = 1, name = text:sub(1, 990) .. i } end
      os.exit(0)
      """
    ),
    (
      "sources that have ended",
      """
      local t = {}
      for i = 1, 40000 do t[i] = loop:source { print } t[i]:invalidate() end
      """
    ),
    (
      "modes",
      """
      local timer = loop:timer { every = 1000, print }
      for i = 1, 1000 do loop:add(timer, i .. text:rep(4)) end
      """
    ),
  ]

  @Test("what is held counts as memory", arguments: holders)
  func countsAsMemory(what: String, script: String) throws {
    let outcome = try moonloop(["run", "--memory", "16M", "-e", Self.begin + script])
    #expect(outcome.status == 3, "\(what): \(outcome)")
    #expect(
      outcome.errors.contains("memory limit of 16777216 bytes exceeded"), "\(what): \(outcome)")
  }

  @Test("what was dropped counts no more")
  func isCollected() throws {
    let outcome = try moonloop([
      "run", "--memory", "8M", "-e",
      Self.begin + """
        for i = 1, 50000 do
          loop:port { print }:invalidate()
          loop:source { print }:invalidate()
          ml.channel(1)
          loop:after(1000, print):invalidate()
        end
        print("done")
        """,
    ])
    #expect(outcome.status == 0 && outcome.output == "done\n", "\(outcome)")
  }

  @Test("what was taken counts no more")
  func isGivenBack() throws {
    let outcome = try moonloop([
      "run", "--memory", "8M", "-e",
      Self.begin + """
        local large, count, port = text:rep(16), 0
        port = loop:port { function()
          count = count + 1
          if count == 50 then port:invalidate() else port:send(large) end
        end }
        port:send(large)
        local reader, writer = require("moonloop.posix").pipe()
        local input = loop:stream { fd = reader, write = false }
        local output = loop:stream { fd = writer, read = false }
        loop:task(function()
          for i = 1, 50 do output:write(large) end
          output:close()
        end)
        local function again(n) if n > 0 then loop:perform(again, n - 1) end end
        again(100000)
        for i = 1, 100 do ml.port { name = "garbage" }:send(large) end
        local bytes = 0
        loop:task(function()
          for part in function() return input:read_some() end do bytes = bytes + #part end
          print(bytes // #large, count)
        end)
        """,
    ])
    #expect(outcome.output == "50\t50\n" && outcome.status == 0, "\(outcome)")
  }

  /// `makers`: one of each kind, and how it is made.
  private static let makers = """
    local posix = require "moonloop.posix"
    local function nothing() end
    local signals = { "usr1", "usr2", "winch", "hup", "quit" }
    local makers = {
      { "timer", function() return loop:timer { every = 100, nothing } end },
      { "after", function() return loop:perform_after(100, nothing) end },
      { "source", function() return loop:source { nothing } end },
      { "observer", function() return loop:observer { on = "exit", nothing } end },
      { "port", function() return loop:port { nothing } end },
      { "named port", function(i) return ml.port.listen("org.example." .. LAST .. i) end },
      { "fd", function() return loop:fd { fd = posix.pipe(), read = nothing } end },
      { "stream", function() return loop:stream { fd = posix.pipe() } end },
      { "signal", function(i) return loop:signal(signals[i], nothing) end },
      { "watch", function() return loop:watch { "/tmp", nothing } end },
      { "server", function() return ml.net.listen { host = "127.0.0.1", port = 0 } end },
      { "udp", function() return ml.net.udp { host = "127.0.0.1" } end },
      { "task", function() return loop:task(function() ml.sleep(100) end) end },
      { "perform", function() return loop:perform({ modes = "never" }, nothing) end },
      { "channel", function() return ml.channel(1) end },
      { "semaphore", function() return ml.semaphore(1) end },
      { "notifications", function() return loop:notifications { nothing } end },
      { "socket source", function()
        return loop:socket_source { fd = posix.pipe(), read = nothing }
      end },
      { "cron", function() return loop:cron("0 3 * * *", nothing) end },
      { "http server", function()
        return ml.http.serve { host = "127.0.0.1", port = 0, nothing }
      end },
      { "file", function() return assert(ml.fs.open "/dev/null") end },
      { "temporary file", function() return assert(ml.fs.temporary_file()) end },
      { "log", function() return ml.log { to = "/dev/null" } end },
      { "worker", function()
        return ml.worker { source = "require('moonloop').sleep(100)" }
      end },
      { "process", function() return ml.process.spawn { "sleep", "100" } end },
    }

    """

  // What belongs to another thread or process takes time to end: one of these comes last.
  @Test("a limit on handles bounds every kind of them", arguments: ["worker", "process"])
  func boundsHandles(last: String) throws {
    let outcome = try moonloop([
      "run", "-e",
      (Self.begin + Self.makers + """
        ml.limit { handles = 4 }
        for place, maker in ipairs(makers) do
          if place == #makers - 1 then
            for i = 1, 100 do ml.port {} ml.channel(1) end
            print "garbage does not count"
          end
          if place >= #makers - 1 and maker[1] ~= LAST then goto continue end
          local made, ok, problem = {}
          for i = 1, 5 do
            ok, problem = pcall(maker[2], i)
            if not ok then break end
            made[i] = problem
          end
          print(maker[1], #made, ok or problem:match "the limit.*see ml.limit")
          assert(maker[1] ~= "cron" or problem:find "^loop:cron: the limit")
          for _, one in ipairs(made) do
            if maker[1] == "task" then one:cancel()
            elseif maker[1] == "log" then one:close()
            elseif not maker[1]:find "file" then one:invalidate()
            else
              one:close()
              if maker[1] ~= "file" then os.remove(one.path) end
            end
          end
          made = nil
          if maker[1] == "channel" then collectgarbage() end
          ::continue::
        end
        os.exit(0)
        """).replacingOccurrences(of: "LAST", with: "'\(last)'"),
    ])
    let words = [
      "timer": "timers", "after": "timers", "task": "tasks", "perform": "performs",
      "channel": "channels and semaphores", "semaphore": "channels and semaphores",
      "cron": "timers", "file": "open files", "temporary file": "open files",
      "log": "open files",
    ]
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(lines.contains("garbage does not count"), "\(outcome)")
    for line in lines where !line.hasPrefix("garbage") {
      let fields = line.components(separatedBy: "\t")
      let word = words[fields[0]] ?? "handles"
      let made = fields[0] == "worker" ? "2" : "4"  // A worker and its port are a handle each.
      #expect(
        fields.dropFirst() == [made, "the limit of 4 \(word) is reached; see ml.limit"],
        "\(line)")
    }
    #expect(lines.count == 25, "\(outcome)")
  }

  @Test("what makes several handles is refused unless there is room for all of them")
  func boundsSeveralHandles() throws {
    for (maker, made) in [
      ("ml.worker { source = \"require('moonloop').sleep(100)\" }", 2),
      ("ml.process.spawn { 'cat', stdin = 'pipe', stdout = 'pipe', stderr = 'pipe' }", 4),
    ] {
      let outcome = try moonloop([
        "run", "-e",
        """
        local ml = require "moonloop"
        ml.limit { handles = 5 }
        local ok, problem
        repeat ok, problem = pcall(function() return \(maker) end) until not ok
        print(problem:match "the limit.*see ml.limit")
        os.exit(0)
        """,
      ])
      let words = "the limit of 5 handles would be exceeded: there are 4, this makes \(made) more"
      #expect(outcome.output == words + "; see ml.limit\n", "\(outcome)")
    }
  }

  @Test("a limit that stops the main chunk ends the script")
  func endsTheScript() throws {
    for wait in ["", "ml.sleep(0.01)"] {
      let outcome = try moonloop([
        "run", "--callout", "50ms", "-e",
        Self.begin + "loop:every(1, print) \(wait) while true do end",
      ])
      #expect(outcome.status == 3 && outcome.output == "", "\(outcome)")
      #expect(outcome.errors.contains("call-out took longer than 0.05 seconds"), "\(outcome)")
    }
  }

  @Test("a script that is ended because limits have stopped it too often says so")
  func endsForGood() throws {
    let outcome = try moonloop([
      "run", "--callout", "10ms", "-e",
      Self.begin + "loop:every(0.001, function() while true do end end)",
    ])
    #expect(outcome.status == 3)
    #expect(
      outcome.errors.hasSuffix(
        "\nmoonloop: limits have stopped the script too often: it is ended\n"), "\(outcome)")
  }

  @Test("and says so once, whatever is stopped while it ends")
  func endsOnce() throws {
    let outcome = try moonloop([
      "run", "--callout", "10ms", "-e",
      Self.begin + """
        local function work() while true do end end
        loop:task(function()
          local x <close> = setmetatable({}, { __close = work })
          ml.sleep(100)
        end)
        loop:every(0.001, work)
        """,
    ])
    #expect(outcome.errors.split(separator: "too often").count == 2, "\(outcome)")
  }

  @Test("an error handler that waits is told where")
  func waitingHandler() throws {
    let outcome = try moonloop([
      "run", "-e", Self.begin + "loop.on_error = function() ml.sleep(1) end error 'no'",
    ])
    let message = "moonloop: the error handler waits at (command line):4, which it must not"
    #expect(outcome.status == 1 && outcome.errors.contains(message), "\(outcome)")
  }

  @Test("a function of the host that a limit makes give up is reported as stopped")
  func limitInAFunction() throws {
    let outcome = try moonloop([
      "run", "--memory", "16M", "-e",
      Self.begin + """
        local list, keep = {}, {}
        for i = 1, 100000 do list[i] = { i } end
        for i = 1, 100 do keep[i] = ml.freeze(list) end
        """,
    ])
    #expect(outcome.status == 3, "\(outcome)")
    #expect(outcome.errors.contains("memory limit of 16777216 bytes exceeded"), "\(outcome)")
  }

  @Test("a limit in the __tostring of an error object is reported as one")
  func limitInToString() throws {
    let outcome = try moonloop([
      "run", "--callout", "50ms", "-e",
      Self.begin + """
        loop:after(0, function()
          error(setmetatable({}, { __tostring = function() while true do end end }))
        end)
        """,
    ])
    #expect(outcome.status == 3, "\(outcome)")
    #expect(
      outcome.errors.contains(
        "in __tostring of an error object: call-out took longer than 0.05 seconds"), "\(outcome)")
  }

  @Test("a process that may have little memory stops its script before there is none")
  func littleMemory() throws {
    if Program.isSanitized { return }
    let outcome = try moonloop([
      "run", "-e",
      """
      local program = ...
      local ml = require "moonloop"
      local growing = {
        "local t = {} while true do t[#t + 1] = {} end",
        "local t = {} while true do t[#t + 1] = #t .. ('x'):rep(1000) end",
        "local loop = require 'moonloop'.current() while true do loop:after(1, print) end",
        "local port = require 'moonloop'.port {} while port:send(('x'):rep(999)) do end",
      }
      ml.current():task(function()
        for _, limit in ipairs { "data=8", "data=10", "data=20", "data=64", "as=40", "as=64" } do
          for number, script in ipairs(growing) do
            for _, guest in ipairs { false, true } do
              local command = { "prlimit", "--" .. limit .. "000000", program, "run" }
              local rights = { "--guest", "--allow", "timers", "--handles", "100000000" }
              if guest then table.move(rights, 1, #rights, #command + 1, command) end
              table.move({ "-e", script }, 1, 2, #command + 1, command)
              table.move({ "--callout", "60s" }, 1, 2, 5, table.move(command, 5, #command, 7))
              command.timeout = 60
              local run = ml.process.run(command)
              if run.code ~= 3 or not run.stderr:find "memory limit of" then
                print(limit, number, guest, run.code, run.signal, run.stderr)
              end
            end
          end
        end
      end)
      """, Program.executable.path,
    ])
    #expect(outcome.output == "" && outcome.status == 0, "\(outcome)")
  }
}
