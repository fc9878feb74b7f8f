// `moonloop test` on the spec files of Tests/Specs: its whole output against Tests/Specs/expected,
// without times.
//
// To write the expected texts again: MOONLOOP_EXPECTED=write swift test --filter SpecRunTests

import Foundation
import Testing

@Suite("moonloop test")
struct SpecRunTests {
  struct Row: Sendable, CustomTestStringConvertible {
    /// The name of the file with the expected output.
    let name: String
    /// The folder in which it runs.
    let folder: String
    var arguments: [String] = []
    let status: Int32

    var testDescription: String { name }
  }

  static let specs = Program.root.appendingPathComponent("Tests/Specs")

  static let rows: [Row] = [
    Row(name: "words", folder: "words", status: 0),
    Row(name: "words-verbose", folder: "words", arguments: ["-v"], status: 0),
    Row(name: "slowest", folder: "tags", arguments: ["--slowest=3", "-t", "hard"], status: 0),
    Row(name: "words-lazy", folder: "words", arguments: ["--lazy", "--sort"], status: 0),
    Row(name: "failures", folder: "failures", status: 1),
    Row(name: "failures-tap", folder: "failures", arguments: ["-o", "tap"], status: 1),
    Row(name: "failures-junit", folder: "failures", arguments: ["-o", "junit"], status: 1),
    Row(name: "failures-json", folder: "failures", arguments: ["--output=json"], status: 1),
    Row(
      name: "failures-colour", folder: "failures",
      arguments: ["--color", "always", "--filter", "compares"], status: 1),
    Row(name: "failures-first", folder: "failures", arguments: ["--no-keep-going"], status: 1),
    Row(name: "hooks", folder: "hooks", status: 1),
    Row(name: "hooks-tap", folder: "hooks", arguments: ["-oTAP"], status: 1),
    Row(name: "loops", folder: "loops", status: 1),
    Row(name: "leaks", folder: "leaks", status: 1),
    Row(name: "broken", folder: "broken", status: 1),
    Row(name: "own", folder: "own", status: 0),
    Row(name: "fixtures", folder: "fixtures", status: 0),
    Row(name: "programs", folder: "programs", status: 1),
    Row(name: "died", folder: "died", status: 1),
    Row(name: "requests", folder: "requests", status: 1),
    Row(name: "doubles", folder: "doubles", status: 1),
    Row(name: "sockets", folder: "sockets", status: 0),
    Row(
      name: "coverage", folder: "coverage",
      arguments: ["--coverage", "--coverage-config-file", "settings"], status: 0),
    Row(
      name: "coverage-missing", folder: "uncovered/missing", arguments: ["--coverage"], status: 2),
    Row(name: "coverage-broken", folder: "uncovered/broken", arguments: ["-c"], status: 2),
    Row(name: "orders", folder: "orders", status: 1),
    Row(
      name: "orders-replayed", folder: "orders",
      arguments: ["race_spec.lua", "--name", "settles in any order", "--seed", "1"], status: 1),
    Row(
      name: "orders-other-seed", folder: "orders",
      arguments: ["race_spec.lua", "--name", "settles in any order", "--seed", "3"], status: 0),
    Row(name: "insulation", folder: "insulation", status: 0),
    Row(
      name: "insulation-off", folder: "insulation", arguments: ["--no-auto-insulate"], status: 1),
    Row(name: "list", folder: "tags", arguments: ["--list"], status: 0),
    Row(name: "list-tagged", folder: "tags", arguments: ["-l", "--tags", "sweet,hard"], status: 0),
    Row(name: "list-without", folder: "tags", arguments: ["-l", "--exclude-tags=slow"], status: 0),
    Row(
      name: "list-filtered", folder: "tags",
      arguments: ["-l", "--filter", "^fruit", "--filter-out=dried"], status: 0),
    Row(name: "repeat", folder: "tags", arguments: ["--repeat", "2", "-t", "hard"], status: 0),
    Row(name: "repeat-failed", folder: "flaky", arguments: ["--repeat", "5"], status: 1),
    Row(name: "nothing", folder: "tags", arguments: ["--filter", "no such test"], status: 2),
    Row(name: "jobs", folder: "insulation", arguments: ["--jobs", "2", "-v"], status: 0),
    Row(name: "jobs-crash", folder: "crash", arguments: ["-j2"], status: 1),
    Row(name: "config", folder: "config", status: 0),
    Row(name: "config-task", folder: "config", arguments: ["--run=tap"], status: 0),
    Row(name: "leaks-allowed", folder: "leaks", arguments: ["--leaks", "allow"], status: 0),
    Row(name: "foreign-config", folder: "foreign", status: 0),
    Row(name: "foreign-config", folder: "words", arguments: ["-C", "../foreign"], status: 0),
    Row(
      name: "foreign-options", folder: "foreign",
      arguments: [
        "--loaders=lua", "--lua=luajit", "--ignore-lua", "--lang", "en", "--run", "none",
      ],
      status: 0),
    Row(name: "foreign-lua", folder: "foreign", arguments: ["--lua=luajit"], status: 2),
    Row(
      name: "foreign-loaders", folder: "foreign", arguments: ["--loaders", "lua,moonscript"],
      status: 2),
    Row(name: "foreign-lang", folder: "foreign", arguments: ["--lang", "de"], status: 2),
    Row(name: "foreign-version", folder: "foreign", arguments: ["--version"], status: 2),
    Row(name: "foreign-sound", folder: "foreign", arguments: ["-s"], status: 2),
    Row(name: "wrong-flag", folder: "foreign", arguments: ["--run", "flag"], status: 2),
    Row(name: "wrong-texts", folder: "foreign", arguments: ["--run", "texts"], status: 2),
    Row(name: "foreign-output", folder: "foreign", arguments: ["-Xoutput", "a,b"], status: 2),
    Row(name: "wrong-folder", folder: "foreign", arguments: ["-C", "nowhere"], status: 2),
    Row(name: "wrong-leaks", folder: "foreign", arguments: ["--leaks", "some"], status: 2),
    Row(name: "wrong-option", folder: "tags", arguments: ["--fliter", "x"], status: 2),
    Row(name: "wrong-pattern", folder: "tags", arguments: ["--filter", "("], status: 2),
    Row(name: "wrong-number", folder: "tags", arguments: ["--repeat", "0.5"], status: 2),
    Row(name: "wrong-output", folder: "tags", arguments: ["-o", "xml"], status: 2),
    Row(
      name: "wrong-tags", folder: "tags", arguments: ["-t", "a", "--exclude-tags", "a"], status: 2),
    Row(name: "no-such-file", folder: "tags", arguments: ["missing_spec.lua"], status: 2),
    Row(name: "no-spec-file", folder: "config", arguments: ["-p", "nothing"], status: 2),
    Row(name: "no-such-task", folder: "config", arguments: ["-r", "nothing"], status: 2),
  ]

