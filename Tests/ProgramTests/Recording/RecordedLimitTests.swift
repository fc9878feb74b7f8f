// A program that records itself, or may, has the limits of any other; so has its replay.

import Foundation
import TestSupport
import Testing

@Suite struct RecordedLimitTests {
  private static let begin = """
    local ml = require "moonloop"
    local loop = ml.current()
    local text = ("x"):rep(1 << 16)

    """
  private static let flood = """
    local port = loop:port { capacity = 1 << 20 }
    for i = 1, 4096 do port:send(text) end
    print "sent all"
    """

  private let told = "memory limit of 16777216 bytes exceeded"

  @Test(
    "messages count as memory in a script that mentions or calls loop:record",
    arguments: [
      "-- :record\n", "--[==[ loop:record() ]] ]==] ", "local s = 'loop:record' ",
      "if arg[1] then loop:record() end ",
    ])
  func counts(mention: String) throws {
    try withFile(Self.begin + mention + Self.flood) { path in
      let outcome = try moonloop(["run", "--memory", "16M", path])
      #expect(outcome.status == 3 && outcome.output.isEmpty, "\(outcome)")
      #expect(outcome.errors.contains(told), "\(outcome)")
    }
  }

  @Test("a guest has its limits, and no recording is kept, whatever its text says")
  func guestIsNotHeld() throws {
    try withFile(
      "local loop = require('moonloop').current() -- :record\n" + Self.begin
        + "if arg then loop:record 'x' end " + Self.flood
    ) { path in
      let outcome = try moonloop(["run", "--guest", "--memory", "16M", path])
      #expect(outcome.status == 3 && outcome.errors.contains(told), "\(outcome)")
    }
  }

  @Test("a program that may record itself makes guests, and is not recorded any more")
  func makesGuests() throws {
    let script = """
      local guest = assert(ml.guest { text = "print 'here'", on_output = function(_, text)
        io.write(text)
      end })
      loop:run { timeout = 0.05 }
      print(loop:record "/nowhere/run.mlt")
      """
    try withFile(Self.begin + script) { path in
      let outcome = try moonloop(["run", path])
      #expect(outcome.status == 0 && outcome.output.hasPrefix("here\nnil\t"), "\(outcome)")
      #expect(outcome.output.hasSuffix("ENOTSUP\n"), "\(outcome)")
    }
  }

  @Test(
    "a limit stops a recorded run and its replay at the same message",
    arguments: ["loop:port { capacity = 1 << 20 }", "silent.port"])
  func stopsAtTheSame(port: String) throws {
    let script = """
      local silent = ml.worker { source = "require('moonloop').sleep(0.2)", capacity = 1 << 20 }
      local frozen = ml.freeze { text }
      local port = \(port)
      loop:after(0, function()
        for i = 1, 4096 do
          port:send(text)
          print(i)
        end
      end)
      loop:after(0.1, function() loop:stop() end)
      loop:run()
      silent:stop()
      """
    try recordAndReplay(script, status: 3) { #expect($0.errors.contains(told), "\($0)") }
  }

  @Test("what a worker has received counts no more in a recorded run, and in its replay")
  func isGivenBack() throws {
    let script = """
      local worker = ml.worker { source = [[
        require("moonloop").parent:on("message", function(_, reply) reply(1) end)
      ]] }
      loop:task(function()
        local sum = 0
        for i = 1, 1000 do sum = sum + worker.port:request { text, i } end
        print(sum)
        worker:stop()
      end)
      """
    try recordAndReplay(script, status: 0) { #expect($0.output == "1000\n", "\($0)") }
  }

  private func recordAndReplay(
    _ script: String, status: Int32, _ check: (Outcome) -> Void
  ) throws {
    try withFile(Self.begin + script) { path in
      let recording = path + ".mlt"
      let limits = ["--memory", "16M"]
      let first = try moonloop(["run", "--record", recording] + limits + [path])
      let again = try moonloop(["replay", recording])
      #expect(first.status == status, "\(first)")
      check(first)
      #expect(again.output == first.output && again.status == first.status, "\(again)")
    }
  }
}
