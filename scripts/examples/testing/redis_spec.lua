-- A real redis-server, from start to end, on its own port and in its own folder.
describe("redis", function()
  local server, port

  setup(function(_, _, t)
    port = t:free_port()
    server = t:spawn { "redis-server", "--port", port, "--dir", t:tmpdir(), "--save", "" }
    server:expect "Ready to accept connections"
  end)

  local function redis(t, ...)
    return (t:run { "redis-cli", "-p", port, ... }.stdout:gsub("\n$", ""))
  end

  it("keeps a value", function(_, _, t)
    assert.equal("OK", redis(t, "set", "name", "moon"))
    assert.equal("moon", redis(t, "get", "name"))
  end)

  it("counts", function(_, _, t)
    for n = 1, 3 do assert.equal(tostring(n), redis(t, "incr", "visits")) end
  end)

  it("says goodbye when it is told to stop", function(_, _, t)
    redis(t, "shutdown", "nosave")
    server:expect "ready to exit, bye"
    assert.equal(0, server:await().code)
  end)
end)
