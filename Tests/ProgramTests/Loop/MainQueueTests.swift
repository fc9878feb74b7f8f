// A program of its own whose main thread runs a loop: what libdispatch and the main actor see.

import Foundation
import Testing

@Suite("The loop of the main thread")
struct MainQueueTests {
  @Test("serves the main queue and the main actor in common modes (R122 to R125)")
  func servesTheMainQueue() throws {
    let process = Process()
    let output = Pipe()
    // The tests and the program are built into one folder.
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("MainQueueProgram")
    process.standardOutput = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(
      String(decoding: text, as: UTF8.self) == """
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
}
