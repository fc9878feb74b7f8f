// Consoles in `moonloop test`: at the terminal where a test stops, and for a test that hangs.

import Foundation
import Testing

@Suite("Consoles of tests")
struct SpecConsoleTests {
  @Test("open at a breakpoint and at failures, and the time of the test stands still")
  func stopped() throws {
    let spec = """
      local ml = require "moonloop"
      local function half(n) local rest = n % 2; assert(rest == 0, "odd"); return n // 2 end
      it("stops", { clock = "virtual" }, function(loop)
        local mine, before = 7, ml.now()
        ml.break_here()
        assert(mine == 8 and ml.now() == before)
      end)
      it("fails", function() half(3) end)
      it("is pending", function() pending "later" end)
      it("fails in a handler", function(loop)
        loop:after(0, function() local here = "handler"; error "late" end)
        ml.sleep(0.001)
      end)
      """
    try withFile(spec, name: "stops_spec.lua") { file in
      let session = try TerminalSession(["test", "--break-on-error", file])
      try session.waitFor("stops_spec.lua:5: in function")
      try session.waitFor("debug> ")
      try session.enter("mine = 8", "debug> ")
      try session.enter(":continue", "stops_spec.lua:2: odd")
      try session.waitFor("debug> ")
      try session.enter("n, rest", "3\t1\r\ndebug> ")
      try session.enter(":up", "stops_spec.lua:8: in function")
      session.type("\u{4}")
      try session.waitFor("stops_spec.lua:11: late")
      try session.waitFor("debug> ")
      try session.enter("here", "\"handler\"\r\ndebug> ")
      session.type("\u{4}")
      try session.waitFor("1 passed, 2 failed, 1 skipped")
      #expect(try session.wait() == 1)
    }
  }

  @Test("open at no further failure after :quit")
  func quits() throws {
    let spec = #"for i = 1, 3 do it("fails " .. i, function() error("no " .. i, 0) end) end"#
    try withFile(spec, name: "fails_spec.lua") { file in
      let session = try TerminalSession(["test", "--break-on-error", file])
      try session.waitFor("debug> ")
      try session.enter(":quit", "0 passed, 3 failed")
      #expect(try session.wait() == 1)
    }
  }

  @Test("are opened by other processes in a test that hangs, and leave nothing behind")
  func hanging() throws {
    let spec = """
      it("waits for what never comes", function(loop)
        answer = 42
        print "waits" io.stdout:flush()
        while not over do require "moonloop".sleep(0.001) end
      end)
      it("is busy", function(loop)
        local over = false
        print "is busy" io.stdout:flush()
        while not over do end
      end)
      """
    try withFile(spec, name: "hangs_spec.lua") { file in
      let program = try Program(["test", "-o", "tap", file])
      try program.waitFor("waits\n")
      let list = try moonloop(["ps", "--json"]).output.split(separator: "\n")
      #expect(
        list.contains { $0.contains("\"hangs_spec\"") && $0.contains("\(program.pid)") }, "\(list)")
      let first = try moonloop(
        ["attach", "\(program.pid)"], input: "loop\n6 * 7\n_G.over = true\n")
      #expect(first.output.hasPrefix("loop (waits for what never comes)\n42\n"), "\(first)")
      try program.waitFor("is busy\n")
      let second = try moonloop(
        ["attach", "\(program.pid)"], input: ":break\nover\nover = true\n:continue\n")
      #expect(second.output.contains("stopped in the test at "), "\(second)")
      #expect(second.output.contains("\nfalse\ncontinues\n"), "\(second)")
      let outcome = try program.wait()
      #expect(
        outcome.output.contains("\nok 1 ") && outcome.output.contains("\nok 2 "), "\(outcome)")
      #expect(outcome.status == 0)
    }
  }
}
