-- One of several servers of one port: the kernel gives each new connection to one of them.
local ml = require "moonloop"
local port = ...

-- Something that takes the processor for a while.
local function digest(text)
  local sum = 0
  for round = 1, 2000 do
    for place = 1, #text do sum = (sum * 31 + text:byte(place) + round) % 4294967296 end
  end
  return sum
end

assert(ml.http.serve { host = "127.0.0.1", port = port, reuse_port = true, function(request)
  return ("%08x\n"):format(digest(request.path))
end })
