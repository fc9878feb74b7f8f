// Programs that host a loop: what they print.

import Foundation
import Testing

@Suite("Programs that host a loop")
struct HostProgramTests {
  /// Runs a program from the same build as the tests until it ends.
  private func output(
    of program: String, _ arguments: [String] = [], status: Int32 = 0
  ) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent(program)
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == status)
    return String(decoding: text, as: UTF8.self)
  }

  @Test("the main queue and the main actor are served in common modes (R122 to R125)")
  func servesTheMainQueue() throws {
    #expect(
      try output(of: "MainQueueProgram") == """
        queue: a block
        actor: before the sleep
        queue: a block made by a block
        actor: after the sleep
        default: stopped
        private: a timer
        private: finished
        queue: held until a common mode runs
        default: handledSource
        empty: finished

        """)
  }

  @Test("each entry of a state throws or stops on another thread, and after the state's end")
  func stopsMisuse() throws {
    let text = try output(of: "MisuseProgram")
    #expect(text.hasSuffix(" attacks, 0 wrong\n"), "\(text)")
  }

  @Test("a simulation pumps once a frame, in its own time (R152)")
  func pumpsFrames() throws {
    #expect(
      try output(of: "FramesProgram") == """
        rock in frame 31
        rock in frame 61
        comet in frame 73
        rock in frame 91
        tail in frame 104

        """)
  }

  @Test("plug-ins load, unload and reload on the main run loop of a Foundation program")
  func hostsPlugins() throws {
    #expect(
      try output(of: "PluginsProgram") == """
        wrong: wrong.lua:1: <name> or '...' expected near <eof>
        loaded: ["clock", "greeter"]
        clock: heard all
        greeter: hello all
        clock: tick 1
        clock: tick 2
        timer: ["greeter"]
        greeter: good day reloaded
        actor: []
        few wake-ups: true

        """)
  }

  @Test(
    "a host on the main loop shares the main thread with the main actor, run by either loop",
    arguments: ["", "foundation"])
  func sharesTheMainThread(_ host: String) throws {
    let end = host.isEmpty ? "finished" : "timedOut"
    #expect(
      try output(of: "MainHostProgram", [host])
        == ("""
        on the main loop: true
        main actor: answer, ["queue", "task", "timer"]
        a script stops its own runs alone: goes on

        """ + (host.isEmpty ? "run: stopped\n" : "") + """
          timer
          held: timedOut
          let go: \(end)

          """))
  }

  @Test("a tool reads its configuration in Lua, and says where a mistake is")
  func readsConfiguration() throws {
    let folder = try makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("tool.lua")
    func said(_ text: String, status: Int32) throws -> String {
      try text.write(to: file, atomically: true, encoding: .utf8)
      return try output(of: "ToolProgram", [file.path], status: status)
        .replacingOccurrences(of: folder.path + "/", with: "")
    }
    let good = """
      local function check(name, most) return { name = name, most = most, level = "warning" } end
      local files = { name = "files", most = 9 }
      return { title = "sizes", checks = { check("lines", lines // 2), files } }
      """
    #expect(
      try said(good, status: 0)
        == "sizes:\n  lines <= 600 (warning)\n  files <= 9 (error)\n")
    #expect(
      try said("return { titel = 'sizes' }", status: 1)
        == "tool: tool.lua: unknown field 'titel'; did you mean 'title'?\n")
    #expect(try said("return { checks = io.lines() }", status: 1).hasPrefix("tool: tool.lua:1: "))
    #expect(try output(of: "ToolProgram", status: 2) == "usage: tool FILE\n")
  }

  @Test("a server of Swift Concurrency answers by handlers in Lua")
  func answersByHandlers() throws {
    let lines = try output(of: "HandlersProgram").split(separator: "\n").map(String.init)
    #expect(
      lines == [
        "broken -> error: handlers:5: out of order", "count home -> home visit 1",
        "count home -> home visit 2", "elsewhere -> no such page: elsewhere", "slow -> done",
        "after the end: closed",
      ])
  }

  @Test(
    "500 states with a time limit are watched by one thread, which sleeps while they are idle",
    .enabled(if: !Program.isSanitized, "a sanitizer has a thread of its own"))
  func watchesManyStates() throws {
    #expect(
      try output(of: "StatesProgram") == """
        501 states, 3 threads
        idle: true
        call-out took longer than 0.2 seconds
        2 threads

        """)
  }

  @Test("a foreign loop sleeps in the loop's place, and is woken for what there is (R152)")
  func sleepsInItsPlace() throws {
    #expect(
      try output(of: "PollProgram") == """
        timer
        port: from another thread
        pipe: done
        few wake-ups: true

        """)
  }
}