  /// The output without what varies from run to run.
  static func settled(_ text: String) -> String {
    var text = text
    for (pattern, replacement) in [
      (#"(?m)^ +\d+(\.\d+)? (ms|s)\b"#, "  T"),
      (#"\b\d+(\.\d+)? (ms|s)\b(?! \()"#, "T"), (#"(time=|"seconds":)"?[\d.e-]+"?"#, "$1T"),
      (#"127\.0\.0\.1:\d{4,}"#, "127.0.0.1:PORT"), (#"timestamp="[^"]*""#, "timestamp=T"),
      (#"Random seed: \d+"#, "Random seed: N"),
    ] {
      text = text.replacingOccurrences(of: pattern, with: replacement, options: .regularExpression)
    }
    return text
  }

  @Test(arguments: rows)
  func `the output of a run is exactly as expected`(row: Row) throws {
    let outcome = try moonloop(
      ["test"] + row.arguments, in: Self.specs.appendingPathComponent(row.folder))
    let marker = outcome.errors.isEmpty ? "" : "--- standard error\n"
    let text = Self.settled(outcome.output + marker + outcome.errors)
    let file = Self.specs.appendingPathComponent("expected/\(row.name).txt")
    if ProcessInfo.processInfo.environment["MOONLOOP_EXPECTED"] == "write" {
      try Data(text.utf8).write(to: file)
    }
    let expected = String(decoding: try Data(contentsOf: file), as: UTF8.self)
    #expect(text == expected)
    #expect(outcome.status == row.status, "\(outcome)")
  }

  /// Waits, and ends what it started when it has to stop. Its teardowns wait as well.
  static let waiting = """
    local ml = require "moonloop"
    local function say(text) return function() ml.sleep(0.001) print(text) end end
    teardown(say "teardown")
    after_each(say "after")
    it("is done", function() end)
    it("waits", function(loop, _, t)
      finally(say "finally")
      t:defer(say "deferred")
      local timer <close> = loop:every(60, print)
      local open <close> = setmetatable({}, { __close = function() print "closed" end })
      print "ready"
      io.stdout:flush()
      ml.sleep(1000)
    end)
    it("is not begun", function() print "never" end)
    describe("another block", function()
      setup(function() print "never" end)
      it("is not begun", function() print "never" end)
    end)
    """

  /// What is run and reported after a signal.
  static let closing = """
    finally
    after
    deferred
    Eteardown
    """

  @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143)), (SIGHUP, Int32(129))])
  func `a signal ends the run, tests close what they hold`(signal: Int32, status: Int32) throws {
    try withFile(Self.waiting, name: "waiting_spec.lua") { path in
      let program = try Program(["test", path])
      try program.waitFor("ready")
      program.send(signal)
      let outcome = try program.wait()
      #expect(outcome.status == status)
      #expect(!outcome.wasKilled)
      #expect(outcome.output.contains("closed\n" + Self.closing), "\(outcome)")
      #expect(!outcome.output.contains("never"), "\(outcome)")
      #expect(outcome.output.contains("\nInterrupted: not all tests were run.\n"), "\(outcome)")
      #expect(outcome.output.contains("1 passed, 1 failed"), "\(outcome)")
      #expect(outcome.isOurs)
    }
  }

