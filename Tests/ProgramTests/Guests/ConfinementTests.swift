// What confines native code in the process of an isolated guest, and a guest whose process breaks.

import Foundation
import TestSupport
import Testing

@Suite struct ConfinementTests {
  private static let program = Program.executable.deletingLastPathComponent()
    .appendingPathComponent("ConfinedProgram").path
  /// Killed by SIGSYS.
  private static let killed = "killed"
  private static let (notPermitted, noMemory, denied, tooMany) = (
    "errno 1", "errno 12", "errno 13", "errno 24"
  )

  private func run(_ way: String, _ attempt: String) throws -> (landlock: Bool, outcome: String) {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("confined-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try "mine".write(to: folder.appendingPathComponent("notes"), atomically: true, encoding: .utf8)
    let outcome = try Program(
      [way, attempt, folder.path], environment: ["SECRET": "secret"], of: Self.program
    ).wait()
    let lines = outcome.output.split(separator: "\n").map(String.init)
    let landlock = try #require(lines.first)
    #expect(landlock.hasPrefix("landlock"), "\(outcome)")
    let isKilled = outcome.status == 128 + SIGSYS
    return (landlock != "landlock 0", isKilled ? Self.killed : lines.last ?? "")
  }

  @Test(
    "code that has broken out of Lua gets no further",
    arguments: [
      ("nothing", "run", killed), ("nothing", "spawn", killed), ("all files", "run", killed),
      ("nothing", "signal", killed), ("nothing", "connect", denied),
      ("nothing", "unix socket", denied), ("network", "connect", "done"),
      ("network", "unix socket", denied), ("network", "raw socket", denied),
      ("nothing", "code", notPermitted), ("nothing", "limits", notPermitted),
      ("nothing", "chmod", notPermitted), ("files", "chmod", notPermitted),
      ("files", "link", notPermitted), ("all files", "chmod", "done"),
      ("nothing", "memory", noMemory), ("nothing", "shared memory", notPermitted),
      ("nothing", "growing memory", notPermitted), ("nothing", "stack", "limited"),
      ("nothing", "descriptors", tooMany),
      ("nothing", "thread", "done"), ("nothing", "environment", "nothing"),
    ])
  func calls(way: String, attempt: String, expected: String) throws {
    if Program.isSanitized { return }  // a sanitizer makes its own calls
    #expect(try run(way, attempt).outcome == expected)
  }

  @Test(
    "files are those that are granted, where the kernel has Landlock",
    arguments: [
      ("nothing", "read", denied), ("nothing", "read granted", denied),
      ("nothing", "list", denied), ("files", "read", denied), ("files", "read granted", "done"),
      ("files", "write", denied), ("nothing", "host's memory", denied),
      ("all files", "read", "done"), ("all files", "host's memory", denied),
    ])
  func files(way: String, attempt: String, expected: String) throws {
    if Program.isSanitized { return }
    let found = try run(way, attempt)
    if found.landlock { #expect(found.outcome == expected) }
  }

  @Test(
    "a guest whose process breaks is reported, its calls fail, and its host goes on",
    arguments: ["SEGV", "ABRT", "SYS", "BUS", "KILL"])
  func breaks(signal: String) throws {
    let outcome = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      local loop, signal = ml.current(), ...
      local told = {}
      local guest = ml.guest {
        isolate = true, name = "breaks", text = "function wait() host.ready() host.never() end",
        functions = { never = function() ml.sleep(1000) end, ready = function()
          local own = ml.fs.read("/proc/self/stat"):match "%d+"
          local children = ml.fs.read("/proc/self/task/" .. own .. "/children")
          ml.process.run { "sh", "-c", "kill -" .. signal .. " " .. children:match "%d+" }
        end },
        on_error = function(error) told[#told + 1] = error.message end,
      }
      loop:task(function()
        print(guest:call "wait")
        while guest.status ~= "ended" do ml.sleep(0.001) end
        print(guest.status, #told, told[1])
        print(guest:call "wait")
      end)
      """, signal,
    ])
    let more = signal == "SYS" ? ": it made a system call that guests may not make" : ""
    let call = "nil\tthe guest has ended\tECANCELED"
    let late = "nil\tguest:call: the guest has ended\tECANCELED"
    let killed = "the guest's process was killed by SIG\(signal)\(more)"
    #expect(outcome.output == "\(call)\nended\t1\t\(killed)\n\(late)\n", "\(outcome)")
    #expect(outcome.isOurs, "\(outcome)")
  }

  @Test("a process of a guest that is killed at any step is reported once, and leaves nothing")
  func steps() throws {
    let script = RepositoryFile.top + "/Tests/Data/Attacks/killed.lua"
    let moments = ProcessInfo.processInfo.environment["MOONLOOP_STRESS"] == nil ? "10" : "1000"
    let outcome = try moonloop(["run", script, moments])
    #expect(outcome.output == "held 26\n", "\(outcome)")
    #expect(outcome.isOurs, "\(outcome)")
  }
}
