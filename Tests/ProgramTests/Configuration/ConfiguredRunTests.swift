// Options of `run` apply to a configuration too, and override the file.

import Foundation
import Testing

@Suite("A configuration on the command line")
struct ConfiguredRunTests {
  private static let text = """
    return {
      modes = { common = { "default", "drain" } },
      limits = { memory = "1G", callout = 60 },
      on_error = "stop",
      timers = {
        beat = { every = 1, modes = "common", handler = function()
          print(require("moonloop").current().mode)
        end },
        bad = { first = 0.5, modes = "bad", handler = function() error "bad" end },
        late = { first = 0.7, modes = "bad", handler = function() print "late" end },
        large = { first = 1, modes = "large", handler = function() return ("x"):rep(1 << 26) end },
        long = { first = 1, modes = "long", handler = function() while true do end end },
      },
      run = { { mode = "default", timeout = 3.2 }, { mode = "drain", timeout = 2.1 } },
    }
    """

  private struct Row: CustomTestStringConvertible {
    let options: [String]
    let output: String
    var status: Int32 = 0
    var errors = ""
    var testDescription: String { options.joined(separator: " ") }
  }

  private static let rows: [Row] = [
    Row(options: [], output: "default\ndefault\ndefault\ndrain\ndrain\n"),
    Row(options: ["--timeout", "0"], output: ""),
    Row(options: ["--timeout", "1.5"], output: "default\n"),
    Row(options: ["--timeout", "4.2"], output: "default\ndefault\ndefault\ndrain\n"),
    Row(options: ["--mode", "drain", "--timeout", "1.5"], output: "drain\n"),
    Row(options: ["--mode", "bad"], output: "", status: 1, errors: "bad"),
    Row(
      options: ["--mode", "other"], output: "", status: 1,
      errors: "moonloop: nothing is in mode 'other'; there are items in 'default', "),
    Row(
      options: ["--mode", "bad", "--on-error", "continue"], output: "late\n", status: 1,
      errors: "bad"),
    Row(
      options: ["--mode", "large", "--memory", "16M"], output: "", status: 3,
      errors: "memory limit of 16777216 bytes exceeded"),
    Row(
      options: ["--mode", "long", "--callout", "1s"], output: "", status: 3,
      errors: "in timer 'long'"),
    Row(
      options: ["--timeout", "1.5", "--trace"], output: "default\n",
      errors: "default    timer 'beat'"),
    Row(options: ["--timeout", "1.5", "--metrics"], output: "default\n", errors: "\ntimer  beat"),
  ]

  @Test("options come before what the file says", arguments: rows)
  private func options(row: Row) throws {
    // A busy script cannot be stopped under ThreadSanitizer.
    if Program.isSanitized && row.options.contains("--callout") { return }
    try withFile(Self.text) { file in
      let outcome = try moonloop(["run", "--clock", "virtual"] + row.options + [file])
      #expect(outcome.output == row.output)
      let isTold = row.errors == "" ? outcome.errors == "" : outcome.errors.contains(row.errors)
      #expect(isTold, "\(outcome)")
      #expect(outcome.status == row.status, "\(outcome)")
    }
  }

  @Test("a run is recorded, traced, and replayed")
  func recorded() throws {
    try withFile(Self.text) { file in
      let (recording, trace) = (file + ".mlt", file + ".json")
      let options = ["--timeout", "1.5", "--record", recording, "--trace-out", trace]
      let outcome = try moonloop(["run", "--clock", "virtual"] + options + [file])
      #expect(outcome.output == "default\n" && outcome.status == 0, "\(outcome)")
      let again = try moonloop(["replay", recording])
      #expect(again.output == "default\n" && again.status == 0, "\(again)")
      #expect(try String(contentsOfFile: trace, encoding: .utf8).contains("\"beat\""))
      for path in [recording, trace] { try FileManager.default.removeItem(atPath: path) }
    }
  }

  @Test("options behind the file are refused, as a configuration takes no arguments")
  func misplaced() throws {
    try withFile(Self.text) { file in
      let outcome = try moonloop(["run", file, "--timeout", "2"])
      #expect(outcome.status == 2)
      #expect(outcome.output == "")
      #expect(
        outcome.errors
          == "moonloop: run: '--timeout' follows '\(file)', which is a configuration and takes no"
          + " arguments; write: moonloop run --timeout 2 \(file)\n")
      #expect(try moonloop(["run", file, "--clock"]).status == 2)
    }
    try withFile("print(...)") { file in
      let outcome = try moonloop(["run", file, "--timeout", "2"])
      #expect(outcome.output == "--timeout\t2\n")
    }
  }

  @Test("a configuration is data: what has effects is refused, and nothing of it runs")
  func effects() throws {
    let stray = """
      local loop = require "moonloop".current()
      local timer = loop:timer { every = 0.01, function() print "stray" end }
      return { timers = { beat = { every = 0.01, handler = function() print "beat" end } } }
      """
    try withFile(stray, name: "app.lua") { file in
      let problem =
        "\(file):2: a configuration is data; call loop:timer in a handler"
      for command in ["run", "plan", "simulate", "check"] {
        let outcome = try moonloop([command, file])
        #expect(outcome.status == 1, "\(outcome)")
        let isTold =
          command == "check"
          ? outcome.output.hasPrefix(problem.replacing(": a ", with: ": mistake: a "))
          : outcome.errors.hasSuffix("\(problem)\n")
        #expect(isTold && !outcome.output.contains("stray"), "\(outcome)")
      }
    }
    try withFile("return { timer = { a = { every = 1, handler = print } } }") { file in
      let outcome = try moonloop(["run", file])
      #expect(outcome.status == 1 && outcome.output == "")
      #expect(outcome.errors == "\(file):1: timer: unknown field; did you mean 'timers'?\n")
    }
  }
}
