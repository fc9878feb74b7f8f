// Standard output on a full disk: every command says so, and ends with 1.

import Foundation
import TestSupport
import Testing

@Suite struct FullDiskTests {
  @Test(
    "a command whose output is lost fails",
    arguments: [
      "help", "help loop:every", "run --help", "ps", "plan app.lua", "simulate --for 1s app.lua",
      "check app.lua", "new script fresh", "--generate-completion-script bash",
      "--generate-man-page moonloop",
    ])
  func fails(command: String) throws {
    try inFolder { folder in
      try "return { timers = { tick = { every = 0.1, handler = function() end } } }".write(
        to: folder.appendingPathComponent("app.lua"), atomically: true, encoding: .utf8)
      let program = Program.executable.path
      let outcome = try moonloop(
        ["run", "-e", "print(os.execute('\(program) \(command) >/dev/full'))"], in: folder)
      #expect(outcome.output == "nil\texit\t1\n", "\(outcome)")
      #expect(
        outcome.errors.contains("cannot write to standard output: output is lost"), "\(outcome)")
    }
  }
}
