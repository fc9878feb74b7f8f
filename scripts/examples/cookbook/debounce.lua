-- Debounce: call a function once things have been quiet for a while
-- Typing, resizing, saving: many events close together, and the work is wanted after the last one.
-- Each event replaces the timer of the one before.
--
--   moonloop run --clock virtual debounce.lua
local ml = require "moonloop"
local loop = ml.current()

local function debounce(quiet, work)
  local timer
  return function()
    if timer then timer:invalidate() end
    timer = loop:after(quiet, work)
  end
end

local typed = ""
local began = ml.now()
local changed = debounce(0.3, function()
  print(("%.1f s  search for %q"):format(ml.now() - began, typed))
end)

loop:task(function()
  for letter in ("moon loop"):gmatch "." do
    ml.sleep(letter == " " and 0.5 or 0.1)
    typed = typed .. letter
    changed()
  end
end)
