-- What a guest may use in a second: when that is used up, it waits for the next, and its host
-- decides, once a second. What was due meanwhile is served then.
local ml = require "moonloop"
local loop = ml.current()

local function budget(limits, text, verdict, seconds)
  -- The seconds of the account begin with whole ones.
  loop:task(function() ml.sleep(math.ceil(ml.now()) - ml.now()) end):wait { mode = "default" }
  local trace, began = {}, ml.now()
  local function note(word) trace[#trace + 1] = ("%g %s"):format(ml.now() - began, word) end
  local guest = ml.guest {
    allow = { "timers" }, limits = limits,
    text = "local ml = require 'moonloop' local loop = ml.current() " .. text,
    on_output = function(_, text) note(text:match "%d") end,
    on_limit = function(_, what)
      note(what)
      return verdict, seconds
    end,
  }
  local before = guest:usage().callouts
  loop:run { timeout = 3.5 }
  local used, status = guest:usage(), guest.status
  used.callouts = used.callouts - before
  guest:stop()
  return table.concat(trace, ", "), status, used
end

-- The script itself is a call-out; then five are due at once, whatever they are.
local fives = {
  "for i = 1, 5 do loop:after(0, function() print(i) end) end",
  "for i = 1, 5 do loop:task(function() print(i) end) end",
  "for i = 1, 5 do loop:perform(function() print(i) end) end",
  "for i = 1, 5 do loop:source({ function() print(i) end }):signal() end",
}
for _, text in ipairs(fives) do
  local trace, status = budget({ callouts = 3 }, text)
  assert(trace == "0 1, 0 2, 0 callouts, 1 3, 1 4, 1 5, 1 callouts", text .. ": " .. trace)
  trace = budget({ callouts = 3 }, text, "warn")
  assert(trace == "0 1, 0 2, 0 callouts, 1 3, 1 4, 1 5, 1 callouts", text .. ": " .. trace)
  trace, status = budget({ callouts = 3 }, text, "end")
  assert(trace == "0 1, 0 2, 0 callouts" and status == "ended", text .. ": " .. trace)
  trace, status = budget({ callouts = 3 }, text, "suspend", 2)
  assert(trace == "0 1, 0 2, 0 callouts, 2 3, 2 4, 2 5, 2 callouts", text .. ": " .. trace)
  assert(status == "suspended", status)
end

-- What has to wait keeps its place before what came later.
local trace = budget({ callouts = 3 }, [[for i = 1, 5 do
  loop:perform(function() print(i) loop:perform(function() print(i + 5) end) end)
end]])
assert(trace == "0 1, 0 2, 0 callouts, 1 3, 1 4, 1 5, 1 callouts, 2 6, 2 7, 2 8, 2 callouts, "
  .. "3 9, 3 1", trace)

-- One that never ends gets what it may, second by second; what it may not is not made up for.
local trace, status, used = budget({ callouts = 100 },
  "local function again() loop:perform(again) end again()")
assert(trace == "0 callouts, 1 callouts, 2 callouts, 3 callouts", trace)
assert(status == "running" and used.callouts == 400 and used.stops == 0, used.callouts)

-- The time of processors is limited as well. On a virtual clock, none passes in a call.
local trace, status, used = budget({ cpu = 0.01 }, fives[1])
assert(trace == "0 1, 0 2, 0 3, 0 4, 0 5" and used.cpu == 0, trace)

for name, value in pairs { cpu = 0, callouts = 0 } do
  local fine, message = pcall(ml.guest, { text = "", limits = { [name] = value } })
  assert(not fine and message:find("'" .. name .. "'", 1, true), message)
end
