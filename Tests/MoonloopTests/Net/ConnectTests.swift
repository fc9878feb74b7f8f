// Several addresses of one name: the next one is tried when one has failed, or beside one that is
// slow (RFC 8305).

import Moonloop
import MoonloopCore
internal import MoonloopSystem
import Testing

@Suite("Connecting to a name")
struct ConnectTests {
  /// `hung` is a listener whose backlog is full, so that a client gets no answer; `alive` answers
  /// on the same port of another address.
  private static let script = """
    local ml = require "moonloop"
    local loop = ml.current()
    loop:task(function(scope)
      local hung = assert(ml.net.listen { host = "127.0.0.2", port = 0, backlog = 0 })
      local port = hung.port
      local alive = assert(ml.net.listen { host = "127.0.0.1", port = port, function(stream, peer)
        print("accepted at " .. stream:read "l")
      end })
      -- The system takes some more than it is asked to: until one hears nothing.
      local fill = {}
      repeat
        local one, _, code = ml.net.connect { host = "127.0.0.2", port = port, timeout = 0.2 }
        fill[#fill + 1] = one
      until code == "ETIMEDOUT"

      local begin = ml.now()
      local stream = assert(ml.net.connect { host = "NAME", port = port, timeout = 60 })
      local waited = ml.now() - begin
      print("connected to", stream.peer.host)
      WAITED
      stream:write "the living one\\n"
      assert(stream:read "a" == "")
      stream:close()

      -- Nobody answers in time: the deadline holds for all of it.
      alive:invalidate()
      begin = ml.now()
      local none, message, code = ml.net.connect { host = "hangs.test", port = port, timeout = 1 }
      print(none, code, ml.now() - begin >= 1)
      for _, one in ipairs(fill) do one:invalidate() end
      hung:invalidate()
    end):wait()
    print(loop:run())
    """

  private func run(_ clock: ClockMode, _ name: String, _ waited: String) throws -> [String] {
    let (hung, alive) = ("127.0.0.2", "127.0.0.1")
    func addresses(_ hosts: [String]) -> [SocketAddress] {
      hosts.compactMap { SocketAddress(numeric: $0, port: 0) }
    }
    Resolver.shared.plant("first-hangs.test", addresses([hung, alive]))
    Resolver.shared.plant("first-answers.test", addresses([alive, hung]))
    Resolver.shared.plant("hangs.test", addresses([hung, hung]))
    // Nothing listens at 127.0.0.3, so the connection is refused at once.
    Resolver.shared.plant("first-refuses.test", addresses(["127.0.0.3", alive]))
    var script = Self.script
    script.replace("NAME", with: name)
    script.replace("WAITED", with: waited)
    let run = try ScriptRun.of(script, clock: clock)
    #expect(run.reports == [] && run.leftovers == [])
    return run.lines
  }

  private static let expected = [
    "connected to\t127.0.0.1", "accepted at the living one", "nil\tETIMEDOUT\ttrue",
    "finished\tnil\tfalse",
  ]

  @Test("tries the second address beside the first, when that has said nothing for 250 ms")
  func staggered() throws {
    let waited = "print(waited >= 0.25)"
    var expected = Self.expected
    expected.insert("true", at: 1)
    #expect(try run(.real, "first-hangs.test", waited) == expected)
  }

  @Test("does so on a clock that jumps, where exactly that time passes")
  func staggeredVirtually() throws {
    var expected = Self.expected
    expected.insert("0.250", at: 1)
    #expect(try run(.virtual, "first-hangs.test", "print((\"%.3f\"):format(waited))") == expected)
  }

  @Test("waits for nothing when the first answers, or refuses", arguments: ["answers", "refuses"])
  func atOnce(first: String) throws {
    var expected = Self.expected
    expected.insert("0.000", at: 1)
    #expect(
      try run(.virtual, "first-\(first).test", "print((\"%.3f\"):format(waited))") == expected)
  }
}
