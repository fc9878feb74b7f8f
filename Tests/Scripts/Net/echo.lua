-- A server with a task for each connection; fifty clients at once, of all sorts of addresses.
local ml = require "moonloop"
local unique = "@" .. os.tmpname()   -- other runs of the tests have sockets too
os.remove(unique:sub(2))
local loop = ml.current()
local function serve(options)
  options[1] = function(stream, peer)
    for line in stream:lines() do stream:write(line:upper(), "\n") end
  end
  return assert(ml.net.listen(options))
end
local tcp = serve { host = "127.0.0.1", port = 0 }
local abstract = serve { path = unique }
local answers = 0
loop:task(function(scope)
  for i = 1, 50 do
    scope:task(function()
      local to = i % 2 == 0 and { path = unique }
        or { host = "127.0.0.1", port = tcp.port }
      local stream <close> = assert(ml.net.connect(to))
      for turn = 1, 4 do
        stream:write("client ", i, " turn ", turn, "\n")
        assert(stream:read() == ("CLIENT %d TURN %d"):format(i, turn))
        answers = answers + 1
      end
    end)
  end
end):wait()
assert(answers == 200)
tcp:invalidate()
abstract:invalidate()
assert(loop:run() == "finished")   -- their ends may still be on the way; no time passes meanwhile
