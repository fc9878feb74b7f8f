-- Why a timer pauses while the loop runs in another mode, and how common modes fix that.
--
-- A program "tracks" something (a drag, a menu, a modal question) by running its loop in its own
-- mode. Meanwhile only items in that mode are served.
local ml = require "moonloop"
local loop = ml.current()
local began = ml.now()

local function say(text) print(("%.1f s  %-10s %s"):format(ml.now() - began, loop.mode, text)) end

loop:add_common_mode "tracking"          -- "common" now stands for default and tracking

local ticks = 0
loop:every(0.4, function() say "clock in default: stops while tracking" end)
loop:timer { every = 0.4, first = 0.5, modes = "common",
  function() say "clock in common modes: goes on" end }

local function track()
  say "tracking begins"
  loop:timer { every = 0.3, first = 0.3, modes = "tracking", function(timer)
    ticks = ticks + 1
    say("drag " .. ticks)
    if ticks == 4 then
      timer:invalidate()
      loop:stop()                        -- ends the nested run, nothing else
    end
  end }
  local why = loop:run { mode = "tracking" }
  say("tracking ends: " .. why)
end

loop:after(1.0, track)
loop:after(3.0, function() loop:stop() end)