  @Test(arguments: [[], ["--jobs", "2"]])
  func `a signal ends the run, and what was run is reported`(arguments: [String]) throws {
    try withFile(Self.waiting, name: "waiting_spec.lua") { path in
      let other = URL(fileURLWithPath: path).deletingLastPathComponent()
        .appendingPathComponent("b_spec.lua")
      try Data("it('is well', function() end)".utf8).write(to: other)
      let report = other.path + ".xml"
      // A worker's own output arrives when it ends; a dot of progress shows that it waits.
      let ready = arguments == [] ? "ready\n" : "."
      let program = try Program(
        ["test", "-o", "people", "-o", "junit=\(report)", other.path, path] + arguments)
      try program.waitFor(ready)
      program.send(SIGINT)
      let outcome = try program.wait()
      #expect(outcome.status == 130, "\(outcome)")
      let text = try String(contentsOfFile: report, encoding: .utf8)
      #expect(text.hasPrefix("<?xml") && text.hasSuffix("</testsuites>\n"), "\(text)")
      #expect(text.contains("name=\"is well\""), "\(text)")
      #expect(arguments != [] || text.contains("message=\"interrupted\""), "\(text)")
    }
  }

  @Test func `a second signal kills the run`() throws {
    let spec = """
      teardown(function() print "closing" io.stdout:flush() while true do end end)
      it("waits", function() print "ready" io.stdout:flush() require("moonloop").sleep(1000) end)
      """
    try withFile(spec, name: "waiting_spec.lua") { path in
      let program = try Program(["test", path])
      try program.waitFor("ready")
      program.send(SIGINT)
      try program.waitFor("closing")
      program.send(SIGINT)
      let outcome = try program.wait()
      #expect(outcome.status == 130 && outcome.wasKilled, "\(outcome)")
    }
  }

  @Test func `golden files are written on request, and then compared`() throws {
    let spec = "it('is golden', function(_, _, t) t:golden('a/b.txt', os.getenv 'TEXT') end)"
    try withFile(spec, name: "golden_spec.lua") { path in
      let golden = URL(fileURLWithPath: path).deletingLastPathComponent()
        .appendingPathComponent("golden/a/b.txt")
      func run(_ text: String, _ arguments: [String]) throws -> Int32 {
        try Program(["test", path] + arguments, environment: ["TEXT": text]).wait().status
      }
      try #expect(run("one\n", []) == 1)
      try #expect(run("one\n", ["--update"]) == 0)
      try #expect(String(contentsOf: golden, encoding: .utf8) == "one\n")
      try #expect(run("one\n", []) == 0)
      try #expect(run("two\n", []) == 1)
    }
  }

