-- What tests run on: fresh loops with their own clocks, calls with a time limit, leftovers. The
-- host's functions are private to the test runner.
local ml = require "moonloop"
local host = require "moonloop.testing.host"
local unheld = require "moonloop.unheld"
local given = require("moonloop.text.host").given

local bed = {}
for name, value in pairs(host) do bed[name] = value end

-- What asks the system past the loop: a recording has the answers.
if package.loaded["moonloop.recording"] then
  local taped = require "moonloop.taped"
  for _, name in ipairs { "end_orphan", "files", "free_port", "is_listening", "is_own_output",
    "make_folder", "make_folders", "monotonic", "orphans", "remove_folder", "set_working_folder",
    "working_folder", "write_file" } do
    bed[name] = taped(host[name], name)
  end
  bed.is_replay = require "moonloop.tape".plays()
end

-- The clocks of the loops that were entered, the innermost last.
local clocks = {}

-- Returns true; or nil and a message, for example where descriptors have run out.
function bed.enter(options)
  local _, message = host.enter(options or {})
  if message then return nil, message end
  clocks[#clocks + 1] = options and options.clock or "real"
  return true
end

function bed.leave()
  host.leave()
  clocks[#clocks] = nil
end

-- What the loop has of scripts, and what they have open themselves.
local function all_alive()
  local found, others = host.leftovers(), unheld.all()
  return table.move(others, 1, #others, #found + 1, found)
end

-- What is alive: what scripts have on the loop, and what is held by anything else.
function bed.leftovers()
  local found = all_alive()
  for _, one in ipairs(found) do
    if not one.is_held then
      collectgarbage()  -- end what is unreachable now
      collectgarbage()
      return all_alive()
    end
  end
  return found
end

-- Limit for the passes that serve what becomes due while the clock moves.
local ROUNDS = 100000

-- The date of the next timer, asked in a block of the next pass: while a timer is served, as after
-- a sleep, the loop returns the date of that one.
local function next_timer()
  local loop = ml.current()
  return ml.await(function(resume)
    loop:perform(function() resume(loop:next_timer()) end)
  end)
end

-- Moves the clock forward: what becomes due runs in order, with its follow-up work.
function bed.advance(seconds)
  if clocks[#clocks] == "real" then
    error("clock:advance: a real clock cannot be moved; use clock = \"virtual\"", 2)
  end
  if type(seconds) ~= "number" or seconds ~= seconds or seconds < 0 then
    error("clock:advance: the time must be a number of seconds >= 0, got " .. given(seconds), 2)
  end
  ml.sleep(seconds)
  for _ = 1, ROUNDS do
    local due = next_timer()
    if not due or due > ml.now() then return end
  end
  error("clock:advance: there is always another timer due at " .. ml.now() .. " s: "
    .. "some timer is armed again without a delay", 2)
end

return bed
