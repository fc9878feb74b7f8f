// The named-ports example: two programs, each started on its own.

import Foundation
import Testing

@Suite("The example of named ports")
struct PortExampleTests {
  private static let script = """
    local folder, program, name = ...
    local ml = require "moonloop"
    local loop = ml.current()
    local function command(file, ...)
      local command = { program, "run", folder .. "/" .. file, ... }
      command.env_add = { COUNTERS = name }
      return command
    end
    local function start(...)
      local command = command(...)
      command.stdout, command.stderr = "pipe", "stdout"
      return assert(ml.process.spawn(command))
    end
    local function control(...)
      local result = assert(ml.process.run(command("control.lua", ...)))
      io.write(result.stdout, result.stderr)
      return result.code
    end
    loop:task(function()
      local service = start("service.lua", name)
      print((service.stdout:read "l":gsub("%d+$", "PID")))
      local watcher = start("control.lua", "watch", "apples")
      assert(watcher.stdout:read "l" == "0")

      print(control("add", "apples"), control("add", "pears"), control("list"), control("fly"))
      print("watched", watcher.stdout:read "l")
      local second = start("service.lua", name)
      print((second.stdout:read "a":gsub("%d+", "PID")), second:await().code)
      print(control "stop", control "list")
      print("watched", watcher.stdout:read "l", watcher:await().code)
      print((service.stdout:read "a":gsub("%d+", "PID")), service:await().code)
    end)
    """

  @Test("serves several programs, watchers too, until one of them stops it")
  func works() throws {
    let name = "org.example.counters.\(getpid())"
    let folder = Program.examples.appendingPathComponent("ports").path
    let outcome = try moonloop([
      "run", "-e", Self.script, folder, Program.executable.path, name,
    ])
    let asks = ["watch", "add", "add", "list", "fly", "stop"]
      .map { "process PID asks to \($0)\n" }.joined()
    #expect(
      outcome.output.replacingOccurrences(of: name, with: "NAME") == """
        listening on org.example.counters.PID
        1
        1
        apples\t1
        pears\t1
        there is no 'fly'
        0\t0\t0\t1
        watched\t1
        port 'org.example.counters.PID': the name is taken: process PID listens on it
        \t1
        stopped
        port 'NAME': no process is listening on it
        0\t1
        watched\tnil\t0
        \(asks.replacingOccurrences(of: "process PID asks to fly\n", with: ""))\t0

        """, "\(outcome)")
    #expect(outcome.errors == "" && outcome.status == 0, "\(outcome)")
  }
}
