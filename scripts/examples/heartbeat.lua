-- A repeating timer: beats five times, then nothing is left to wait for and the loop finishes.
--
--   moonloop run heartbeat.lua [BEATS [SECONDS]]         Ctrl-C ends it at once, in order.
local ml = require "moonloop"
local loop = ml.current()

local beats, every = tonumber((...)) or 5, tonumber((select(2, ...))) or 0.5
local began, beat, late = ml.now(), 0, 0

-- Runs at the end, also after Ctrl-C: observers see the exit of every run.
loop:observer { on = "exit", function()
  print(("%d beats in %.1f s, %d missed"):format(beat, ml.now() - began, late))
end }

loop:timer { every = every, name = "heartbeat",
  function(timer, missed)        -- on a fixed grid: it does not drift, and counts what it missed
    beat, late = beat + 1, late + missed
    print(("%5.1f s  %s"):format(ml.now() - began, beat % 2 == 1 and "♥ lub" or "♡ dub"))
    if beat == beats then timer:invalidate() end
  end }
