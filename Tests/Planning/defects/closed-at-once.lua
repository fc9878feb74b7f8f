-- Planted: the server is closed at the end of the script, and the loop has nothing to wait for.
local ml = require "moonloop"
local loop = ml.current()
local server <close> = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
  stream:write(ml.process.run { "date" }.stdout)
  stream:close()
end })
local beat <close> = loop:every(1, function() print "never" end)
do
  local short <close> = loop:every(2, function() print "never" end)
  print "meant so"
end
print("listening on " .. server.port)
