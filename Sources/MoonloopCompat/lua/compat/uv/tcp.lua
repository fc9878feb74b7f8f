-- luv's TCP handles.
local core = require "moonloop.compat.uv.core"
local posix = require "moonloop.posix"
local socket = require "moonloop.compat.uv.socket"
local stream = require "moonloop.compat.uv.stream"

local uv = core.uv
local tcp, new = stream._class("tcp", 12)

local function check(handle) return core.handle(handle, 1, "tcp") end

-- Settings made before there was a descriptor.
function tcp._opened(handle)
  if handle._no_delay then posix.set(handle._fd, "no_delay", 1) end
  if handle._keep_alive then
    posix.set(handle._fd, "keep_alive", 1)
    posix.set(handle._fd, "keep_idle", handle._keep_alive)
  end
end

-- Makes the socket if there is none yet.
local function open(handle, family)
  if handle._fd then return true end
  local fd, _, code = posix.socket(family)
  if not fd then return core.fail(code) end
  handle._fd = fd
  handle:_opened()
  return true
end

function uv.new_tcp(family)
  family = socket.family_name(family, 1)
  local handle = new()
  if family then open(handle, family) end
  return handle._out
end

function tcp.open(handle, fd)
  handle = check(handle)
  fd = core.integer(fd, 2)
  if handle._fd then return core.fail "EBUSY" end
  local access, _, code = posix.access(fd)
  if not access then return core.fail(code) end
  stream._adopt(handle, fd, "rw")
  handle:_opened()
  return 0
end

function tcp.bind(handle, host, port, flags)
  handle = check(handle)
  host, port = core.text(host, 2), core.integer(port, 3)
  local family = socket.family(host, port)
  if handle._closing then return core.fail "EINVAL" end
  local is_v6_only = type(flags) == "table" and flags.ipv6only
  if is_v6_only and family == "inet" then return core.fail "EINVAL" end
  local ready, message, code = open(handle, family)
  if not ready then return ready, message, code end
  posix.set(handle._fd, "reuse_address", 1)
  if family == "inet6" then
    posix.set(handle._fd, "v6_only", is_v6_only and 1 or 0)
  end
  local ok, _, why = posix.bind(handle._fd, host, port)
  if not ok and why ~= "EADDRINUSE" then
    return core.fail(why == "EAFNOSUPPORT" and "EINVAL" or why)
  end
  -- libuv reports the error at the next call: listen, connect or getsockname.
  handle._delayed, handle._is_bound = why, true
  return 0
end

function tcp._prepare_listen(handle)
  if handle._delayed then return core.fail(handle._delayed) end
  return open(handle, "inet")
end

function tcp.connect(handle, host, port, callback)
  handle = check(handle)
  host, port = core.text(host, 2), core.integer(port, 3)
  local family = socket.family(host, port)
  core.callback(callback, 4, true)
  if handle._closing then return core.fail "EINVAL" end
  if handle._connect then return core.fail "EALREADY" end
  local ready, message, code = open(handle, family)
  if not ready then return ready, message, code end
  return handle:_connect_to(callback, host, port)
end

local function names(of)
  return function(handle)
    handle = check(handle)
    if handle._delayed then return core.fail(handle._delayed) end
    if not handle._fd then return core.fail "EBADF" end
    return socket.address(of(handle._fd))
  end
end
tcp.getsockname, tcp.getpeername = names(posix.name), names(posix.peer)

function tcp.nodelay(handle, enable)
  handle = check(handle)
  core.boolean(enable, 2)
  handle._no_delay = enable
  if not handle._fd then return 0 end
  return core.result(posix.set(handle._fd, "no_delay", enable and 1 or 0))
end

function tcp.keepalive(handle, enable, delay)
  handle = check(handle)
  core.boolean(enable, 2)
  delay = enable and core.integer(delay, 3) or 0
  handle._keep_alive = enable and delay or nil
  if not handle._fd then return 0 end
  local ok, _, code = posix.set(handle._fd, "keep_alive", enable and 1 or 0)
  if not ok then return core.fail(code) end
  if not enable then return 0 end
  return core.result(posix.set(handle._fd, "keep_idle", delay))
end

function tcp.simultaneous_accepts(handle, enable)
  handle = check(handle)
  core.boolean(enable, 2)
  return 0  -- only on Windows
end

function tcp.close_reset(handle, callback)
  handle = check(handle)
  core.callback(callback, 2, true)
  if handle._shutdown then return core.fail "EINVAL" end
  if handle._closing then return core.fail "EINVAL" end
  if handle._fd then posix.reset_on_close(handle._fd) end
  core.close(handle, callback)
  return 0
end

tcp.write_queue_size = tcp.get_write_queue_size

local types = { stream = "stream", dgram = "dgram", [1] = "stream", [2] = "dgram" }

function uv.socketpair(type_name, protocol, first, second)
  local kind = types[type_name == nil and "stream" or type_name]
  core.check(kind, 1, ("invalid socket type: %s"):format(tostring(type_name)))
  core.check(protocol == nil or math.type(protocol) or type(protocol) == "string", 2,
    "protocol must be string or integer if set, got " .. type(protocol))
  for place, flags in ipairs { first or false, second or false } do
    core.check(not flags or type(flags) == "table", place + 2,
      "table or nil expected, got " .. type(flags))
  end
  local a, b, code = posix.socketpair(kind == "dgram")
  if not a then return core.fail(code) end
  if first and first.nonblock then posix.set_blocking(a, false) end
  if second and second.nonblock then posix.set_blocking(b, false) end
  return core.keep_pair("socketpair", 1, a, 2, b)
end
