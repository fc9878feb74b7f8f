#!/usr/bin/env moonloop
-- An echo server that can be changed while it runs. Start it, connect, and edit the answer below:
--   moonloop --watch live.lua
-- Connections stay open; the count and the timer's ticks continue.
local ml = require "moonloop"
local loop = ml.current()
local stats = ml.reload.state("stats", { lines = 0 })

local function answer(line) return "you said: " .. line end

local server = assert(ml.net.listen { host = "127.0.0.1", port = tonumber(arg[1]) or 8080,
  name = "echo", function(stream)
    for line in function() return stream:read "l" end do
      stats.lines = stats.lines + 1
      stream:write(answer(line), "\n")
    end
  end })

-- Named, so that it keeps its phase; an unnamed timer would start again.
loop:timer { every = 10, name = "report", function(_, missed)
  print(("%d lines, %d ticks missed"):format(stats.lines, missed))
end }

loop:signal("usr1", function()
  local done, message = ml.reload()
  print(done and ("generation %d, %d kept"):format(done.generation, done.kept) or message)
end)
loop:signal { { "int", "term" }, function() loop:stop() end }
print(("generation %d listens on port %d"):format(ml.reload.generation(), server.port))
