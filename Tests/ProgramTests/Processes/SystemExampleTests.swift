// The examples that work with other programs, each against the real thing.

import Foundation
import Testing

@Suite("Examples with other programs")
struct SystemExampleTests {
  /// The examples that run here.
  static let files = ["tail.lua", "supervise.lua", "pipeline.lua", "pressure.lua"]

  private func path(_ name: String) -> String {
    Program.examples.appendingPathComponent(name).path
  }

  @Test("pipeline.lua counts a large file as sort and uniq do")
  func pipeline() throws {
    let lines = (0..<200_000).map { "line \($0 &* 7919 % 1009)" }.joined(separator: "\n") + "\n"
    try withFile(lines) { file in
      let expected = try shell("LC_ALL=C sort \(file) | uniq -c")
      let outcome = try moonloop(["run", path("pipeline.lua"), file])
      #expect(outcome.output == expected + "1009 different lines of 200000\n")
      #expect(outcome.status == 0, "\(outcome)")
    }
  }

  @Test("tail.lua prints what `tail -F` prints, through rotation")
  func tail() throws {
    try withFile("first\n", name: "log") { file in
      let real = folderOutput(of: file)
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/tail")
      process.arguments = ["-n", "+1", "-s", "0.01", "-F", file]
      process.standardError = FileHandle.nullDevice
      process.standardOutput = try FileHandle(forWritingTo: real)
      try process.run()
      // It may have inherited a mask that blocks the usual requests to end.
      defer { kill(process.processIdentifier, SIGKILL) }
      let program = try Program(["run", path("tail.lua"), file], input: nil)
      var written = "first\n"
      // Both see each step before the next one is made.
      func step(_ script: String, _ text: String) throws {
        _ = try shell(script)
        written += text
        if !text.isEmpty { try program.waitFor(text) }
        while try String(contentsOf: real, encoding: .utf8) != written { usleep(1000) }
      }
      try program.waitFor("first\n")
      try step("true", "")
      try step("echo second >> \(file)", "second\n")
      try step("mv \(file) \(file).1; echo third > \(file)", "third\n")
      try step("echo fourth >> \(file)", "fourth\n")
      try step("echo fifth > \(file).new; mv \(file).new \(file)", "fifth\n")
      try step("rm \(file)", "")
      try step("echo sixth, and more > \(file)", "sixth, and more\n")
      try step(": > \(file); echo 7 >> \(file)", "7\n")
      program.send(SIGTERM)
      let outcome = try program.wait()
      #expect(outcome.output == written)
      #expect(outcome.output == (try String(contentsOf: real, encoding: .utf8)))
      #expect(outcome.status == 0, "\(outcome)")
    }
  }

  @Test("pressure.lua reports pressure, and its end")
  func pressure() throws {
    try withFile("", name: "fifo") { file in
      _ = try shell("rm \(file); mkfifo \(file)")
      let program = try Program(["run", path("pressure.lua"), file], input: nil)
      // Opening waits for a reader.
      let text = "some avg10=12.50 avg60=0.00 avg300=0.00 total=9"
      _ = try shell("timeout 20 sh -c 'echo \(text) > \(file)'")
      try program.waitFor("memory: short, 12.5 %\n")
      program.send(SIGTERM)
      let outcome = try program.wait()
      #expect(outcome.output.hasPrefix("memory: short, 12.5 %\n"), "\(outcome)")
      #expect(outcome.status == 0, "\(outcome)")
    }
  }

  private func folderOutput(of file: String) -> URL {
    let url = URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent("real")
    _ = FileManager.default.createFile(atPath: url.path, contents: nil)
    return url
  }

  @Test("supervise.lua keeps three children alive, and stops them in order")
  func supervise() throws {
    // Fails twice, then stays up.
    let flaky = "echo >> $0.count; [ $(wc -l < $0.count) -gt 2 ] && exec sleep 1000; exit 3"
    try withFile(flaky, name: "flaky") { file in
      let program = try Program(
        ["run", path("supervise.lua"), "web=sleep 1000", "db=sleep 1001", "flaky=sh " + file],
        input: nil)
      try program.waitFor("again in 0.2 s\nflaky: started as ")
      let web = try #require(program.output.firstMatch(of: /web: started as (\d+)/))
      kill(try #require(pid_t(web.1)), SIGKILL)
      try program.waitFor("web: killed by kill, again in 0.1 s\nweb: started as ")
      program.send(SIGTERM)
      let outcome = try program.wait()
      #expect(
        outcome.output.replacing(/as \d+/, with: "as N") == """
          web: started as N
          db: started as N
          flaky: started as N
          flaky: ended with 3, again in 0.1 s
          flaky: started as N
          flaky: ended with 3, again in 0.2 s
          flaky: started as N
          web: killed by kill, again in 0.1 s
          web: started as N
          flaky: stopped, killed by term
          db: stopped, killed by term
          web: stopped, killed by term
          all stopped by term

          """)
      #expect(outcome.status == 0, "\(outcome)")
      for match in outcome.output.matches(of: /as (\d+)/) {
        #expect(kill(try #require(pid_t(match.1)), 0) != 0, "\(match.0)")
      }
    }
  }
}
