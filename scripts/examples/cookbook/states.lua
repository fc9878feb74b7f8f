-- Use modes as the states of a program: what is served depends on where it is
-- A player that is "stopped" or "playing": each item is in the modes in which it makes sense, so
-- no handler has to ask in which state the program is.
--
--   moonloop run --clock virtual states.lua
local ml = require "moonloop"
local loop = ml.current()
local began = ml.now()

local function say(text) print(("%.1f s  %-8s %s"):format(ml.now() - began, loop.mode, text)) end

local state = "stopped"
local function become(next_state)
  state = next_state
  loop:stop()                            -- ends the run of the old state
end

loop:timer { first = 1, every = 5, modes = "stopped", name = "play",
  function() say "the play button" become "playing" end }
loop:timer { every = 0.5, modes = "playing", name = "position",
  function() say "the position moves" end }
loop:timer { first = 2.2, every = 5, modes = "playing", name = "stop",
  function() say "the stop button" become "stopped" end }
loop:timer { first = 4, modes = { "stopped", "playing" }, name = "quit",
  function() say "quit" become(nil) end }

while state do loop:run { mode = state } end
