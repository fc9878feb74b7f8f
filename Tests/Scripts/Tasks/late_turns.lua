-- The answer to a task's wait is there, but the task's mode does not run: what it waited for ends
-- before its turn, or the task is cancelled.
local ml = require "moonloop"
local posix = require "moonloop.posix"
local loop = ml.current()

-- The results of a wait in mode "later"; `change(source, task)` comes between its answer and its
-- turn. Nothing but the wait holds the source then.
local function outcome(make, change)
  local results
  local source, wait, answer = make()
  local task = loop:task({ modes = "later" }, function() results = table.pack(pcall(wait)) end)
  loop:run { mode = "later", timeout = 0.01 }
  wait = nil
  loop:perform(answer)
  loop:run { timeout = 0.2 }
  assert(not results)
  change(source, task)
  source, answer = nil, nil
  collectgarbage()
  collectgarbage()
  loop:run { mode = "later", timeout = 0.2 }
  assert(task.status == "done" or task.status == "cancelled", task.status)
  return table.unpack(results, 1, results.n)
end

local peer
local made = {}  -- is closed at the end
local function keep(item)
  made[#made + 1] = item
  return item
end

local function accept()
  local server = ml.net.listen { host = "127.0.0.1", port = 0 }
  return server, function() return server:accept() end, function()
    peer = ml.net.connect { host = "127.0.0.1", port = server.port }
  end
end
local function datagram()
  local socket = ml.net.udp { host = "127.0.0.1", port = 0 }
  return socket, function() return socket:receive() end, function()
    keep(ml.net.udp { connect = { host = "127.0.0.1", port = socket.port } }):send "x"
  end
end
local function read()
  local r, w = posix.pipe()
  local stream = loop:stream { fd = r, close = true, name = "pipe" }
  return stream, function() return stream:read(1) end, function()
    posix.write(w, "x")
    posix.close(w)
  end
end

local function finish(source) source:invalidate() end

local function ends_closed(make)
  local ok, value, message, code = outcome(make, finish)
  assert(ok and not value and code == "ECANCELED", message)
  assert(message:find("was closed meanwhile", 1, true), message)
  assert(not message:find("-1", 1, true), message)
end
ends_closed(accept)
assert(peer:read "l" == nil)       -- a connection that was not taken is closed
ends_closed(datagram)
ends_closed(read)

-- A connection that was accepted reaches its task, as a message of a port does.
local function cancel_and_close(source, task)
  task:cancel()
  loop:run { mode = "later", timeout = 0.2 }
  source:invalidate()
end
local ok, stream = outcome(accept, cancel_and_close)
assert(ok and stream:write "hello\n")
assert(peer:read "l" == "hello")
stream:close()
assert(not outcome(datagram, cancel_and_close))
assert(not outcome(read, cancel_and_close))
for _, item in ipairs(made) do item:invalidate() end

-- A child whose output is no longer waited for: its time limit passes, its output is too long.
local function run_cancelled(options)
  options[1], options[2], options.grace = "sh", "-c", 5
  local task = loop:task({ modes = "later" }, function() ml.process.run(options) end)
  loop:run { mode = "later", timeout = 0.05 }
  task:cancel()
  loop:run { mode = "later", timeout = 0.05 }
  collectgarbage()
  collectgarbage()
end
run_cancelled { nil, nil, "trap '' TERM; sleep 0.4", timeout = 0.3 }
run_cancelled { nil, nil, "trap '' TERM; sleep 0.2; head -c 10000 /dev/zero; sleep 0.2",
  limit = 1000 }
loop:run { mode = "later", timeout = 2 }
