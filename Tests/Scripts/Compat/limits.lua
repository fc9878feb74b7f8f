-- Sockets of LuaSocket and handles of luv count for `ml.limit { handles }`, until they are closed
-- or collected; LuaSec's connections do in place of the sockets that they are made from.
local ml = require "moonloop"
require "moonloop.compat.socket"
local socket, ssl = require "socket", require "ssl"
local uv = require "moonloop.compat.uv"

local WORDS = "the limit of 4 handles of luv and LuaSocket is reached; see ml.limit"
ml.limit { handles = 4 }

local function most(make)
  local made, value, message = {}, nil, nil
  repeat
    value, message = make()
    made[#made + 1] = value
  until not value or #made == 10
  assert(#made == 4, #made)
  for _, one in ipairs(made) do one:close() end
  return message
end

for _, name in ipairs { "tcp", "tcp4", "udp" } do
  assert(most(socket[name]) == "Too many open files")
end
assert(most(require("socket.unix").stream) == "Too many open files")
for _ = 1, 20 do socket.tcp() end  -- the collector closes them

local server = assert(socket.bind("127.0.0.1", 0))
local _, port = server:getsockname()
local client = assert(socket.connect("127.0.0.1", port))
local accepted = assert(server:accept())
local wrapped = assert(ssl.wrap(accepted, { mode = "client", protocol = "any", verify = "none" }))
assert(socket.tcp())  -- the fourth: `accepted` has no descriptor any more
wrapped:close()

local function refused(fn, ...)
  local ok, message = pcall(fn, ...)
  assert(not ok and message:find(WORDS, 1, true), message)
end
local one, two = uv.new_tcp(), uv.new_timer()
client:close()
local three = uv.new_pipe()
refused(uv.new_udp)
for _, handle in ipairs { one, two, three } do handle:close() end
uv.new_timer():close()
uv.run()
server:close()

-- Descriptors that luv hands out are open files.
local pair = assert(uv.pipe())
local sockets = assert(uv.socketpair())
for _, make in ipairs { uv.pipe, uv.socketpair } do
  local none, message, code = make()
  assert(none == nil and code == "EMFILE", message)
end
for _, fd in ipairs { pair.read, pair.write, sockets[1], sockets[2] } do uv.fs_close(fd) end
local pipe = uv.new_pipe()
pair = assert(uv.pipe())
pipe:open(pair.read)
pipe:close()
uv.fs_close(pair.write)
uv.run()
