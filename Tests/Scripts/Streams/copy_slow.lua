-- A file that is copied to a peer that does not read waits for the peer, and keeps nobody waiting.
local ml = require "moonloop"
local loop = ml.current()

local folder = assert(ml.fs.temporary_folder())
local path = folder .. "/file"
local size = 12 << 20
assert(ml.fs.write(path, ("x"):rep(size)))
local copied
local server = ml.net.listen { host = "127.0.0.1", port = 0, function(peer)
  if peer:read "l" ~= "file" then return peer:write "pong\n" end
  local source = ml.stream { fd = open_file(path), write = false }
  copied = source:copy_to(peer)
  source:close()
  peer:close()
end }
local function connect(line)
  local peer = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
  peer:write(line)
  return peer
end

local slow = connect "file\n"
local first = #slow:read_some()
for _ = 1, 20 do
  local other = connect "ping\n"
  assert(other:read "l" == "pong")
  other:close()
end
assert(copied == nil)
assert(first + #slow:read "a" == size)
assert(copied == size)
slow:close()
server:invalidate()
ml.fs.remove(folder, { recursive = true })
