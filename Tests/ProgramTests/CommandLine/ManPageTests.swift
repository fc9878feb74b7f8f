// The man pages, and what a bug report needs.

import Foundation
import Testing

@Suite("Pages and versions")
struct ManPageTests {
  private static let commands = [
    "run", "replay", "repl", "attach", "ps", "top", "test", "plan", "simulate", "check", "new",
    "help",
  ]

  @Test("a page of man has each option of the help", arguments: commands)
  func hasOptions(_ command: String) throws {
    let help = try moonloop(["help", command]).output
    let page = try moonloop(["--generate-man-page", command])
    #expect(page.status == 0 && page.errors == "")
    let plain = page.output.replacing("\\-", with: "-")
    #expect(plain.contains("moonloop-\(command) - "))
    for option in help.matches(of: /--(?:\[no-\])?[a-z-]+/) {
      #expect(plain.contains(option.output), "\(option.output)")
    }
  }

  @Test("groff reads each page without a warning", arguments: ["moonloop"] + commands)
  func isRead(_ name: String) throws {
    let page = try moonloop(["--generate-man-page", name])
    try withFile(page.output, name: "page.1") { path in
      let command = "! command -v groff >/dev/null || groff -ww -z -man -Tutf8 '\(path)' 2>&1"
      let chunk = "io.write(require('moonloop').process.run { 'sh', '-c', ... }.stdout)"
      let answer = try moonloop(["run", "-e", chunk, command])
      #expect(answer.output == "" && answer.status == 0)
    }
  }

  @Test("of an unknown page the known ones are named")
  func isUnknown() throws {
    let outcome = try moonloop(["--generate-man-page", "frobnicate"])
    #expect(outcome.status == 2 && outcome.errors.contains("moonloop, run, replay"))
  }

  @Test("--version --verbose says what a bug report needs")
  func saysVersions() throws {
    let outcome = try Program(
      ["--version", "--verbose"], environment: ["LUA_PATH": "/nowhere/?.lua"]
    ).wait()
    let rows = outcome.output.split(separator: "\n").map { $0.prefix { $0 != ":" } }
    #expect(
      rows.starts(
        with: [
          "moonloop", "Lua", "C library", "kernel", "system", "processors", "open files", "/proc",
        ]))
    #expect(outcome.output.contains("LUA_PATH: /nowhere/?.lua\n"))
    let alone = try moonloop(["--verbose"])
    #expect(alone.status == 2 && alone.errors.contains("requires --version"))
  }

  /// Whether a namespace can be made in which `/proc` is not mounted.
  private static let canHideProc =
    (try? moonloop([
      "run", "-e",
      """
      local run = require("moonloop").process.run
      assert(run({ "unshare", "-rm", "mount", "-t", "tmpfs", "none", "/proc" }).code == 0)
      """,
    ]))?.status == 0

  // A sanitizer needs /proc itself.
  @Test(
    "arguments arrive where /proc is not mounted", .enabled(if: canHideProc && !Program.isSanitized)
  )
  func needsNoProc() throws {
    let command = "mount -t tmpfs none /proc; exec \"$@\""
    let outcome = try Program(
      [
        "-rm", "sh", "-c", command, "sh", Program.executable.path, "-e", "print(arg[1], ...)",
        "-", "one",
      ], input: "print(arg[1], ...)", of: "/usr/bin/unshare"
    ).wait()
    #expect(outcome.status == 0 && outcome.output == "one\none\tone\n", "\(outcome)")
  }
}
