// Programs on LuaSocket and LuaSec, recorded and replayed.

import Foundation
import Testing

@Suite("LuaSocket in a recording")
struct RecordedSocketTests {
  static let script = #"""
    local ml = require "moonloop"
    require "moonloop.compat.socket"
    local socket, loop = require "socket", ml.current()
    local pem = assert(ml.process.run { "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
      "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost", "-keyout", "-", "-out", "-",
      stderr = "null" }).stdout
    local asked = 0
    local function answer(request)
      asked = asked + 1
      ml.sleep(0.05)
      return ("%s %d %.9f"):format(request.path, asked, ml.wall_time())
    end
    local plain = assert(ml.http.serve { host = "127.0.0.1", port = 0, answer })
    local secret = assert(ml.http.serve { host = "127.0.0.1", port = 0, tls = { cert = pem },
      answer })
    local ticks = 0
    local ticking <close> = loop:every(0.01, function() ticks = ticks + 1 end)
    print((require "socket.http".request("http://localhost:" .. plain.port .. "/plain")))
    print((require "ssl.https".request("https://localhost:" .. secret.port .. "/secret")))
    print(socket.connect("127.0.0.1", 1))
    local ssl = require "ssl"
    local wrapped = assert(ssl.wrap(assert(socket.connect("127.0.0.1", secret.port)),
      { mode = "client", protocol = "any", verify = "none" }))
    assert(wrapped:dohandshake())
    local certificate, chain = wrapped:getpeercertificate(), wrapped:getpeerchain()
    print(certificate:digest "sha256", certificate:subject()[1].value, #chain, chain[1]:serial())
    print(ssl.loadcertificate(certificate:pem()):notafter())
    wrapped:close()
    local server = assert(socket.bind("127.0.0.1", 0))
    local place, port = server:getsockname()
    local client = assert(socket.connect(place, port))
    local accepted = assert(server:accept())
    accepted:send "hello\n"
    print(client:receive(), client:getpeername())
    local one, other = socket.udp(), socket.udp()
    assert(one:setsockname("127.0.0.1", 0))
    place, port = one:getsockname()
    assert(other:sendto("datagram", place, port))
    print(one:receivefrom())
    for _, each in ipairs { server, client, accepted, one, other } do each:close() end
    plain:invalidate()
    secret:invalidate()
    print(ticks > 5, ticks)
    """#

  @Test func `a replay has what LuaSocket and LuaSec answered`() throws {
    try withFile(Self.script) { file in
      let recording = file + ".mlt"
      let run = try moonloop(["run", "--record", recording, file])
      #expect(run.status == 0 && run.errors == "", "\(run)")
      #expect(run.output.contains("/plain 1 ") && run.output.contains("/secret 2 "), "\(run)")
      #expect(run.output.contains("\ndatagram\t127.0.0.1\t"), "\(run)")
      #expect(run.output.contains("\ntrue\t"), "\(run)")
      let replay = try moonloop(["replay", recording])
      #expect(replay.status == 0, "\(replay)")
      #expect(replay.output == run.output)
    }
  }
}
