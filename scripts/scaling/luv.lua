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
os.exit(0, false)
