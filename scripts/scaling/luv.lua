-- Run by scripts/scale with lua5.4: `luv.lua CROWD N` prints the bytes for each handle of luv.
local uv = require "luv"

local function nothing() end

local makers = {
  timers = function(place)
    local timer = uv.new_timer()
    timer:start(1000000000 + place * 7919 % 1000, 0, nothing)
    return timer
  end,
  sources = function() return uv.new_async(nothing) end,
  observers = function()
    local prepare = uv.new_prepare()
    prepare:start(nothing)
    return prepare
  end,
  descriptors = function()
    local socket = uv.new_udp()
    socket:bind("127.0.0.1", 0)
    socket:recv_start(nothing)
    return socket
  end,
}
local server

-- The nearest that there is: one timer for a request, one handle for a queue.
makers.ports = makers.sources
makers["pending requests"] = makers.timers
makers.tasks = function(place)
  local task = coroutine.create(function()
    local own = coroutine.running()
    local timer = uv.new_timer()
    timer:start(1000000000 + place, 0, function() coroutine.resume(own) end)
    coroutine.yield(timer)
  end)
  coroutine.resume(task)
  return task
end
makers.signals = function()
  local signal = uv.new_signal()
  signal:start("sigusr1", nothing)
  return signal
end
makers.watches = function()
  local watch = uv.new_fs_event()
  watch:start(".", {}, nothing)
  return watch
end
makers.streams = function()
  if not server then
    server = { listener = uv.new_tcp() }
    server.listener:bind("127.0.0.1", 0)
    server.listener:listen(128, function()
      local own = uv.new_tcp()
      server.listener:accept(own)
      own:read_start(nothing)
      server[#server + 1] = own
    end)
    server.port = server.listener:getsockname().port
  end
  local own, before = uv.new_tcp(), #server
  own:connect("127.0.0.1", server.port, function() own:read_start(nothing) end)
  while #server == before do uv.run "once" end
  return own
end
makers.processes = function()
  return (uv.spawn("sleep", { args = { "1000000" } }, nothing))
end
makers.workers = function()
  return uv.new_thread(function() require("luv").sleep(1000000) end)
end
makers["repeating timers"] = function(place)
  local timer = uv.new_timer()
  timer:start(1000000000 + place * 7919 % 1000, 1000000000, nothing)
  return timer
end

local function rss()
  local file <close> = assert(io.open "/proc/self/statm")
  local _, resident = file:read("n", "n")
  return resident * 4096
end

local make, count = makers[arg[1]], tonumber(arg[2])
if not make then return end
local handles = table.move({}, 1, count, 1, {})
collectgarbage()
local before = rss()
for place = 1, count do handles[place] = make(place) end
collectgarbage()
print((rss() - before) / count)
if arg[1] == "processes" then
  for _, process in ipairs(handles) do process:kill "sigkill" end
end
io.stdout:flush()
os.exit(0, false)
