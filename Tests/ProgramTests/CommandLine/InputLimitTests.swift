// What a script is given from outside counts as its memory before it reads it.

import Foundation
import TestSupport
import Testing

@Suite struct InputLimitTests {
  private static let begin = """
    local ml = require "moonloop"
    local loop = ml.current()
    local posix = require "moonloop.posix"
    local text = ("x"):rep(1 << 20)
    local function peak()
      local status = io.open("/proc/self/status"):read "a"
      return tonumber(status:match "VmHWM:%s*(%d+)") // 1024
    end
    local before = peak()

    """

  private func run(_ script: String, _ options: [String] = []) throws -> Outcome {
    try moonloop(["run", "--memory", "16M"] + options + ["-e", Self.begin + script])
  }

  @Test("what streams have received and nobody has read is bounded; reads over the limit fail")
  func input() throws {
    let outcome = try run(
      """
      local codes = {}
      for i = 1, 10 do
        local head = assert(ml.process.spawn {
          "head", "-c", "40000000", "/dev/zero", stdout = "pipe" })
        loop:task(function()
          local _, _, code = head.stdout:read(60000000)
          codes[#codes + 1] = code
          if #codes == 10 then loop:stop() end
        end)
      end
      loop:run()
      print(#codes, codes[1], codes[10], peak() - before < \(Program.isSanitized ? 1_000 : 100))
      os.exit(0)
      """)
    #expect(outcome.output == "10\tENOMEM\tENOMEM\ttrue\n" && outcome.status == 0, "\(outcome)")
  }

  @Test("what was read counts no more")
  func inputIsRead() throws {
    let outcome = try run(
      """
      local one, other = posix.socketpair()
      local input, output = loop:stream { fd = one }, loop:stream { fd = other }
      loop:task(function()
        for _ = 1, 60 do output:write(text) end
        output:close()
      end)
      loop:task(function()
        local sum = 0
        for part in function() return input:read(4 << 20) end do sum = sum + #part end
        print(sum >> 20)
      end)
      """)
    #expect(outcome.output == "60\n" && outcome.status == 0, "\(outcome)")
  }

  @Test("the output of commands counts", arguments: ["run", "spawn"])
  func commands(way: String) throws {
    let outcome = try run(
      way == "run"
        ? """
        local result, message, code = ml.process.run { "head", "-c", "50000000", "/dev/zero" }
        assert(result == nil and code == "ENOMEM", message)
        print(message:find("no memory for the standard output of 'head'", 1, true) ~= nil,
          peak() - before < 100)
        """
        : """
        local head = assert(ml.process.spawn {
          "head", "-c", "50000000", "/dev/zero", stdout = "pipe" })
        loop:task(function()
          print((select(3, head.stdout:read "a")) == "ENOMEM", peak() - before < 100)
          head:kill()
        end)
        """)
    #expect(outcome.output == "true\ttrue\n", "\(outcome)")
  }

  @Test("a file is asked for its size before there is memory for it")
  func files() throws {
    try inFolder { folder in
      let large = folder.appendingPathComponent("large").path
      let small = folder.appendingPathComponent("small").path
      let outcome = try run(
        """
        os.execute "truncate -s 900000000 \(large)"
        ml.fs.write("\(small)", text)
        local file = ml.fs.open "\(large)"
        print((select(3, file:read(800000000))), peak() - before < 100)
        print((select(3, ml.fs.read("\(large)", { limit = 800000000 }))), peak() - before < 100)
        print(#file:read(1000, { at = 899999000 }), #file:read(1000000, { at = 899999000 }))
        local status = ml.fs.open "/proc/self/status"
        print(#ml.fs.open("\(small)"):read(800000000), #status:read(1 << 30) > 99)
        """)
      #expect(
        outcome.output == "ENOMEM\ttrue\nENOMEM\ttrue\n1000\t1000\n1048576\ttrue\n",
        "\(outcome)")
    }
  }

  @Test("what guests use counts as memory of the program that made them")
  func guests() throws {
    let outcome = try run(
      """
      local guests = {}
      for i = 1, 5 do
        guests[i] = ml.guest {
          text = "x = {} for i = 1, 900 do x[i] = ('x'):rep(1000000) .. i end",
          limits = { memory = "1G" }, on_error = function(error) print(error.message) end,
        }
      end
      loop:run { timeout = 0.2 }
      print(peak() - before < 100)
      os.exit(0)
      """)
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 6 && lines.last == "true" && outcome.status == 0, "\(outcome)")
    #expect(lines.dropLast().allSatisfy { $0.contains("memory limit") }, "\(outcome)")
  }
}
