-- From one stream to another: files, pipes and sockets, counts, a slow reader, a broken one.
local ml = require "moonloop"
local unique = "@" .. os.tmpname()   -- other runs of the tests have sockets too
os.remove(unique:sub(2))
local loop = ml.current()
local path = os.tmpname()
local text = ("0123456789abcdef"):rep(1 << 16)
do local file <close> = io.open(path, "w") file:write(text) end
local pairs_made = 0
-- Each has a name of its own: a child that another test starts may hold the last one for a moment.
local function pair()
  pairs_made = pairs_made + 1
  local path = unique .. pairs_made
  local server <close> = assert(ml.net.listen { path = path })
  local far = loop:task(function() return (server:accept()) end)
  local near = assert(ml.net.connect { path = path })
  return near, far:await()
end
loop:task(function(scope)
  local near, far = pair()
  local all = scope:task(function() return far:read "a" end)
  local file = ml.stream { fd = open_file(path), write = false }
  assert(file:copy_to(near) == #text)
  file:close()
  near:close()
  assert(all:await() == text)
  far:close()

  -- Between sockets, and through a pipe; data read ahead goes first; then exactly so many bytes.
  local from, to = pipe()
  local input, output = ml.stream { fd = from, write = false }, ml.stream { fd = to, read = false }
  local a, b = pair()
  local c, d = pair()
  scope:task(function() a:write("head\n", text, "rest") a:shutdown() end)
  assert(b:read "l" == "head")
  local piped = scope:task(function() return b:copy_to(output, #text) end)
  local spliced = scope:task(function() return input:copy_to(c, #text) end)
  local got = d:read(#text)
  assert(got == text and piped:await() == #text and spliced:await() == #text)
  assert(b:copy_to(c) == 4 and d:read(4) == "rest")

  -- The other side closes meanwhile; a deadline; a second reader is refused.
  local copy = scope:task(function() return d:copy_to(output) end)
  ml.sleep(0)
  local ok, message = pcall(d.read, d)
  assert(not ok and message:find "waits to read already", message)
  output:close()
  local count, message, code = copy:await()
  assert(count == nil and code == "ECANCELED", message)
  assert(select(3, d:copy_to(c, 10, { timeout = 1 })) == "ETIMEDOUT")
  for _, stream in ipairs { input, a, b, c, d } do stream:close() end
end):wait()
os.remove(path)
