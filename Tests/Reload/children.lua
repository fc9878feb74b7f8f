-- What a file that reloads itself keeps of processes, workers and accepting tasks.
local ml = require "moonloop"
local loop = ml.current()
local state = ml.reload.state("state", { pids = {} })
local generation = ml.reload.generation()

local function spawn(name, seconds)
  return assert(ml.process.spawn { "sleep", tostring(seconds), name = name, keep_alive = false,
    on_exit = name == "changed" and function(_, status)
      print(generation, name, status.signal)
    end or nil })
end
local kept, changed = spawn("kept", 1000), spawn("changed", 1000 + generation)
local unnamed = spawn(nil, 1000)
local worker = ml.worker { source = "require('moonloop').sleep(1000)", name = "worker",
  keep_alive = false }
local server = ml.net.listen { host = "127.0.0.1", port = 0, name = "server" }
local acceptor = loop:task({ name = "acceptor" }, function()
  while true do
    local stream <close> = server:accept()
    stream:write("generation ", generation, "\n")
  end
end)

if generation == 1 then
  state.kept, state.changed, state.unnamed, state.worker = kept, changed, unnamed, worker
  state.acceptor, state.port, state.driver = acceptor, server.port, true
  loop:after(0.01, function()
    loop:task(function()
      local function ask()
        local stream <close> = ml.net.connect { host = "127.0.0.1", port = state.port }
        return stream:read "l"
      end
      print(ask())
      local pid = state.kept.pid
      local done = assert(ml.reload())
      print(done.kept, done.made, done.ended)
      print("same child", state.kept.pid == pid and state.kept.status == nil)
      local other = state.changed:await().signal
      print("other", other, "unnamed", state.unnamed:await().signal)
      print("acceptor", pcall(state.acceptor.await, state.acceptor))
      print(ask())
      loop:stop()
    end)
  end)
end
