// A virtual clock and a slow loopback device: no time passes while something is on its way.

import Foundation
import Testing

/// A program in its own network, whose loopback device carries 25 kB a second.
private func onSlowLoopback(
  _ program: String, _ arguments: [String] = [], rate: String = "200kbit", packet: String = "65536"
) throws -> Program {
  try Program(
    [
      "--map-root-user", "--net", "sh", "-c",
      """
      ip link set lo up mtu \(packet) || exit
      tc qdisc add dev lo root tbf rate \(rate) burst 1540 latency 500ms || exit
      exec "$@"
      """, "sh", program,
    ] + arguments, of: "/usr/bin/unshare")
}

private func canBeSlow() -> Bool { (try? onSlowLoopback("true").wait())?.status == 0 }

@Suite(.enabled(if: canBeSlow(), "needs unshare, tc and a kernel that lets them shape a device"))
struct SlowLoopbackTests {
  /// Ten connections, beside a task that would let time pass at any moment.
  private static let conversations = """
    local ml = require "moonloop"
    local loop = ml.current()
    local began = ml.now()
    loop:task(function()
      local times = {}
      for round = 1, 10 do
        local server <close> = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(s)
          s:read(1) s:write "y" s:close()
        end })
        local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
        local ticker = loop:task(function() while true do ml.sleep(0.001) end end)
        stream:write "x"
        assert(stream:read "a" == "y")
        ticker:cancel()
        times[round] = ml.now() - began
      end
      print(table.concat(times, " "))
    end)
    loop:run()
    """
  private static let noTime = Array(repeating: "0.0", count: 10).joined(separator: " ") + "\n"

  @Test(arguments: [
    "", "local w = require 'moonloop'.worker { source = 'require \"moonloop\".sleep(9)' }\n",
  ])
  func `what a program sends to itself takes no virtual time`(beside: String) throws {
    let outcome = try onSlowLoopback(
      Program.executable.path,
      ["run", "--clock", "virtual", "-e", beside + Self.conversations]
    ).wait()
    #expect(outcome.output == Self.noTime && outcome.status == 0, "\(outcome)")
  }

  /// A body of many packets: that some of them have arrived has to reach the sender, which goes on.
  private static let body = """
    local ml = require "moonloop"
    local loop = ml.current()
    local began = ml.now()
    loop:task(function()
      local server <close> = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(s)
        s:read(300000) s:write "y" s:close()
      end })
      local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
      local ticker = loop:task(function() while true do ml.sleep(0.001) end end)
      stream:write(("x"):rep(300000))
      assert(stream:read "a" == "y")
      ticker:cancel()
      print(ml.now() - began)
    end)
    loop:run()
    """

  @Test func `nor does what it sends in many packets`() throws {
    for _ in 1...5 {
      let outcome = try onSlowLoopback(
        Program.executable.path, ["run", "--clock", "virtual", "-e", Self.body], rate: "100mbit",
        packet: "1400"
      ).wait()
      #expect(outcome.output == "0.0\n" && outcome.status == 0, "\(outcome)")
    }
  }
}
