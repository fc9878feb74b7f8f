-- Handlers and functions of a host that do to a guest what they should not, while it runs: each
-- must leave the host and its other guests as they were. `hosts.lua here|isolated` prints "held
-- COUNT".
local ml = require "moonloop"
local loop = ml.current()
local isolate = ... == "isolated"

local broken, count = 0, 0
local function check(held, name, ...)
  count = count + 1
  if held then return end
  broken = broken + 1
  print("NOT HELD: " .. name, ...)
end

local text = [[
  ml = require "moonloop"
  loop = ml.current()
  function ping() return "pong" end
  function ask(...) return host.act(...) end
  function try(...) return pcall(host.act, ...) end
  function again(n) if n == 0 then return host.act() end return host.again(n - 1) end
  function sort() table.sort({ 3, 2, 1 }, function(a, b) host.act() return a < b end) end
  function replace() return (("abc"):gsub(".", function() host.act() end)) end
  function write() print "text" ml.sleep(0) print "text" return 1 end
  function spin() while true do pcall(function() while true do end end) end end
  function grow() local t = {} while true do t[#t + 1] = { t } end end
  function fail() error { "value" } end
  function later() loop:after(0, function() error "later" end) ml.sleep(0.002) return 1 end
  function close()
    local _ <close> = setmetatable({}, { __close = function() host.act() end })
    error "x"
  end
  function wait() ml.sleep(1000) end
  function tasks() for i = 1, 20 do loop:task(function() host.act() end) end ml.sleep(0.002) end
]]

local acts = {
  { "its end", function(guest) guest:stop() end },
  { "its end, twice", function(guest) guest:stop() guest:stop() guest:invalidate() end },
  { "an error", function() error {} end },
  { "an error whose text ends it", function(guest)
    error(setmetatable({}, { __tostring = function() guest:stop() return "x" end }))
  end },
  { "a suspension", function(guest) guest:suspend() guest:resume() end },
  { "a suspension, and its end", function(guest) guest:suspend() guest:stop() end },
  { "a call of it", function(guest) return pcall(guest.call, guest, "ping") end },
  { "a call of it, and its end", function(guest)
    loop:task(function() pcall(guest.call, guest, "wait") end)
    guest:stop()
  end },
  { "the collector", function() collectgarbage() collectgarbage() end },
  { "another guest", function(guest, make)
    local inner <close> = make "inner"
    inner:call "ping"
    inner:stop()
    guest:stop()
  end },
  { "a nested run", function(guest)
    loop:run { timeout = 0 }
    guest:stop()
    loop:run { timeout = 0 }
  end },
  { "a handler that is changed", function(guest)
    pcall(function() guest.on_error = error end)
    pcall(guest.on, guest, "error", error)
  end },
  { "modes", function(guest)
    for _, mode in ipairs(guest:modes()) do loop:remove(guest, mode) end
    loop:add(guest, "other") loop:add(guest, "default")
  end },
  { "results that cannot be copied", function() return print, coroutine.create(print), {} end },
  { "results that are large", function() return ("x"):rep(20 << 20) end },
  { "results without end", function() return table.unpack({}, 1, 5000) end },
  { "the cancellation of what waits", function() error("cancelled", 0) end },
  { "a wait, and its end", function(guest) ml.sleep(0) guest:stop() ml.sleep(0) end },
}

local calls = {
  "ask", "try", "again", "sort", "replace", "write", "spin", "grow", "fail", "later", "close",
  "tasks",
}

local function make(name, options)
  options = options or {}
  options.name, options.text, options.isolate = name, text, isolate
  options.allow, options.limits = { "timers" }, { callout = 0.02, memory = "4M", handles = 50 }
  return assert(ml.guest(options))
end

-- A function that does it, and each handler that does it.
local function attempt(act, call)
  local guest, options = nil, nil
  local function now() return act[2](guest, make) end
  options = {
    functions = { act = now, again = function(n) return guest:call("again", n) end },
    on_error = now, on_output = now, on_limit = now,
  }
  guest = make("attacked", options)
  ml.timeout(5, pcall, pcall, guest.call, guest, call, 3)
  ml.sleep(0)
  pcall(guest.stop, guest)
end

local function descriptors() return #assert(ml.fs.list "/proc/self/fd") end

loop.on_error = function() end
loop:task(function()
  local other <close> = make "other"
  other:call "ping"
  for _, act in ipairs(acts) do pcall(attempt, act, "ask") end  -- what is made once
  ml.sleep(0.05)
  local before = descriptors()
  for _, act in ipairs(acts) do
    for _, call in ipairs(isolate and { "ask", "write", "grow", "later" } or calls) do
      local name = act[1] .. " in " .. call
      local done, what = pcall(attempt, act, call)
      check(done, name, what)
      local _, pong = pcall(ml.timeout, 5, other.call, other, "ping")
      check(pong == "pong", name, "another guest", pong)
    end
  end
  collectgarbage() collectgarbage()
  for _ = 1, 1000 do
    if descriptors() <= before then break end
    ml.process.run { "true" }  -- starting a child reaps those that have been given up
    ml.sleep(0.01)
  end
  check(descriptors() <= before, "descriptors", descriptors(), before)
  print(("%s %d"):format(broken == 0 and "held" or "broken", broken == 0 and count or broken))
end)
