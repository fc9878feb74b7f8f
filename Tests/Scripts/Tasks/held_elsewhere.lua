-- What comes from outside keeps a virtual clock from jumping only in runs that would serve it: one
-- of another mode would wait for ever.
local ml = require "moonloop"
local loop = ml.current()

local function ticks_in(mode)
  local count = 0
  local timer = loop:timer { every = 0.1, modes = mode, function() count = count + 1 end }
  local result = loop:run { mode = mode, timeout = 0.45 }
  timer:invalidate()
  return result, count
end

local folder = assert(ml.fs.temporary_folder())
local server = ml.net.listen { host = "127.0.0.1", port = 0, modes = "nobody runs it" }
local process = ml.process.spawn { "sleep", "0.01" }
local waits = {
  loop:task(function() return ml.fs.list(folder) end),
  loop:task(function() return ml.net.resolve "localhost" end),
  loop:task(function()
    local peer = ml.net.connect { host = "127.0.0.1", port = server.port }
    peer:close()
    return true
  end),
}
loop:after(0, function()
  local began = ml.now()
  local result, count = ticks_in "elsewhere"
  assert(result == "timed_out" and count == 4 and process.status == nil,
    ("%s %d %s"):format(result, count, process.status))
  assert(ml.now() - began < 0.46)
end)
for _, task in ipairs(waits) do assert(task:await() ~= nil) end

-- In a run that serves the process, the clock stands still until it has ended.
local late = false
local timer = loop:after(60, function() late = true end)
assert(process:wait().code == 0 and not late)
timer:invalidate()
server:invalidate()
ml.fs.remove(folder, { recursive = true })
