-- A line for each handle, with where it was made (D38).
local ml = require "moonloop"
local loop = ml.current()
assert(loop:dump():find "no handles")
local source = loop:source { name = "commands", modes = "common", perform = print }
source:signal()
local port = ml.port {}
local timer = loop:timer { every = 2, name = "poll", print }:keep_alive(false)
local request = loop:perform_after({ after = 1, modes = "other" }, print)
local text = loop:dump()
for _, pattern in ipairs {
  "kind +name +modes +made at +fires +state\n",
  "source +commands +common%(default%) +%S+dump.lua:5 +0 +signalled\n",
  "port +%- +%- +%S+dump.lua:7 +0 +no handler, 0 waiting\n",
  "timer +poll +default +%S+dump.lua:8 +0 +due in 2 s, every 2 s, keep_alive%(false%)\n",
  "perform_after +%- +other +%S+dump.lua:9 +%- +pending",
} do assert(text:find(pattern), pattern .. "\n" .. text) end
for _, handle in ipairs { source, port, timer, request } do handle:invalidate() end

-- The runs that are nested, the modes, and, once it is measured, the times.
loop:metrics()
local poll = loop:timer { every = 2, name = "poll", function() end }
local seen
loop:timer { first = 3, name = "outer", function()
  loop:timer { first = 1.5, name = "inner", modes = "ask", function()
    seen = loop:dump()
    loop:stop()
  end }
  loop:run "ask"
  loop:stop()
end }
loop:task({ name = "sleeper" }, function() ml.sleep(100) end)
loop:run()
for _, pattern in ipairs {
  "^%S.- runs in mode 'ask', depth 2, %d+ passes\n",
  "\nrun 1: mode 'default', begun by the main chunk 4.5 s ago\n",
  "\nrun 2: mode 'ask', begun by timer 'outer' %(made at %S+dump.lua:24%) 1.5 s ago\n",
  "\nmode 'default' %(common%): 3 timers, a timer is due\n",
  "\nmode 'ask': 1 timer\n",
  "\nkind +name +modes +made at +fires +total +max +late +held +state\n",
  "\ntimer +poll +default +%S+dump.lua:22 +1 +[%d.]+ %as +[%d.]+ %as +0 ns +%- "
    .. "+due 0.5 s ago, every",
  "\ntask +sleeper +default +%S+dump.lua:32 +%- +[%d.]+ %as +[%d.]+ %as +0 ns +%- "
    .. "+waits for a sleep",
} do assert(seen:find(pattern), pattern .. "\n" .. seen) end
poll:invalidate()
loop:metrics { on = false }
loop:run { timeout = 200 }
assert(loop:dump():find "no handles")

-- A long description does not make a long table.
local long <close> = loop:source { name = ("n"):rep(1000), describe = function()
  return ("ü"):rep(1 << 16)
end, print }
local dumped = loop:dump()
assert(#dumped < 2000 and dumped:find(("n"):rep(199) .. "…", 1, true), dumped)
assert(dumped:find(("ü"):rep(100), 1, true) and utf8.len(dumped), dumped)

-- A date before all clocks is as long ago as 64 bits can say, wherever it is shown.
local old = loop:timer { first = -1e300, name = "old", function() loop:stop() end }
assert(loop:dump():find "old .*due 146 years ago", loop:dump())
loop:metrics()
loop:run { timeout = 1 }
assert(#loop:metrics().handles >= 1 and loop:why(old):find "old")
loop:metrics { on = false }
