// However a script makes others hold memory, the process does not take more than three times the
// limit beyond what it takes anyway.

import Foundation
import Testing

@Suite struct PeakTests {
  /// `many`: the names of 500 modes. `keep`: holds what was made.
  static let makers: [(what: String, script: String)] = [
    (
      "tasks in many modes",
      "while true do keep[#keep + 1] = loop:task({ modes = many }, ml.sleep, 1000) end"
    ),
    (
      "tasks that wait in many modes",
      """
      local channel = ml.channel(1)
      while true do
        for i = 1, 50 do
          keep[#keep + 1] = loop:task({ modes = many }, function() channel:receive() end)
        end
        loop:run { mode = "m1", timeout = 0 }
      end
      """
    ),
    (
      "tasks made by an item in many modes",
      """
      local source = loop:source { modes = many, function()
        while true do keep[#keep + 1] = loop:task(ml.sleep, 1000) end
      end }
      source:signal()
      loop:run { mode = "m1", timeout = 1 }
      """
    ),
    (
      "notifications in many modes",
      """
      local queue = loop:notifications { nothing }
      for i = 1, 1 << 20 do queue:enqueue(tostring(i), { modes = many }) end
      """
    ),
    (
      "performs in modes with long names",
      """
      local names = {}
      for i = 1, 10 do names[i] = ("m"):rep(100000) .. i end
      while true do keep[#keep + 1] = loop:perform({ modes = names }, nothing) end
      """
    ),
    (
      "streams in many modes",
      """
      for i = 1, 5000 do
        local reader, writer = posix.pipe()
        posix.close(writer)
        keep[i] = loop:stream { fd = reader, modes = many }
      end
      """
    ),
    (
      "what little streams have received",
      """
      for i = 1, 5000 do
        local one, other = posix.socketpair()
        local input, output = loop:stream { fd = one }, loop:stream { fd = other }
        keep[#keep + 1], keep[#keep + 2] = input, output
        loop:task(function() output:write(("x"):rep(4000)) end)
        loop:task(function() input:read(100000) end)
        if i % 100 == 0 then loop:run { timeout = 0 } end
      end
      """
    ),
    (
      "one string as many arguments of a write",
      """
      local _, writer = posix.pipe()
      local output = loop:stream { fd = writer, read = false, write_limit = 1 << 40 }
      local text = ("x"):rep(1000000)
      local same = setmetatable({}, { __index = function() return text end })
      output:write(table.unpack(same, 1, 200))
      """
    ),
    (
      "watches",
      """
      local folder = ml.fs.temporary_folder()
      repeat
        local watch = loop:watch { folder, nothing }
        keep[#keep + 1] = watch
      until not watch
      while true do keep[#keep + 1] = {} end
      """
    ),
    (
      "guests that never run",
      "while true do keep[#keep + 1] = ml.guest { text = '', modes = 'never' } end"
    ),
    (
      "long scripts of guests that never run",
      """
      local text = "--" .. ("y"):rep(1000000)
      for i = 1, 300 do keep[i] = ml.guest { text = text .. i, modes = "never" } end
      while true do keep[#keep + 1] = {} end
      """
    ),
    (
      "arguments of guests that never run",
      """
      local text = ("y"):rep(1000000)
      for i = 1, 300 do keep[i] = ml.guest { text = "", modes = "never", args = text .. i } end
      """
    ),
    (
      "output of a guest that its host does not get",
      """
      ml.guest {
        text = "while true do print(('x'):rep(100000)) end",
        limits = { output = 1 << 40 }, on_output = function(_, text) keep[#keep + 1] = text end,
      }
      loop:run { timeout = 1 }
      """
    ),
    (
      "arguments of a process",
      """
      local text = ("x"):rep(100000)
      local same = setmetatable({}, {
        __index = function(_, i) return i == 1 and "true" or i < 20000 and text or nil end,
      })
      local list = {}
      for i = 1, 20000 do list[i] = same[i] end
      local _, _, code = ml.process.spawn(list)
      local _, _, other = ml.process.spawn { "true", env = { X = text:rep(100) } }
      assert(code == "E2BIG" and other == "E2BIG")
      while true do keep[#keep + 1] = {} end
      """
    ),
  ]

  /// The megabytes that a process had at most.
  private static let peak = """
    local function peak(pid)
      local status = io.open("/proc/" .. pid .. "/status"):read "a"
      return tonumber(status:match "VmHWM:%s*(%d+)") // 1024
    end
    """

