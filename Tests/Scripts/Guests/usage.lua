-- What a guest uses, by kind, and what it may do only so often in a second.
local ml = require "moonloop"
local loop = ml.current()

loop:metrics()
local port = ml.port { name = "in", function() end }
loop:add(port)
local guest <close> = ml.guest {
  name = "busy", allow = { "timers" }, args = port, on_output = function() end,
  functions = { up = function(text) return text:upper() end },
  text = [[
    local ml, port = require "moonloop", ...
    local loop = ml.current()
    kept = { loop:every(1, function() end), loop:every(2, function() end), ml.channel(1),
      loop:source { function() end }, loop:observer { on = "entry", function() end } }
    local log = ml.log { to = "stdout" }
    log:info "one" log:warn "two" log:debug "not shown"
    ml.log { to = function() end }:error "three"
    port:send(1)
    pcall(port.send, port, print)
    loop:task(function() host.up "x" ml.sleep(1e9) end)
  ]],
}
loop:run { timeout = 3.5 }
local usage = guest:usage()
assert(usage.log_lines == 3, usage.log_lines)
assert(usage.messages == 3, usage.messages)
assert(usage.sent == 0 and usage.written > 20)
local kinds = usage.kinds
assert(kinds.timer == 3 and kinds.channel == 1 and kinds.source == 1 and kinds.observer == 1
  and kinds.task == 1 and not kinds.file and not kinds.fd, require "moonloop.inspect" (kinds))
local sum = 0
for _, count in pairs(kinds) do sum = sum + count end
assert(sum == usage.handles, sum)

-- The figures of the loop have a row for it: what serves it counts as the guest.
local made, rows = loop:metrics(), {}
for _, row in ipairs(made.handles) do
  if row.name == "busy" then rows[#rows + 1] = row end
end
assert(#rows == 1 and rows[1].kind == "guest" and rows[1].made_at:find "usage.lua:8", rows[1].kind)
assert(rows[1].calls >= 4 and rows[1].usage.handles == sum and rows[1].usage.kinds.timer == 3)
local figures = require "moonloop.inspection.figures"
local text = figures.text(figures.between(made))
assert(text:find "GUEST USES" and text:find("%d kB, " .. sum .. " handles, 0 stops"), text)
guest:stop()
assert(guest:usage().handles == 0 and guest:usage().messages == 3)
port:invalidate()
text = figures.text(figures.between(loop:metrics { on = false }))
assert(not text:find "GUEST USES", text)

-- Over a limit for a second, it waits until that is made up for, and its host decides.
local function budget(limits, text, verdict)
  loop:task(function() ml.sleep(math.ceil(ml.now()) - ml.now()) end):wait { mode = "default" }
  local trace, began = {}, ml.now()
  local function note(word) trace[#trace + 1] = ("%g %s"):format(ml.now() - began, word) end
  local into = ml.port { name = "into", function(_, message) note(message) end }
  loop:add(into)
  local guest = ml.guest {
    allow = { "timers" }, limits = limits, args = into,
    text = "local ml = require 'moonloop' local port, loop = ..., ml.current() " .. text,
    functions = { note = note }, on_output = function(_, text) note(text:match "%d\n") end,
    on_limit = function(_, what)
      note(what)
      return verdict
    end,
  }
  loop:run { timeout = 3.5 }
  local status = guest.status
  guest:stop()
  into:invalidate()
  return table.concat(trace, ", "), status
end

local sends = "for i = 1, 4 do loop:perform(function() port:send(i) end) end"
local trace, status = budget({ messages = 2 }, sends)
assert(trace == "0 messages, 0 1, 0 2, 1 messages, 1 3, 1 4" and status == "idle", trace)
trace, status = budget({ messages = 2 }, sends, "end")
assert(trace == "0 messages, 0 1, 0 2" and status == "ended", trace)
trace, status = budget({ messages = 2 }, sends, "suspend")
assert(trace == "0 messages, 0 1, 0 2" and status == "suspended", trace)

-- What one call does too often is paid for by the next seconds.
trace = budget({ messages = 2 }, [[for i = 1, 5 do port:send(i) end
  loop:perform(function() port:send(6) end)]])
assert(trace == "0 messages, 0 1, 0 2, 0 3, 0 4, 0 5, 2 messages, 2 6", trace)
trace = budget({ messages = 1 }, [[loop:task(function() host.note(1) host.note(2) end)]])
assert(trace == "0 messages, 0 1, 1 messages, 1 2", trace)
trace = budget({ log_lines = 1 }, [[local log = ml.log { to = "stdout" }
  for i = 1, 2 do loop:perform(function() log:info("line", { n = i }) end) end]])
assert(trace == "0 1\n, 0 log_lines, 1 2\n, 1 log_lines", trace)
trace = budget({ wakes = 2 }, [[loop:every(0.25, function() host.note "tick" end)]])
assert(trace == "0.25 wakes, 0.25 tick, 1 tick, 1 wakes, 2 tick, 2 wakes, 3 tick, 3 wakes", trace)

for _, name in ipairs { "wakes", "messages", "log_lines" } do
  local fine, message = pcall(ml.guest, { text = "", limits = { [name] = 0 } })
  assert(not fine and message:find("'" .. name .. "'", 1, true), message)
end
