-- Ask a question and wait for the answer, as a modal dialog does
-- The loop runs nested, in a mode of the dialog: only what is in that mode is served, so nothing
-- of the program changes under the question. A clock in the common modes goes on.
--
--   echo yes | moonloop run dialog.lua
local ml = require "moonloop"
local loop = ml.current()

loop:add_common_mode "dialog"            -- items in "common" are served during a dialog too

local function confirm(question, timeout)
  local answer
  local input <close> = loop:fd { fd = 0, modes = "dialog", name = "answer", read = function(fd)
    answer = fd:read "l"
    loop:stop()
  end }
  print(question)
  local why = loop:run { mode = "dialog", timeout = timeout }
  if why == "timed_out" then return nil, "no answer" end
  return answer == "yes"
end

local saves = 0
local autosave = loop:every(0.001, function() saves = saves + 1 end)        -- not during the dialog
local clock = loop:timer { every = 0.5, modes = "common", function() end }  -- goes on

loop:perform(function()
  local before = saves
  local sure, why = confirm("Delete everything? (yes/no)", 10)
  print(sure and "deleted" or why or "kept")
  print(saves - before .. " saves meanwhile")
  autosave:invalidate()
  clock:invalidate()
end)
