-- An asynchronous device used synchronously: a question that waits in a private mode.
-- Nothing else is served meanwhile: `clock`, a timer in the default mode, stands still.
--
--   echo Ada | moonloop run ask.lua
local ml = require "moonloop"
local loop = ml.current()

local function ask(question, timeout)
  local reply
  local input <close> = loop:fd { fd = 0, modes = "org.example.ask",
    read = function(fd)
      reply = fd:read "l"
      loop:stop()                        -- the innermost run: the one below
    end }
  io.write(question)
  io.flush()
  local why = loop:run { mode = "org.example.ask", timeout = timeout }
  if why ~= "stopped" then return nil, "no answer", "ETIMEDOUT" end
  return reply
end

local ticks = 0
local clock = loop:every(0.001, function() ticks = ticks + 1 end)

loop:perform(function()
  local before = ticks
  local name, problem = ask("Your name? ", 10)
  print(name and "Hello, " .. name .. "." or "Nobody? " .. (problem or "The input has ended."))
  print(("The clock ticked %d times meanwhile."):format(ticks - before))
  clock:invalidate()
end)
