// Running some of the tests: those that failed, a share of the files, up to some failures; and what
// can be seen of a run before it ends.

import Foundation
import Testing

@Suite("Parts of a run")
struct RerunTests {
  private func withSpecs(_ body: (URL) throws -> Void) throws {
    try withFile(
      """
      describe("sums", function()
        it("fails", function() assert.equal(os.getenv "SUM" or "3", "4") end)
        it("passes", function() end)
        it("fails too", function() error "no" end)
        it("fails at last", function() error "no" end)
      end)
      """, name: "a_spec.lua"
    ) { file in
      let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
      for name in ["b_spec.lua", "c_spec.lua"] {
        try Data("it('of \(name)', function() end)\n".utf8)
          .write(to: folder.appendingPathComponent(name))
      }
      try body(folder)
    }
  }

  /// The names and results of the tests that ran, in order.
  private func run(
    _ arguments: [String], in folder: URL, _ variables: [String: String] = [:]
  ) throws -> [String] {
    let outcome = try Program(
      ["test", "--output", "tap"] + arguments,
      environment: variables.merging(["XDG_STATE_HOME": folder.path + "/state"]) { $1 }, in: folder
    ).wait()
    return outcome.output.split(separator: "\n").compactMap { line in
      line.wholeMatch(of: /((?:not )?ok) \d+ - (.*)/).map { "\($0.output.1) \($0.output.2)" }
    }
  }

