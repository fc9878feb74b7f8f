-- Doubles of servers, with what they expect.
local ml = require "moonloop"

local function connect(double)
  return assert(ml.net.connect { host = "127.0.0.1", port = double.port })
end

describe("t:http", function()
  it("answers what is expected", { clock = "virtual" }, function(_, _, t)
    local api = t:http {
      { "GET /weather?city=Oslo", reply = { 200, "cold", { ["x-station"] = "7" } } },
      { "POST /orders", body = "^item=", headers = { authorization = "^Bearer " }, reply = 201,
        times = 2 },
      { "GET /echo", times = "any", reply = function(request) return 200, request.query.x end },
    }
    local weather = ml.http.get(api.url .. "/weather?city=Oslo")
    assert.equal("cold", weather.body)
    assert.equal("7", weather.headers["x-station"])
    assert.equal("2", ml.http.get(api.url .. "/echo?x=2").body)
    local options = { headers = { authorization = "Bearer me" } }
    for _ = 1, 2 do
      assert.equal(201, ml.http.post(api.url .. "/orders", "item=1", options).status)
    end
    assert.equal(4, #api.requests)
    assert.equal("item=1", api.requests[4].body)
  end)

  it("fails for what is not expected, and for what never comes", function(_, _, t)
    local api = t:http { { "GET /a", reply = "x" }, { "GET /b", times = 2, reply = 204 } }
    assert.equal(204, ml.http.get(api.url .. "/b").status)
    assert.equal(501, ml.http.post(api.url .. "/c", "body").status)
  end)

  it("fails for another body or header", function(_, _, t)
    local api = t:http {
      { "POST /a", body = "a.c", plain = true },
      { "GET /b", headers = { accept = "json" }, times = "any" },
    }
    assert.equal(501, ml.http.post(api.url .. "/a", "abc").status)
    assert.equal(501, ml.http.get(api.url .. "/b").status)
    assert.equal(200, ml.http.post(api.url .. "/a", "a.c").status)
  end)

  it("closes connections that are kept", function(_, _, t)
    local api = t:http { { "GET /a", reply = "x" } }
    local stream = connect(api)
    stream:write "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
    assert.equal("HTTP/1.1 200 OK\r", stream:read "l")
    stream:close()
  end)

  it("answers from a golden file", function(_, _, t)
    local api = t:http { recorded = "api", from = "http://127.0.0.1:1" }
    assert.equal("hello", ml.http.get(api.url .. "/hello").body)
  end)
  it("says how to record", function(_, _, t) t:http { recorded = "missing" } end)

  it("has no other word", function(_, _, t) t:http { { "GET /a", repl = 200 } } end)
  it("has no text", function(_, _, t) t:http { "GET /a" } end)
  it("has a method", function(_, _, t) t:http { { "/a" } } end)
  it("has a number", function(_, _, t) t:http { { "GET /a", times = 0 } } end)
  it("has a list", function(_, _, t) t:http "x" end)
  it("has more than one expectation", function(_, _, t) t:http { "GET /a" } end)
  it("has no word beside the list", function(_, _, t) t:http { recoded = "api" } end)
  it("has a reply of parts", function(_, _, t) t:http { { "GET /a", reply = { satus = 404 } } } end)
  it("has a text", function(_, _, t) t:http { { "GET /a", reply = { 200, { a = 1 } } } } end)
  it("says how often a request was expected", { clock = "virtual" }, function(_, _, t)
    local api = t:http { { "GET /a", reply = 204 } }
    for _ = 1, 2 do ml.http.get(api.url .. "/a") end
  end)
  it("says how to record what is new", { clock = "virtual" }, function(_, _, t)
    ml.http.get(t:http({ recorded = "api" }).url .. "/new")
  end)
end)

describe("t:tcp", function()
  it("answers what is expected", { clock = "virtual" }, function(_, _, t)
    local peer = t:tcp {
      { reply = "220 ready\n" },
      { line = "^HELO", reply = function(line) return "250 " .. line .. "\n" end },
      { expect = "QUIT\n", reply = "221\n", close = true },
    }
    local stream <close> = connect(peer)
    assert.equal("220 ready", stream:read "l")
    stream:write "HELO me\n"
    assert.equal("250 HELO me", stream:read "l")
    stream:write "QUIT\n"
    assert.equal("221", stream:read "l")
    assert.is_nil((stream:read "l"))
  end)

  it("fails for other bytes", function(_, _, t)
    local peer = t:tcp { { expect = "PING\n", reply = "PONG\n" }, { expect = "X" } }
    local stream <close> = connect(peer)
    stream:write "PING\n"
    assert.equal("PONG", stream:read "l")
    stream:write "PING\n"
    assert.is_nil((stream:read "l"))
  end)

  it("fails for bytes after the last step", function(_, _, t)
    local peer = t:tcp { { expect = "A" } }
    local stream <close> = connect(peer)
    stream:write "AB"
    assert.is_nil((stream:read "l"))
  end)

  it("fails for steps that were not taken", function(_, _, t) t:tcp { { expect = "A" } } end)
  it("has no other word", function(_, _, t) t:tcp { { expct = "A" } } end)
  it("has one thing to expect", function(_, _, t) t:tcp { { expect = "A", line = "A" } } end)
  it("has strings", function(_, _, t) t:tcp { { expect = 1 } } end)
  it("has a reply", function(_, _, t) t:tcp { { reply = 1 } } end)
  it("has a list", function(_, _, t) t:tcp { expect = "x", reply = "y" } end)
end)
