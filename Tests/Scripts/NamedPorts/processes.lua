-- Two processes: one process at a time has a name, messages and descriptors go both ways, and each
-- side sees the end of the other, however it comes.
local ml = require "moonloop"
local loop = ml.current()
local here = ml.process.run({ "readlink", "/proc/" .. ml.process.id() .. "/exe" }).stdout
local program = here:match "^(.*/)" .. "moonloop"   -- beside the tests, or itself
local file = io.open(program)
if not file then return end
file:close()
local name <const> = "org.example.test.processes." .. ml.process.id()

local function start(script)
  local child = assert(ml.process.spawn {
    program, "run", "-e", 'local ml = require "moonloop" local loop = ml.current() ' .. script,
    name, stdout = "pipe",
  })
  assert(child.stdout:read "l" == "ready")
  return child
end

local SERVER = [[
  local control = assert(ml.port.listen(...))
  control:on("message", function(message, reply, from)
    if message.op == "echo" then return reply(message.value) end
    if message.op == "open" then return reply(ml.stream { fd = 1, close = false }) end
    if message.op == "silence" then kept = reply end
    if message.op == "count" then
      for i = 1, message.n do from:send(i) end
      return control:invalidate()
    end
  end)
  print "ready" io.stdout:flush()
]]

loop:task(function()
  local server = start(SERVER)
  local taken, message, code = ml.port.listen(name)
  assert(taken == nil and code == "EADDRINUSE", message)
  assert(message:find("the name is taken: process " .. server.pid .. " listens on it", 1, true))

  local client = assert(ml.port.connect(name))
  local value = { 1, 2.0, text = "\0", deep = {} }
  value.self = value
  local back = assert(client:request { op = "echo", value = value })
  assert(back.self == back and math.type(back[2]) == "float" and back.text == "\0")
  -- A descriptor of the other process: what is written there is its output.
  local output = assert(client:request { op = "open" })
  output:write "through its descriptor\n"
  output:close()
  assert(server.stdout:read "l" == "through its descriptor")

  -- The clock waits for an answer only in runs that would serve it.
  local ticks = 0
  local tick = loop:timer { every = 0.1, modes = "elsewhere", function() ticks = ticks + 1 end }
  local function elsewhere()
    ticks = 0
    local result = loop:run { mode = "elsewhere", timeout = 0.45 }
    assert(result == "timed_out" and ticks >= 4, ticks)
    loop:stop()
  end
  local silent = loop:task(function() return client:request { op = "silence" } end)
  ml.sleep(0)
  loop:perform({ modes = "asking" }, elsewhere)
  local holder <close> = loop:source { modes = "asking", function() end }
  loop:run { mode = "asking" }
  silent:cancel()
  loop:perform({ modes = "asking" }, elsewhere)
  client:request({ op = "silence" }, { mode = "asking" })
  tick:invalidate()

  -- Killed in the middle: a waiting call fails at once, and the name is free.
  local waits = loop:task(function() return client:request { op = "silence" } end)
  assert(client:request { op = "echo", value = 1 } == 1)
  server:kill()
  local reply, why, what = waits:await()
  assert(reply == nil and what == "EPIPE", why)
  assert(select(3, client:receive()) == "EPIPE" and not client:is_valid())
  server:await()
  local again = assert(ml.port.listen(name))   -- what the killed one left behind is replaced
  again:invalidate()

  -- Messages sent before the end arrive, in order, even if the sender ends at once.
  local counter = start(SERVER)
  client = assert(ml.port.connect(name))
  assert(client:send { op = "count", n = 1000 })
  for i = 1, 1000 do assert(client:receive() == i, i) end
  assert(select(3, client:receive()) == "EPIPE")
  assert(counter:await().code == 0)

  -- The same the other way: a client that sends and ends.
  local control = assert(ml.port.listen(name))
  local sender = start [[
    print "ready" io.stdout:flush()
    local port = assert(ml.port.connect(...))
    for i = 1, 1000 do assert(port:send { i, ("x"):rep(1000) }) end
  ]]
  for i = 1, 1000 do
    local message, reply, from = control:receive()
    assert(message[1] == i and #message[2] == 1000)
    if i == 1 then assert(from.name == "process " .. sender.pid, from.name) end
  end
  assert(sender:await().code == 0)
  control:invalidate()
end):wait { mode = "default" }
