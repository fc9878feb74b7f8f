-- Hooks of debug.sethook: lines, calls, returns and counts, each for its own coroutine.
local events = {}
debug.sethook(function(event, line) events[#events + 1] = event .. (line or "") end, "l")
local first = debug.getinfo(1, "l").currentline
local value = 1
value = value + 1
debug.sethook()
for i = 0, 3 do assert(events[i + 1] == "line" .. first + i, events[i + 1]) end
assert(#events == 4 and debug.gethook() == nil)

local calls = {}
debug.sethook(function(event)
  local info = debug.getinfo(2, "n")
  calls[#calls + 1] = event .. " " .. tostring(info.name)
end, "cr")
local function named() return value end
named()
debug.sethook()
local text = table.concat(calls, "; ")
assert(text:find("call named; return named", 1, true), text)

local function tail() return named() end
calls = {}
debug.sethook(function(event) calls[#calls + 1] = event end, "c")
tail()
debug.sethook()
assert(table.concat(calls, " "):find("call tail call", 1, true), table.concat(calls, " "))

local count = 0
debug.sethook(function(event) count = count + 1; assert(event == "count") end, "", 100)
for i = 1, 10000 do value = i end
debug.sethook()
assert(count >= 100 and count <= 600, count)

-- A hook belongs to one coroutine.
local seen = {}
local function hook() seen[coroutine.running()] = true end
local co = coroutine.create(function()
  for _ = 1, 10 do end
  coroutine.yield()
  for _ = 1, 10 do end
end)
debug.sethook(co, hook, "", 1)
coroutine.resume(co)
assert(seen[co] and not seen[coroutine.running()])
local f, mask, every = debug.gethook(co)
assert(f == hook and mask == "" and every == 1 and debug.gethook() == nil)
seen = {}
debug.sethook(co)
coroutine.resume(co)
assert(next(seen) == nil)

-- An error in a hook becomes the error of the code it interrupts.
local ok, err = pcall(function()
  debug.sethook(function() debug.sethook(); error("from the hook", 0) end, "", 1)
  for _ = 1, 1000 do end
end)
assert(not ok and err == "from the hook", err)

-- A hook sees the locals of the code it interrupts.
local found
local function target()
  local secret = 42
  secret = secret + 1
  return secret
end
debug.sethook(function()
  local name, v = debug.getlocal(2, 1)
  if name == "secret" then found = v end
end, "l")
target()
debug.sethook()
assert(found == 42 or found == 43, found)
