// Doubles of servers whose expectations a run with `--update` records.

import Foundation
import Testing

@Suite("Recorded doubles")
struct SpecDoubleTests {
  /// The real peers are served by the block; `asked` counts how often.
  private let spec = #"""
    local ml = require "moonloop"
    local asked = 0
    describe("a client", function()
      local web, line
      setup(function()
        web = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
          asked = asked + 1
          return 201, "got " .. request.body .. "\0\255", { ["x-of"] = request.headers["x-for"] }
        end })
        line = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
          asked = asked + 1
          stream:write "hi\n"
          for text in stream:lines() do
            stream:write(text:upper(), "\n")
            if text == "quit" then return stream:close() end
          end
        end })
      end)
      teardown(function() web:invalidate() line:invalidate() print("asked", asked) end)
      it("talks HTTP", function(_, _, t)
        local api = t:http { recorded = "web", from = "http://127.0.0.1:" .. web.port }
        local options = { headers = { ["x-for"] = "me" } }
        local reply = ml.http.post(api.url .. "/things?n=1", "x+", options)
        assert.equal(201, reply.status)
        assert.equal("got x+\0\255", reply.body)
        assert.equal("me", reply.headers["x-of"])
      end)
      it("talks to a line", function(_, _, t)
        local peer = t:tcp { recorded = "line", from = "127.0.0.1:" .. line.port }
        local stream <close> = assert(ml.net.connect { host = peer.host, port = peer.port })
        assert.equal("hi", stream:read "l")
        for _, word in ipairs { "one", "two" } do
          stream:write(word, "\n")
          assert.equal(word:upper(), stream:read "l")
        end
      end)
      it("is left by a line", function(_, _, t)
        local peer = t:tcp { recorded = "end", from = "127.0.0.1:" .. line.port }
        local stream <close> = assert(ml.net.connect { host = peer.host, port = peer.port })
        stream:write "quit\n"
        assert.equal("hi\nQUIT\n", stream:read "a")
      end)
    end)
    """#

  @Test("the first run asks the real peers, and later ones do not")
  func recorded() throws {
    try withFile(spec, name: "client_spec.lua") { file in
      let missing = try moonloop(["test", file])
      #expect(missing.output.contains("'moonloop test --update' records them"), "\(missing)")
      #expect(missing.status == 1)
      let first = try moonloop(["test", "--update", file])
      #expect(first.output.hasPrefix("...asked\t3\n") && first.status == 0, "\(first)")
      #expect(
        first.errors.contains("golden/web.lua\n") && first.errors.contains("golden/line.lua\n"))
      let second = try moonloop(["test", file])
      #expect(second.output.hasPrefix("...asked\t0\n") && second.status == 0, "\(second)")
    }
  }
}