  @Test("--rerun-failed runs what failed in the last run in the folder")
  func rerunsFailed() throws {
    try withSpecs { folder in
      _ = try run([], in: folder)
      let again = try run(["--rerun-failed"], in: folder, ["SUM": "4"])
      #expect(
        again
          == ["ok sums fails", "not ok sums fails too", "not ok sums fails at last"])
      let together = try run(["--rerun-failed", "--jobs", "2"], in: folder)
      #expect(together == ["not ok sums fails too", "not ok sums fails at last"])
      // What was not run since has still failed.
      _ = try run(["b_spec.lua"], in: folder)
      _ = try run(["a_spec.lua", "--name", "sums fails at last"], in: folder)
      #expect(try run(["--rerun-failed"], in: folder) == together)
      // What is not there any more is forgotten.
      try Data("it('is new', function() end)\n".utf8)
        .write(to: folder.appendingPathComponent("a_spec.lua"))
      #expect(try run(["--rerun-failed"], in: folder).isEmpty)
      let all = try Program(
        ["test", "--rerun-failed"], environment: ["XDG_STATE_HOME": folder.path + "/state"],
        in: folder
      ).wait()
      #expect(all.output == "No test in this folder has failed and not passed since.\n")
      #expect(all.status == 0)
    }
  }

  @Test("--rerun-failed runs files again in which something failed outside of tests")
  func rerunsFiles() throws {
    try withSpecs { folder in
      try Data("describe('b', function() setup(error) it('one', function() end) end)".utf8)
        .write(to: folder.appendingPathComponent("b_spec.lua"))
      _ = try run(["b_spec.lua", "c_spec.lua"], in: folder)
      #expect(try run(["--rerun-failed"], in: folder) == ["not ok setup of b"])
      try Data("it('one', function() end)".utf8)
        .write(to: folder.appendingPathComponent("b_spec.lua"))
      #expect(try run(["--rerun-failed"], in: folder) == ["ok one"])
      #expect(try run(["--rerun-failed"], in: folder).isEmpty)
      try Data("it('kills', function() os.execute 'kill -9 $PPID' end)".utf8)
        .write(to: folder.appendingPathComponent("b_spec.lua"))
      _ = try run(["--jobs", "2", "b_spec.lua", "c_spec.lua"], in: folder)
      #expect(try run(["--jobs", "2", "--rerun-failed"], in: folder).count == 1)
    }
  }

  @Test("--bail counts what fails outside of tests")
  func bailsOutside() throws {
    try withSpecs { folder in
      try Data("describe('b', function() setup(error) it('one', function() end) end)".utf8)
        .write(to: folder.appendingPathComponent("b_spec.lua"))
      let outcomes = try run(["--bail", "1", "b_spec.lua", "c_spec.lua"], in: folder)
      #expect(outcomes == ["not ok setup of b"])
    }
  }

  @Test("--keep leaves the folders of what has failed, and names them")
  func keepsFolders() throws {
    let specs = """
      describe("block", function()
        setup(function(_, _, t) t:file("log", "of the block") end)
        it("fails", function(_, _, t) t:file("log", "of the test") error "no" end)
        it("passes", function(_, _, t) t:file("log", "") end)
      end)
      it("passes", function(_, _, t) t:file("log", "") end)
      """
    try withFile(specs, name: "a_spec.lua") { file in
      let outcome = try moonloop(["test", "--keep", file])
      let kept = outcome.errors.matches(of: /moonloop: test: kept (.*) of '(.*)'\n/)
      defer { for one in kept { try? FileManager.default.removeItem(atPath: String(one.1)) } }
      #expect(kept.map { String($0.2) } == ["block fails", "block"], "\(outcome)")
      let logs = try kept.map { try String(contentsOfFile: "\($0.1)/log", encoding: .utf8) }
      #expect(logs == ["of the test", "of the block"])
    }
  }

  @Test("--rerun-failed says when it does not know what failed")
  func forgotten() throws {
    try withSpecs { folder in
      func test(_ options: [String], _ state: String) throws -> Outcome {
        try Program(
          ["test"] + options, environment: ["XDG_STATE_HOME": "\(folder.path)/\(state)"], in: folder
        ).wait()
      }
      let before = try test(["--rerun-failed"], "state")
      #expect(before.status == 2)
      #expect(
        before.errors
          == "moonloop: test: --rerun-failed: no run in this folder is remembered; "
          + "run the tests first\n")
      let failed = try test([], "a_spec.lua")
      #expect(failed.status == 1)
      #expect(failed.errors.contains("moonloop: test: --rerun-failed will not know what failed: "))
      #expect(failed.errors.contains("Not a directory"))
      #expect(try test(["--rerun-failed"], "a_spec.lua").status == 2)
    }
  }

  @Test("tests without a loop, as descriptors have run out, are in the report")
  func descriptors() throws {
    let spec = """
      it("keeps files", function()
        kept = {}
        for i = 1, 100 do kept[i] = assert(io.open "/dev/null") end
      end)
      describe("block", function() it("is not run", function() end) end)
      """
    try withFile(spec, name: "kept_spec.lua") { path in
      let text = try shell(
        "ulimit -n 30; '\(Program.executable.path)' test '\(path)' 2>&1; echo status $?")
      #expect(text.contains("FAILED keeps files"))
      #expect(text.contains(/it has no loop: \w+ failed: Too many open files \(EMFILE\)/))
      #expect(text.contains("status 1") && !text.contains("the runner itself failed"), "\(text)")
    }
  }

  @Test("--bail ends the run after so many failures")
  func bails() throws {
    try withSpecs { folder in
      let outcomes = try run(["--bail", "2"], in: folder)
      #expect(
        outcomes
          == ["not ok sums fails", "ok sums passes", "not ok sums fails too"])
    }
  }

  @Test("--shard runs each file in one of the shards")
  func shards() throws {
    try withSpecs { folder in
      #expect(try run(["--shard", "2/3"], in: folder) == ["ok of b_spec.lua"])
      #expect(try run(["--shard", "3/3"], in: folder) == ["ok of c_spec.lua"])
      #expect(try run(["--shard", "1/3"], in: folder).count == 4)
      #expect(try run(["--shard", "4/4"], in: folder).isEmpty)
      let wrong = try moonloop(["test", "--shard", "3/2"], in: folder)
      #expect(wrong.status == 2 && wrong.errors.contains("must be NUMBER/COUNT, such as 2/5"))
    }
  }

  @Test("--durations has the shards take as long as each other, and every file is in one")
  func sharesByDurations() throws {
    try withSpecs { folder in
      let known = folder.appendingPathComponent("known.json")
      try Data(#"{ "a_spec.lua": 1, "b_spec.lua": 3, "c_spec.lua": 1.5 }"#.utf8).write(to: known)
      let options = ["--durations", "known.json", "--shard"]
      #expect(try run(options + ["1/2"], in: folder) == ["ok of b_spec.lua"])
      #expect(try run(options + ["2/2"], in: folder).count == 5)
      _ = try run(["--durations", "new.json", "--jobs", "2"], in: folder)
      let text = try String(
        contentsOf: folder.appendingPathComponent("new.json"), encoding: .utf8)
      #expect(text.matches(of: /"[abc]_spec.lua":/).count == 3, "\(text)")
    }
  }

  @Test("--only runs the tests that are marked, or are in a block that is")
  func runsOnly() throws {
    let specs = """
      it("one", function() end)
      it("two", { only = true }, function() end)
      describe("block", { only = true }, function() it("three", function() end) end)
      """
    try withFile(specs, name: "a_spec.lua") { file in
      let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
      let marked = try run(["--only", file], in: folder)
      #expect(marked == ["ok two", "ok block three"])
      let all = try run([file], in: folder)
      #expect(all.count == 3)
    }
  }

  @Test("-o github marks the line of each failure")
  func annotates() throws {
    try withFile(
      "it('a, b: 100 %', function() error('no\\nway') end)", name: "a_spec.lua"
    ) { file in
      let outcome = try moonloop(["test", "-o", "github", file])
      #expect(
        outcome.output.hasPrefix(
          "::error file=\(file),line=1,title=a%2C b%3A 100 %25::"), "\(outcome)")
      #expect(outcome.output.contains("a_spec.lua:1: no%0Away%0A"), "\(outcome)")
    }
  }

  @Test("t:snapshot compares values with files that have the test's name")
  func snapshots() throws {
    let specs = """
      it("is a page", function(_, _, t)
        t:snapshot { size = os.getenv "SIZE" or 1 }
        t:snapshot "text"
      end)
      """
    try withFile(specs, name: "a_spec.lua") { file in
      let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
      #expect(try run([file], in: folder) == ["not ok is a page"])
      let updated = try moonloop(["test", "--update", file])
      #expect(updated.errors.contains("golden/a_spec/is-a-page.txt"), "\(updated)")
      #expect(updated.errors.contains("golden/a_spec/is-a-page-2.txt"), "\(updated)")
      #expect(try run([file], in: folder) == ["ok is a page"])
      #expect(try run([file], in: folder, ["SIZE": "2"]) == ["not ok is a page"])
    }
  }

  @Test("a pipe gets the report of a test before the next one ends")
  func streams() throws {
    let specs = """
      it("is first", function() end)
      it("waits", { timeout = 600 }, function() require("moonloop").sleep(600) end)
      """
    try withFile(specs, name: "a_spec.lua") { file in
      let program = try Program(["test", "-v", file])
      defer { program.send(SIGKILL) }
      try program.waitFor("is first")
    }
  }

  @Test("--list is silent when its reader has seen enough")
  func listsSilently() throws {
    let specs = "for i = 1, 3000 do it('number ' .. i, function() end) end"
    try withFile(specs, name: "a_spec.lua") { file in
      let command = "\"$0\" test -l '\(file)' | head -n 1"
      let outcome = try Program(["-c", command, Program.executable.path], of: "/bin/sh").wait()
      #expect(outcome.errors == "" && outcome.output.hasSuffix("number 1\n"), "\(outcome)")
    }
  }

  @Test("what a spec does to the libraries harms the specs alone, whose failures are reported")
  func keepsLibraries() throws {
    let specs = """
      it("fails", function() error "bad" end)
      it("removes", function() string.format, math.floor = nil, nil end)
      it("keeps its changes", function() assert(string.format == nil) end)
      it("spoils", function() debug.setmetatable("", { __index = error }) end)
      it("fails too", function() error "worse" end)
      describe(("d"):rep(600), function()
        it(("ä"):rep(600), function() error "worst" end)
      end)
      it("compares", function()
        local odd = { __eq = function() error "of the spec" end }
        getmetatable("").__index = setmetatable({}, odd)
        setmetatable(string, odd)
        error "odd"
      end)
      it("fails last", function() error "last" end)
      """
    try withFile(specs, name: "a_spec.lua") { file in
      let outcome = try moonloop(["test", file])
      #expect(outcome.status == 1 && outcome.errors == "", "\(outcome)")
      for message in ["a_spec.lua:1: bad", "5: worse", "7: worst", "13: odd", "15: last"] {
        #expect(outcome.output.contains(message), "\(outcome.output)")
      }
      #expect(outcome.output.contains("3 passed, 5 failed"), "\(outcome.output)")
    }
  }

  @Test("an error of what listens to failures is one of the run")
  func reportsListeners() throws {
    let specs = """
      local busted = require "busted"
      busted.subscribe({ "error" }, function() error "of the listener" end)
      it("fails", function() error "bad" end)
      it("fails too", function() error "worse" end)
      """
    try withFile(specs, name: "a_spec.lua") { file in
      let outcome = try moonloop(["test", file])
      #expect(outcome.status == 1 && outcome.errors == "", "\(outcome)")
      for message in ["a_spec.lua:3: bad", "a_spec.lua:4: worse", "of the listener"] {
        #expect(outcome.output.contains(message), "\(outcome.output)")
      }
    }
  }

  @Test("of a folder, files are run once: no links back into it, and no pipes")
  func runsFilesOnce() throws {
    try withFile("it('is run', function() end)", name: "a_spec.lua") { file in
      let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
      #expect(symlink(".", folder + "/loop") == 0 && mkfifo(folder + "/b_spec.lua", 0o600) == 0)
      let outcome = try moonloop(["test", folder])
      #expect(outcome.output.contains("1 passed, 0 failed"), "\(outcome.output)")
    }
  }

  @Test("t:wait_port fails at once when the program has failed")
  func waitsNoLonger() throws {
    let specs = """
      it("waits", function(_, _, t)
        t:spawn { "sh", "-c", "exit 3" }
        t:wait_port(1, 600)
      end)
      """
    try withFile(specs, name: "a_spec.lua") { file in
      let outcome = try moonloop(["test", file])
      #expect(outcome.output.contains("listening on port 1: its program ended with code 3"))
    }
  }

  @Test("--update says which golden files it has written")
  func saysWritten() throws {
    let specs = "it('writes', function(_, _, t) t:golden('a.txt', 'text') end)"
    try withFile(specs, name: "a_spec.lua") { file in
      let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
      let first = try moonloop(["test", "--update", file])
      #expect(first.errors == "moonloop: test: wrote \(folder.path)/golden/a.txt\n")
      let second = try moonloop(["test", "--update", file])
      #expect(second.errors == "")
    }
  }
}
