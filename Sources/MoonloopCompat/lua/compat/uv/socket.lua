-- Shared by tcp and udp: addresses and buffer sizes.
local core = require "moonloop.compat.uv.core"
local posix = require "moonloop.posix"

local uv = core.uv
local socket = {}

-- The family of a numeric address; raises luv's error if it is not one.
function socket.family(host, port, level)
  local family = posix.address(host)
  if family and port >= 0 and port <= 65535 then return family end
  error(("Invalid IP address or port [%s:%d]"):format(host, port), (level or 2) + 1)
end

-- luv's table for an address, from the results of `posix.name` and `posix.peer`.
function socket.address(family, host, port)
  if not family then return core.fail(port) end
  if family == "inet6" and host:find "^%d+%.%d+%.%d+%.%d+$" then host = "::ffff:" .. host end
  return { family = family, ip = host, port = port }
end

-- An address family by luv's name or the system's number.
function socket.family_name(value, index)
  if value == nil or value == 0 or value == "unspec" then return nil end
  if value == "inet" or value == 2 then return "inet" end
  if value == "inet6" or value == 10 then return "inet6" end
  core.check(false, index, ("invalid or unknown address family: '%s'"):format(tostring(value)))
end

local function buffer(option)
  return function(handle, size)
    handle = core.handle(handle, 1, "tcp", "pipe", "udp")
    size = size == nil and 0 or core.integer(size, 2)
    if not handle._fd then return core.fail "EBADF" end
    if size == 0 then return core.result(posix.get(handle._fd, option)) end
    return core.result(posix.set(handle._fd, option, size))
  end
end

core.base.send_buffer_size = buffer "send_buffer"
core.base.recv_buffer_size = buffer "receive_buffer"
uv.send_buffer_size, uv.recv_buffer_size = core.base.send_buffer_size, core.base.recv_buffer_size

return socket
