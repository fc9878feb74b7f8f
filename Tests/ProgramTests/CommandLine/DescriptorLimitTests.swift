// What a program says while it has no descriptors left, and that it recovers.

import Foundation
import Testing

@Suite struct DescriptorLimitTests {
  private func run(_ script: String) throws -> Outcome {
    let begin = """
      local ml = require "moonloop"
      local loop = ml.current()
      local function nothing() end
      local function without_descriptors(body)
        local all = {}
        for i = 1, 100 do all[i] = io.open "/dev/null" end
        local results = table.pack(body())
        for _, file in ipairs(all) do file:close() end
        return table.unpack(results, 1, results.n)
      end

      """
    return try withFile(begin + script) { path in
      try Program(
        ["-c", "ulimit -n 64; exec \"$0\" run \"$1\"", Program.executable.path, path], of: "/bin/sh"
      ).wait()
    }
  }

  @Test("OpenSSL is looked for again once there are descriptors")
  func openSSL() throws {
    let outcome = try run(
      """
      local function connect()
        local _, message, code = ml.net.connect {
          host = "127.0.0.1", port = 1, tls = { verify = false } }
        print(code, message:match "OpenSSL.*")
      end
      without_descriptors(connect)
      connect()
      """)
    #expect(
      outcome.output
        == "EMFILE\tOpenSSL cannot be loaded: Too many open files\nECONNREFUSED\tnil\n",
      "\(outcome)")
  }

  @Test("messages name the call")
  func names() throws {
    let outcome = try run(
      """
      local function tell(ok, message, code) print(ok, message, code) end
      tell(without_descriptors(function() return loop:cron("0 3 * * *", nothing) end))
      tell(without_descriptors(function() return ml.log { to = "x.log" } end))
      """)
    #expect(
      outcome.output == """
        nil\tloop:cron: timerfd_create failed: Too many open files (EMFILE)\tEMFILE
        nil\tml.log: 'x.log': open failed: Too many open files (EMFILE)\tEMFILE

        """, "\(outcome)")
  }
}
