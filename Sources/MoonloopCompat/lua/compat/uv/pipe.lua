-- luv's pipes: Unix sockets and anonymous pipes.
local core = require "moonloop.compat.uv.core"
local posix = require "moonloop.posix"
local stream = require "moonloop.compat.uv.stream"

local uv = core.uv
local pipe, new = stream._class("pipe", 7)

local function check(handle) return core.handle(handle, 1, "pipe") end

function uv.new_pipe(is_ipc)
  core.check(is_ipc == nil or type(is_ipc) == "boolean", 1, "Expected boolean or nil")
  local handle = new()
  handle._is_ipc, handle._pending = is_ipc or false, {}
  return handle._out
end

function pipe.open(handle, fd)
  handle = check(handle)
  fd = core.integer(fd, 2)
  if handle._fd then return core.fail "EBUSY" end
  local access, _, code = posix.access(fd)
  if not access then return core.fail(code) end
  stream._adopt(handle, fd, access)
  return 0
end

-- A listener's socket file is removed with it.
function pipe._forget(handle)
  if handle._path then os.remove(handle._path) end
  handle._path = nil
end

function pipe.bind(handle, path)
  handle = check(handle)
  path = core.text(path, 2)
  if handle._fd or handle._closing then return core.fail "EINVAL" end
  if #path > 107 then path = path:sub(1, 107) end
  local fd, _, code = posix.socket "unix"
  if not fd then return core.fail(code) end
  local ok, _, why = posix.bind(fd, path)
  if not ok then
    posix.close(fd)
    return core.fail(why == "ENOENT" and "EACCES" or why)
  end
  handle._fd, handle._path = fd, path
  return 0
end

function pipe._prepare_listen(handle)
  if not handle._fd or handle._is_ipc then return core.fail "EINVAL" end
  return true
end

function pipe.connect(handle, path, callback)
  handle = check(handle)
  path = core.text(path, 2)
  core.callback(callback, 3, true)
  if not handle._fd then
    local fd, _, code = posix.socket "unix"
    if not fd then
      local req = core.request("connect", callback)
      core.finish_later(req, code)
      return req._out
    end
    handle._fd = fd
  end
  return handle:_connect_to(callback, path)
end

local function names(of)
  return function(handle)
    handle = check(handle)
    if not handle._fd then return core.fail "EBADF" end
    local family, path, code = of(handle._fd)
    if not family then return core.fail(code) end
    return path
  end
end
pipe.getsockname, pipe.getpeername = names(posix.name), names(posix.peer)

function pipe.chmod(handle, flags)
  handle = check(handle)
  core.word(flags, 2, { "r", "w", "rw", "wr" })
  if not handle._fd then return core.fail "EBADF" end
  local bits = flags:find "r" and tonumber("444", 8) or 0
  if flags:find "w" then bits = bits | tonumber("222", 8) end
  local _, path, code = posix.name(handle._fd)
  if not path then return core.fail(code) end
  return core.result(posix.set_mode(path, bits))
end

function pipe.pending_instances(handle, count)
  handle = check(handle)
  core.integer(count, 2)  -- only on Windows
end

function pipe.pending_count(handle) return #check(handle)._pending end

local pending_types = { tcp = "tcp", unix = "pipe", pipe = "pipe", udp = "udp" }

function pipe.pending_type(handle)
  local fd = check(handle)._pending[1]
  return fd and pending_types[posix.kind(fd)] or nil
end

function uv.pipe(read_flags, write_flags)
  for place, flags in ipairs { read_flags or false, write_flags or false } do
    core.check(not flags or type(flags) == "table", place,
      "table or nil expected, got " .. type(flags))
  end
  local read, write, code = posix.pipe()
  if not read then return core.fail(code) end
  if read_flags and read_flags.nonblock then posix.set_blocking(read, false) end
  if write_flags and write_flags.nonblock then posix.set_blocking(write, false) end
  return core.keep_pair("pipe", "read", read, "write", write)
end
