// Programs of their own that host a loop: what they print.

import Foundation
import Testing

@Suite("Programs that host a loop")
struct HostProgramTests {
  /// Runs a program that was built beside the tests, to its end.
  private func output(of program: String) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent(program)
    process.standardOutput = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
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