  @Test func `the scripts of the other suites are tests of the runner too`() throws {
    let outcome = try moonloop(["test", "Tests/Scripts"], in: Program.root)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.output.contains(" passed, 0 failed"))
  }

  /// The examples that start programs.
  static let examples: [(file: String, program: String)] = [
    ("testing/script_spec.lua", "/bin/sh"), ("testing/redis_spec.lua", "/usr/bin/redis-server"),
    ("testing/nginx_spec.lua", "/usr/sbin/nginx"), ("plugins/host_spec.lua", "/bin/sh"),
  ].filter { FileManager.default.isExecutableFile(atPath: $0.1) }

  @Test(arguments: examples)
  func `a real program is tested from its start to its end`(file: String, program: String) throws {
    let path = Program.examples.appendingPathComponent(file)
    let outcome = try moonloop(
      ["test", path.lastPathComponent], in: path.deletingLastPathComponent())
    #expect(outcome.status == 0, "\(outcome)")
  }

  @Test(arguments: [[], ["--jobs", "2"]])
  func `passed tests are logged, and -Xoutput names the file of a report`(jobs: [String]) throws {
    try withFile("it('is', function() end) it('fails', error)", name: "a_spec.lua") { path in
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
      try Data("it('is too', print)".utf8).write(to: folder.appendingPathComponent("b_spec.lua"))
      let arguments =
        ["test", "--log-success", "passed", "-o", "tap", "-Xoutput", "report", "--sort"] + jobs
      for _ in 1...2 { #expect(try moonloop(arguments, in: folder).status == 1) }
      let passed = try String(contentsOf: folder.appendingPathComponent("passed"), encoding: .utf8)
      #expect(passed == "is\nis too\nis\nis too\n")
      let report = try String(contentsOf: folder.appendingPathComponent("report"), encoding: .utf8)
      #expect(report.hasPrefix("TAP version 13\n") && report.contains("not ok 1 - fails"))
    }
  }

  @Test(arguments: ["--output", "--log-success"])
  func `a report that cannot be written fails the run`(option: String) throws {
    try withFile("it('is', function() end)", name: "a_spec.lua") { path in
      let file = option == "--output" ? "tap=/dev/full" : "/dev/full"
      let outcome = try moonloop(["test", option, file, path])
      #expect(
        outcome.errors
          == "moonloop: test: \(option): cannot write /dev/full: No space left on device\n")
      #expect(outcome.status == 1)
    }
  }

  @Test(arguments: [
    (["--color", "x"], "--color: must be auto, always or never, got 'x'"),
    (["--helper", "nofile"], "--helper: there is no module 'nofile'; a file ends with .lua"),
    (
      ["--helper", "nofile.lua"], "--helper: cannot read nofile.lua: No such file or directory"
    ),
    (
      ["--record", "/proc/no"],
      "--record: mkdir '/proc/no' failed: No such file or directory (ENOENT)"
    ),
  ])
  func `a wrong option is named`(arguments: [String], message: String) throws {
    try withFile("it('is', function() end)", name: "a_spec.lua") { path in
      let outcome = try moonloop(["test"] + arguments + [path])
      #expect(outcome.errors == "moonloop: test: \(message)\n" && outcome.status == 2)
    }
  }

  @Test(arguments: [["-o", "tap"], ["-o", "github"], ["--list"], ["-o", "people"]])
  func `names reach the terminal without control sequences`(arguments: [String]) throws {
    try withFile("it('\\27[31mred', error)", name: "a_spec.lua") { path in
      let outcome = try moonloop(["test"] + arguments + [path])
      #expect(outcome.output.contains("x1b[31mred") && !outcome.output.contains("\u{1b}"))
    }
  }

  @Test func `signals that come together count as one`() throws {
    try withFile(Self.waiting, name: "waiting_spec.lua") { path in
      let other = URL(fileURLWithPath: path).deletingLastPathComponent()
        .appendingPathComponent("b_spec.lua")
      try Data("it('is well', function() end)".utf8).write(to: other)
      let program = try Program(["test", "--jobs", "2", other.path, path])
      try program.waitFor(".")
      program.send(SIGINT)
      program.send(SIGTERM)
      let outcome = try program.wait()
      #expect(outcome.output.contains("\nInterrupted: not all tests were run.\n"), "\(outcome)")
    }
  }

  @Test func `a deferred report comes after what tests print`() throws {
    let spec = "it('one', function() print 'printed' end) it('two', function() print 'too' end)"
    try withFile(spec, name: "a_spec.lua") { path in
      let outcome = try moonloop(["test", "--defer-print", "-o", "tap", path])
      #expect(outcome.output.hasPrefix("printed\ntoo\nTAP version 13\nok 1 - one\n"), "\(outcome)")
    }
  }

  @Test func `what a change touches is run again`() throws {
    try withFile("return { value = 1 }", name: "module.lua") { path in
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
      func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
      }
      try write("it('one', function() assert(require 'module'.value > 0) end)", "a_spec.lua")
      try write("it('two', function() end)", "b_spec.lua")
      // The report that a run writes does not start another run.
      let program = try Program(
        [
          "test", "--watch", "--lpath", "./?.lua", "--output", "people", "--output",
          "junit=report.xml",
        ], in: folder)
      try program.waitFor("2 passed, 0 failed\n\nWatching 2 spec files; Ctrl-C ends.\n")
      try write("return { value = 0 }", "module.lua")
      try program.waitFor("Changed: module.lua; running 1 of 2 spec files\n")
      try program.waitFor("0 passed, 1 failed\n\nWatching")
      try write("it('three', function() end)", "c_spec.lua")
      try program.waitFor("Changed: c_spec.lua; running 1 of 3 spec files\n")
      try program.waitFor("1 passed, 0 failed\n\nWatching 3")
      program.send(SIGINT)
      let outcome = try program.wait()
      #expect(outcome.status == 130, "\(outcome)")
      #expect(outcome.errors == "")
      #expect(outcome.output.split(separator: "Changed:").count == 3, "\(outcome)")
    }
  }

  @Test func `every expected text has a run`() throws {
    let files = try FileManager.default.contentsOfDirectory(
      atPath: Self.specs.appendingPathComponent("expected").path)
    #expect(Set(files) == Set(Self.rows.map { "\($0.name).txt" }))
  }
}
