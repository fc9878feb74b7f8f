-- Try again with growing pauses when something fails
-- Exponential backoff with jitter: pauses double up to a maximum, and a random part keeps many
-- clients from coming back at the same moment.
--
--   moonloop run --clock virtual retry.lua
local ml = require "moonloop"
local loop = ml.current()

-- Calls `work(attempt)` until it returns a true value. Gives that, or nil and the last message.
local function retry(options, work)
  local pause, message, code = options.first, nil, nil
  for attempt = 1, options.attempts do
    local result
    result, message, code = work(attempt)
    if result then return result end
    if attempt == options.attempts then break end
    local wait = pause * (1 + options.jitter * math.random())
    print(("attempt %d: %s; again in %.1f s"):format(attempt, message, wait))
    ml.sleep(wait)
    pause = math.min(pause * 2, options.most)
  end
  return nil, message, code
end

local function fetch(attempt)             -- stands for a connection that fails three times
  if attempt < 4 then return nil, "connection refused", "ECONNREFUSED" end
  return "the answer"
end

loop:task(function()
  print(retry({ attempts = 6, first = 0.5, most = 10, jitter = 0 }, fetch))
end)
