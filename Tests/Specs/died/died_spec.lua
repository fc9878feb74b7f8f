-- Programs that have died: a report says how, and a crash that no test looks for is a failure.
local ml = require "moonloop"

-- A server that ends after its first connection.
local SERVER = [[
import os, socket, sys
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
s.accept()
os.kill(os.getpid(), int(sys.argv[2]))
]]

-- A server that reads a request, ends the connection, and then itself.
local LEAVING = [[
import os, socket, sys, time
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listening", flush=True)
c = s.accept()[0]
c.recv(4096)
c.close()
time.sleep(0.05)
os._exit(7)
]]

-- A program that crashes when it is asked to end.
local STOP = "exec 2>&-; trap 'kill -ABRT $$' TERM; echo up; sleep 60 & wait"

local function serve(t, signal)
  local port = t:free_port()
  local p = t:spawn { "python3", "-c", SERVER, port, signal }
  t:wait_port(port, 30)
  assert(ml.net.connect { host = "127.0.0.1", port = port }):close()
  return port, p
end

describe("the report of a failure", function()
  it("says by which signal a program died, and not that it still starts", function(_, _, t)
    local port, p = serve(t, 11)
    p.stdout:all()
    p.stderr:all()
    t:get(":" .. port .. "/")
  end)
  it("says so of a server that ends a moment after its connection", function(_, _, t)
    local port = t:free_port()
    t:spawn({ "python3", "-c", LEAVING, port }):expect("listening", 30)
    t:get(":" .. port .. "/")
  end)
  it("says with which status", function(_, _, t)
    local p = t:spawn { "sh", "-c", "exec >&- 2>&-; exit 3" }
    t:wait_until(function() return p.stdout.ended and p.stderr.ended end)
    error("other", 0)
  end)
  it("says so of a program that is read", function(_, _, t)
    t:spawn { "sh", "-c", "kill -KILL $$" }:expect "ready"
  end)
  it("says so of a program that is waited for", function(_, _, t)
    t:spawn { "sh", "-c", "kill -ABRT $$" }
    t:wait_port(1, 60)
  end)
  it("does not say what the test has done, or seen", function(_, _, t)
    t:spawn({ "sleep", "60" }):stop()
    t:spawn({ "sh", "-c", "exit 3" }):await()
    error("other", 0)
  end)
end)

it("says that a program had to be killed", function(_, _, t)
  local p = t:spawn { "sh", "-c", "trap '' TERM; echo up; exec sleep 60" }
  p:expect "up"
  assert.same({ code = 0 }, p:stop { grace = 0.05 })
end)

describe("a crash", function()
  it("fails a test that does not look for it", function(_, _, t)
    local p = t:spawn { "sh", "-c", "echo working; echo oh >&2; kill -SEGV $$" }
    p.stdout:all()
  end)
  it("fails it also while the program is stopped", function(_, _, t)
    local p = t:spawn { "sh", "-c", STOP }
    p:expect "up"
    p:stop()
  end)
  it("fails it at its end", function(_, _, t)
    t:spawn({ "sh", "-c", STOP }):expect "up"
  end)
  it("is expected by who waits for it", function(_, _, t)
    assert.equal("segv", t:spawn({ "sh", "-c", "kill -SEGV $$" }):await().signal)
    local p = t:spawn { "sh", "-c", "kill -SEGV $$" }
    t:wait_until(function() return p.status end)
  end)
  it("is expected by who sends the signal", function(_, _, t)
    t:spawn({ "sleep", "60" }):kill "abrt"
    t:spawn({ "sleep", "60" }):stop { signal = "SIGQUIT" }
    t:spawn({ "sleep", "60" }):kill(11)
  end)
  it("is no other signal", function(_, _, t)
    t:spawn({ "sh", "-c", "kill -KILL $$" }).stdout:all()
    t:spawn({ "sh", "-c", "kill -TERM $$" }).stdout:all()
  end)
end)

describe("a crash of a program of a block", function()
  local p
  setup(function(_, _, t)
    p = t:spawn { "sh", "-c", "read line; kill -SEGV $$", stdin = "pipe" }
  end)
  it("is found when the block ends", function()
    p.stdin:write "x\n"
    p.stdout:all()
  end)
end)
