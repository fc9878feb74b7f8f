// The examples that people read first, with their whole output, and those of the README.

import Foundation
import Testing

@Suite("Examples")
struct ExampleTests {
  /// The file, options, what it reads, what it prints.
  static let examples: [(file: String, options: [String], input: String, output: String)] = [
    (
      "heartbeat.lua", ["--clock", "virtual"], "",
      """
        0.5 s  ♥ lub
        1.0 s  ♡ dub
        1.5 s  ♥ lub
        2.0 s  ♡ dub
        2.5 s  ♥ lub
      5 beats in 2.5 s, 0 missed

      """
    ),
    ("lines.lua", [], "one\ntwo\n\nlast without an end", "4 lines, 28 bytes\n"),
    ("lines.lua", [], "", "0 lines, 0 bytes\n"),
    (
      "tracking.lua", ["--clock", "virtual"], "",
      """
      0.4 s  default    clock in default: stops while tracking
      0.5 s  default    clock in common modes: goes on
      0.8 s  default    clock in default: stops while tracking
      0.9 s  default    clock in common modes: goes on
      1.0 s  default    tracking begins
      1.3 s  tracking   clock in common modes: goes on
      1.3 s  tracking   drag 1
      1.6 s  tracking   drag 2
      1.7 s  tracking   clock in common modes: goes on
      1.9 s  tracking   drag 3
      2.1 s  tracking   clock in common modes: goes on
      2.2 s  tracking   drag 4
      2.2 s  default    tracking ends: stopped
      2.2 s  default    clock in default: stops while tracking
      2.4 s  default    clock in default: stops while tracking
      2.5 s  default    clock in common modes: goes on
      2.8 s  default    clock in default: stops while tracking
      2.9 s  default    clock in common modes: goes on

      """
    ),
    ("ask.lua", [], "Ada\n", "Your name? Hello, Ada.\nThe clock ticked 0 times meanwhile.\n"),
    (
      "ask.lua", [], "",
      "Your name? Nobody? The input has ended.\nThe clock ticked 0 times meanwhile.\n"
    ),
    (
      "observers.lua", ["--clock", "virtual"], "",
      "10 passes, 10 rounds of work\nidle 1.0 s, busy 0.0 s\n"
    ),
    (
      "workers.lua", [], "",
      """
      1.grey  4x3, middle 68
      2.grey  8x6, middle 108
      3.grey  12x9, middle 154
      4.grey  16x12, middle 146
      5.grey  20x15, middle 128
      6.grey  24x18, middle 136
      7.grey  28x21, middle 134
      8.grey  32x24, middle 126

      """
    ),
    (
      "commands.lua", ["--clock", "virtual"], "",
      """
      scheduled in default
      1 at once: clean
      2 at once: build, test
      3 at once: build, lint, docs
      cancelled in default

      """
    ),
  ]

  @Test("say what they are meant to say", arguments: examples.indices)
  func saysWhatIsExpected(_ index: Int) throws {
    let example = Self.examples[index]
    let path = Program.examples.appendingPathComponent(example.file).path
    let outcome = try moonloop(["run"] + example.options + [path], input: example.input)
    #expect(outcome.output == example.output)
    #expect(outcome.status == 0, "\(outcome)")
  }

  @Test("every example has a row here")
  func allAreListed() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Program.examples.path)
    let names = files.filter { $0.hasSuffix(".lua") }
    // These have their own tests.
    let others =
      SystemExampleTests.files + [
        "attach.lua", "echo_server.lua", "live.lua", "redis_pubsub.lua", "webhook.lua",
        "websocket.lua",
      ]
    #expect(Set(names).subtracting(Self.examples.map(\.file)).subtracting(others).isEmpty)
  }

  @Test("lines.lua takes a million lines")
  func takesAMillionLines() throws {
    let path = Program.examples.appendingPathComponent("lines.lua").path
    try withFile("print(string.rep('a line\\n', 1000000))") { writer in
      let source = try moonloop(["run", writer]).output
      let outcome = try moonloop(["run", path], input: source)
      #expect(outcome.output == "1000001 lines, 7000001 bytes\n")
      #expect(outcome.status == 0)
    }
  }

  /// What the examples of the README print, in their order.
  static let readme: [(input: String, output: String)] = [
    ("", "beat 1\nbeat 2\nbeat 3\n"),
    ("", "2 ticks missed\n"),
    ("twelve bytes", "12 bytes\n"),
    ("", "2 commands: clean, build\n"),
    ("Ada\n", "Your name? Hello, Ada\n"),
    ("", "asleep for 0.5 s\n"),
  ]

  @Test("of the README run and print what it says")
  func runsTheReadme() throws {
    let text = try String(
      contentsOf: Program.root.appendingPathComponent("README.md"), encoding: .utf8)
    let blocks = text.components(separatedBy: "```lua\n").dropFirst().map {
      $0.components(separatedBy: "\n```")[0]
    }
    try #require(blocks.count == Self.readme.count)
    for (block, expected) in zip(blocks, Self.readme) {
      let outcome = try withFile(block) { try moonloop(["run", $0], input: expected.input) }
      #expect(outcome.output == expected.output, "\(block)\n\(outcome)")
      #expect(outcome.status == 0, "\(block)\n\(outcome)")
    }
  }
}
