-- What guests cost: to start, to keep, to end and to call, and how late the timers of a thousand
-- are while one attacks. Starts and ends are in processor time, so that other programs matter less.
--
-- Usage: scripts/moonloop run scripts/scaling/guests.lua [start|attack|end|messages]...
-- A thousand guests with a socket each need `ulimit -n 5000`.
local ml = require "moonloop"
local loop = ml.current()
local count = tonumber(os.getenv "GUESTS") or 1000

local function resident()
  return tonumber(ml.fs.read("/proc/self/statm"):match "%d+ (%d+)") * 4096
end

local function descriptors() return #assert(ml.fs.list "/proc/self/fd") end

local function show(format, ...) print(format:format(...)) end

-- A guest with a timer and a socket.
local text = [[
  local ml = require "moonloop"
  ml.net.listen { host = "127.0.0.1", port = 0, print }
  local due, late = ml.now() + ..., {}
  local function measure()
    late[#late + 1] = ml.now() - due
    due = due + 1
  end
  ml.current():timer { first = ..., every = 1, measure }
  function results() return late end
  function echo(...) return ... end
]]

local function start(count)
  local guests = {}
  for i = 1, count do
    guests[i] = assert(ml.guest {
      text = text, args = i / count, allow = { "timers", "net" },
    })
  end
  for _, guest in ipairs(guests) do guest:call "echo" end
  return guests
end

local function stop(guests)
  for _, guest in ipairs(guests) do guest:stop() end
end

local measures = {}

function measures.start()
  stop(start(10))  -- what is made once
  collectgarbage()
  local memory, clock = resident(), os.clock()
  local guests = start(count)
  local took = os.clock() - clock
  show("start: %.0f us each, %.1f kB each", took / count * 1e6,
    (resident() - memory) / count / 1e3)
  clock = os.clock()
  stop(guests)
  show("end: %.0f us each", (os.clock() - clock) / count * 1e6)
end

-- How late the timers of the others are, in four seconds.
local function lateness(name, attack)
  local guests = start(count)
  local attacker = attack and ml.guest {
    name = name, text = "local ml = require 'moonloop' local loop = ml.current() " .. attack,
    allow = { "timers" }, limits = { memory = "8M", callout = 0.01, cpu = 0.005 },
    on_limit = function() return "warn" end,
    on_error = function() end, on_output = function() end,
  }
  ml.sleep(5.5)
  local late = {}
  for _, guest in ipairs(guests) do
    table.move(guest:call "results", 2, 5, #late + 1, late)  -- the first are from the start
  end
  table.sort(late)
  show("%s: half are late by less than %.3f ms, 99 %% by %.3f ms, all by %.1f ms", name,
    late[#late // 2] * 1e3, late[#late * 99 // 100] * 1e3, late[#late] * 1e3)
  stop(guests)
  if attacker then attacker:stop() end
end

function measures.attack()
  lateness "no attack"
  lateness("spins", "loop:every(0.001, function() while true do end end)")
  lateness("catches stops", "loop:every(0.001, function() while true do pcall(error) end end)")
  lateness("matches", [[loop:every(0.001, function()
    (("a"):rep(1 << 16)):find((".-"):rep(30) .. "b") end)]])
  lateness("a thousand timers", [[for i = 1, 990 do
    loop:every(0.001, function() for i = 1, 1000 do end end) end]])
  lateness("performs", "local function again() loop:perform(again) end again()")
  lateness("memory", [[loop:every(0.001, function()
    local t = {} while true do t[#t + 1] = {} end end)]])
  lateness("output", "loop:every(0.001, function() while true do print(('x'):rep(1000)) end end)")
  lateness("errors", "local function again() loop:perform(again) error 'x' end again()")
end

measures["end"] = function()
  local function cycle(rounds)
    for _ = 1, rounds do
      local guest = ml.guest { text = text, args = 1, allow = { "timers", "net" } }
      guest:call "echo"
      guest:stop()
    end
    collectgarbage()
    collectgarbage()
  end
  cycle(1000)
  local memory, files = resident(), descriptors()
  cycle(10000)
  show("10,000 started and ended: %+d kB, %+d descriptors", (resident() - memory) // 1000,
    descriptors() - files)
end

function measures.messages()
  for _, isolate in ipairs { false, true } do
    local guest = ml.guest { text = "function echo(...) return ... end", isolate = isolate }
    for _, value in ipairs { 1, ("x"):rep(1000), ("x"):rep(100000) } do
      guest:call("echo", value)
      local rounds = 2000
      local began = ml.now()
      for _ = 1, rounds do guest:call("echo", value) end
      show("%s, %d bytes: %.1f us a call", isolate and "isolated" or "inside",
        type(value) == "string" and #value or 8, (ml.now() - began) / rounds * 1e6)
    end
    guest:stop()
  end
end

local names = #arg > 0 and arg or { "start", "end", "messages", "attack" }
for _, name in ipairs(names) do assert(measures[name], "there is no measure '" .. name .. "'")() end
