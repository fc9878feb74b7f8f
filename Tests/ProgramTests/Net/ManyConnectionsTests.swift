// Servers at the limits of the system: ten thousand connections, and no descriptor left.

import Foundation
import Testing

@Suite("Many connections")
struct ManyConnectionsTests {
  /// A server of idle connections that are queried now and then; it reports how many there are.
  private static let server = """
    local ml = require "moonloop"
    local loop = ml.current()
    local served = 0
    local server
    server = assert(ml.net.listen { path = arg[1], backlog = 4096, function(stream)
      for line in stream:lines() do
        if line == "how many" then stream:write(server.connections, "\\n") end
        if line == "end" then loop:stop() end
      end
    end })
    print "listening"
    io.flush()
    """

  private static let client = """
    local ml = require "moonloop"
    local loop = ml.current()
    local count = tonumber(arg[2])
    loop:task(function()
      local streams = {}
      for i = 1, count do streams[i] = assert(ml.net.connect { path = arg[1], timeout = 60 }) end
      local function ask(stream)
        stream:write "how many\\n"
        return tonumber(stream:read "l")
      end
      while ask(streams[1]) < count do ml.sleep(0.01) end
      for i = 1, count, 97 do assert(ask(streams[i]) == count) end
      for i = 2, count do streams[i]:close() end
      while ask(streams[1]) > 1 do ml.sleep(0.01) end
      streams[1]:write "end\\n"
      print "all answered"
    end)
    """

  @Test("ten thousand are held at once, and each is answered")
  func tenThousand() throws {
    let limit = try #require(Int(shell("ulimit -Hn").trimmingCharacters(in: .newlines)))
    let count = min(Program.isSanitized ? 1_000 : 10_000, limit - 100)
    let name = "@moonloop.many.\(UUID().uuidString)"
    try withFile(Self.server, name: "server.lua") { server in
      try withFile(Self.client, name: "client.lua") { client in
        let program = Program.executable.path
        let text = try shell(
          """
          ulimit -n $(ulimit -Hn)
          '\(program)' run --timeout 110s '\(server)' \(name) > '\(server).out' &
          while ! grep -q listening '\(server).out'; do sleep 0.05; done
          '\(program)' run --timeout 100s '\(client)' \(name) \(count) 2>&1
          wait $!
          echo "server $?"
          """)
        #expect(text == "all answered\nserver 0\n")
      }
    }
  }

  /// Each connection sends a hundred messages and reads each back; every tenth is cut in the
  /// middle, with an answer unread.
  private static let echoes = """
    local ml = require "moonloop"
    local loop = ml.current()
    local count, path = tonumber(arg[2]), arg[1]
    local cut, failures, connected = 0, 0, 0
    local gate = ml.semaphore(500)
    local server = assert(ml.net.listen { path = path, backlog = 4096, name = "echo",
      on_error = function(e) failures = failures + 1 return "continue" end,
      function(stream)
        for line in stream:lines() do stream:write(line, "\\n") end
      end })
    local function rss()
      for line in io.lines "/proc/self/status" do
        local kB = line:match "^VmRSS:%s*(%d+)"
        if kB then return tonumber(kB) end
      end
    end
    local before, most = rss(), 0
    loop:task(function(scope)
      for i = 1, count do
        scope:task(function()
          local s
          gate:with(function() s = assert(ml.net.connect { path = path, timeout = 60 }) end)
          connected = connected + 1
          while connected < count do ml.sleep(0.05) end   -- all are open at once
          if i == 1 then most = rss() end
          for message = 1, 100 do
            local text = i .. ":" .. message
            s:write(text, "\\n")
            if i % 10 == 0 and message == 50 then cut = cut + 1 return s:close() end
            assert(s:read "l" == text, text)
          end
          s:close()
        end)
      end
    end):wait { mode = "default" }
    assert(cut == count // 10, cut)
    while server.connections > 0 do ml.sleep(0.01) end
    server:invalidate()
    print("ok", failures <= cut, (most - before) // count)
    """

  @Test("each echo a hundred messages, none lost, though some are cut in the middle")
  func echo() throws {
    // Both ends are in one process: two descriptors each.
    let limit = try #require(Int(shell("ulimit -Hn").trimmingCharacters(in: .newlines)))
    let isFull = ProcessInfo.processInfo.environment["MOONLOOP_STRESS"] != nil
    let count = min(isFull ? 10_000 : Program.isSanitized ? 100 : 500, limit / 2 - 100)
    try withFile(Self.echoes) { script in
      let name = "@moonloop.echo.\(UUID().uuidString)"
      let outcome = try moonloop(["run", script, name, "\(count)"])
      let words = outcome.output.split { $0.isWhitespace }
      #expect(words.prefix(2) == ["ok", "true"], "\(outcome)")
      if isFull { print("\(count) connections: \(words.last ?? "?") kB each, both ends") }
    }
  }

  @Test("without descriptors accepting pauses, says so once, and goes on by itself")
  func wantOfDescriptors() throws {
    let script = """
      local ml = require "moonloop"
      local loop = ml.current()
      local server = ml.net.listen { path = "@moonloop.want." .. ml.now(), name = "narrow",
        on_error = function(e) print(e.code, (e.message:match "cannot accept: [%a ]+%a")) end,
        function(stream) stream:read "l" stream:write "ok\\n" end }
      local path = server.address.path
      local taken = {}
      while true do
        local file = io.open "/dev/null"
        if not file then break end
        taken[#taken + 1] = file
      end
      table.remove(taken):close()
      loop:task(function()
        local client = assert(ml.net.connect { path = path })
        local none, message, code = ml.net.connect { path = path }
        print(none, code)
        ml.sleep(0.5)
        print(server.connections)
        table.remove(taken):close()
        client:write "hi\\n"
        print(client:read "l")
        client:close()
        server:invalidate()
      end)
      """
    try withFile(script) { path in
      let text = try shell("ulimit -n 40; '\(Program.executable.path)' run '\(path)' 2>&1")
      #expect(
        text == """
          nil\tEMFILE
          EMFILE\tcannot accept: Too many open files
          0
          ok

          """)
    }
  }
}
