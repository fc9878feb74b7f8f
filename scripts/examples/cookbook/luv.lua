-- Use code that was written for luv
-- Its timers, files and sockets are the loop's own: they take turns with everything else, and
-- handlers of both kinds may wait. A whole program of luv's runs with `moonloop run --uv FILE`.
--
--   moonloop run luv.lua
local ml = require "moonloop"
require("moonloop.compat.uv").install()    -- what require "luv" gives from now on
local uv = require "luv"
local loop = ml.current()

local began, ticks, timer = ml.now(), 0, uv.new_timer()
timer:start(1000, 1000, function()
  ticks = ticks + 1
  print(("%.1f s  luv's timer"):format(ml.now() - began))
  if ticks == 3 then timer:close() end
end)

-- A function with a callback, as luv's are, becomes one that returns: the task waits for it.
local function stat(path)
  return ml.await(function(resume)
    uv.fs_stat(path, function(problem, found) resume(found, problem) end)
  end)
end

loop:task(function()
  print("a folder is a " .. stat("/").type)
  print(select(2, stat "/nowhere"))
  ml.sleep(1.5)
  print(("%.1f s  a task"):format(ml.now() - began))
end)
