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
        outcome.errors.contains(
          "cannot write to standard output: output is lost (No space left on device)\n"),
        "\(outcome)")
    }
  }

  // The system sends SIGXFSZ, which would end a program that does not ignore it.
  @Test("a file at the limit of its size is a full disk")
  func reachesLimit() throws {
    try inFolder { folder in
      let write = "for _ = 1, 3000 do print(('x'):rep(50)) end"
      let command = "ulimit -f 2; \(Program.executable.path) run -e \"\(write)\" > file"
      let outcome = try moonloop(["run", "-e", "print(os.execute(...))", command], in: folder)
      #expect(outcome.output == "nil\texit\t1\n", "\(outcome)")
      #expect(
        outcome.errors.hasSuffix(
          "cannot write to standard output: output is lost (File too large)\n"), "\(outcome)")
    }
  }

  // A file may have 2 KiB here, which the types of the language server do not fit in.
  @Test("a new project is written as a whole or not at all")
  func writesWhole() throws {
    try inFolder { folder in
      let command = "trap '' XFSZ; ulimit -f 4; \(Program.executable.path) new script fresh"
      let outcome = try moonloop(["run", "-e", "print(os.execute(...))", command], in: folder)
      #expect(outcome.output == "nil\texit\t1\n", "\(outcome)")
      #expect(outcome.errors.hasPrefix("moonloop: new: cannot write 'fresh/"), "\(outcome)")
      #expect(
        outcome.errors.hasSuffix("': File too large (EFBIG); 'fresh' is removed again\n"),
        "\(outcome)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
  }

  // A file may have 1 KiB here, which is a disk that fills up in the middle of it.
  @Test("what a run of tests writes is lost as a whole or not at all")
  func keeps() throws {
    try inFolder { folder in
      let golden = folder.appendingPathComponent("golden")
      try FileManager.default.createDirectory(at: golden, withIntermediateDirectories: true)
      let text = golden.appendingPathComponent("text")
      try "old".write(to: text, atomically: true, encoding: .utf8)
      let durations = folder.appendingPathComponent("durations")
      let many = "{" + (1...200).map { "\"file\($0).lua\":0.5" }.joined(separator: ",") + "}"
      try many.write(to: durations, atomically: true, encoding: .utf8)
      try "it('is written', function(_, _, t) t:golden('text', ('z'):rep(9000)) end)".write(
        to: folder.appendingPathComponent("a_spec.lua"), atomically: true, encoding: .utf8)
      let command =
        "trap \"\" XFSZ; ulimit -f 2; \(Program.executable.path) test --update"
        + " --durations durations a_spec.lua"
      let outcome = try moonloop(["run", "-e", "print(os.execute('\(command)'))"], in: folder)
      #expect(outcome.output.hasSuffix("nil\texit\t1\n"), "\(outcome)")
      #expect(outcome.output.contains("t:golden: write '"), "\(outcome)")
      #expect(
        outcome.errors.contains("--durations: write 'durations' failed: File too large"),
        "\(outcome)")
      #expect(!outcome.errors.contains("wrote"), "\(outcome)")
      #expect(try String(contentsOf: text, encoding: .utf8) == "old")
      #expect(try String(contentsOf: durations, encoding: .utf8) == many)
      #expect(try FileManager.default.contentsOfDirectory(atPath: golden.path) == ["text"])
    }
  }
}