  // Of another process, for a port whose mode does not run; each connection in turn.
  @Test(
    "what other processes send to a port waits with them where the limit leaves no room",
    arguments: [(messages: 300, size: 1_000_000, connections: 1), (2000, 60_000, 2000)])
  func portIsWithin(messages: Int, size: Int, connections: Int) throws {
    let outcome = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      local loop = ml.current()
      \(Self.peak)
      local child = assert(ml.process.spawn {
        "\(Program.executable.path)", "run", "--memory", "16M", "-e", [==[
          local ml = require "moonloop"
          local loop = ml.current()
          local count, sum = 0, 0
          ml.port.listen("peak.\(messages)", { modes = "later", function(_, text)
            count, sum = count + 1, sum + #text
            if count == \(messages) then loop:stop() end
          end })
          print "ready"
          io.read()
          loop:run "later"
          print(count, sum)
          os.exit(0)
        ]==],
        stdin = "pipe", stdout = "pipe",
      })
      assert(child.stdout:read() == "ready")
      local before = peak(child.pid)
      local ports = {}
      for i = 1, \(connections) do
        ports[i] = assert(ml.port.connect("peak.\(messages)", { capacity = 1 }))
        ml.sleep(0)
      end
      local text, sent = ("x"):rep(\(size)), 0
      local function send(timeout)
        local port = ports[sent % #ports + 1]
        local ok, why = port:send(text, { timeout = timeout })
        if ok then sent = sent + 1 end
        return ok, why
      end
      -- The first one that waits shows that the port takes no more.
      while sent < \(messages) and send(1) do end
      -- Until it has read what it will.
      local now
      repeat now = peak(child.pid); ml.sleep(0.2) until peak(child.pid) == now
      local more = now - before
      child.stdin:write "go\\n"
      while sent < \(messages) do assert(send(60)) end
      print(child.stdout:read(), more < \(Program.isSanitized ? 500 : 48), more)
      child:kill()
      """,
    ])
    #expect(outcome.output.hasPrefix("\(messages)\t\(messages * size)\ttrue"), "\(outcome)")
  }

  // Half of what is left has to take a message: as much again is needed to receive it.
  @Test("a message that no room can be made for ends its connection, which is told")
  func refused() throws {
    let outcome = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      local loop = ml.current()
      ml.limit { memory = 1 << 24 }
      ml.port.listen("peak.refused", {
        function(_, text) print(#text) end,
        on_error = function(e)
          print((e.message:gsub("process %d+", "process #"):gsub("%d%d%d%d+", "#")))
          loop:stop()
        end,
      })
      local child = assert(ml.process.spawn {
        "\(Program.executable.path)", "run", "-e", [==[
          local port = require("moonloop").port.connect "peak.refused"
          port:send(("x"):rep(1000000))
          port:send(("x"):rep(20000000))
        ]==],
      })
      loop:run { timeout = 60 }
      """,
    ])
    #expect(
      outcome.output == """
        1000000
        port 'peak.refused': the connection of process # was closed: there is no memory for a \
        message of # bytes or more

        """, "\(outcome)")
  }

  @Test("what scripts make others hold stays within three times the limit", arguments: makers)
  func staysWithin(what: String, script: String) throws {
    let hostile = """
      local ml, posix = require "moonloop", require "moonloop.posix"
      local loop = ml.current()
      local function nothing() end
      local keep, many = {}, {}
      for i = 1, 500 do many[i] = "m" .. i end
      loop:every(1000, nothing)
      loop:after(0, function()
        \(script)
      end)
      """
    let outcome = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      local loop = ml.current()
      \(Self.peak)
      local child = assert(ml.process.spawn {
        "\(Program.executable.path)", "run", "--memory", "16M", "-e", [==[\(hostile)]==],
        stdout = "null", stderr = "pipe",
      })
      local alarm = loop:after(60, function() child:kill() end)
      for line in child.stderr:lines() do
        if line:find "memory limit of" then break end
      end
      local more = peak(child.pid) - peak "self"
      alarm:invalidate()
      print(more < \(Program.isSanitized ? 500 : 48), more)
      child:kill()
      """,
    ])
    #expect(outcome.output.hasPrefix("true") && outcome.status == 0, "\(what): \(outcome)")
  }
}
