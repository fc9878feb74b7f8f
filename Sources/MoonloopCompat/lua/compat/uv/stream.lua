-- luv's streams: reading, writing and listening on a descriptor, with our loop's descriptor sources
-- and the system calls of moonloop.posix.
local core = require "moonloop.compat.uv.core"
local items = require "moonloop.compat.uv.items"
local posix = require "moonloop.posix"

local uv = core.uv
local stream = {}
local CHUNK = 65536
local KINDS = { "tcp", "pipe", "tty" }

-- How long a listener pauses when there are no free descriptors.
local PAUSE = 0.1

local function check(handle, index)
  return core.handle(handle, index or 1, table.unpack(KINDS))
end

-- What the handle waits for --------------------------------------------------------------------

local function update(handle)
  local reads = handle._read_callback ~= nil or (handle._listens and not handle._accepted
    and not handle._rests) or false
  local writes = handle._connect ~= nil or #handle._queue > 0
  local is_active = handle._read_callback or handle._listens or writes or handle._shutdown
  return items.watch(handle, reads, writes, is_active and true or false)
end
stream._update = update

local function init(handle)
  handle._item_holds, handle._queue, handle._queued = true, {}, 0
  return handle
end

-- Sets the descriptor of a new handle. The standard streams are shared with others (`print` too)
-- that do not expect a non-blocking descriptor: writes to them block.
local function adopt(handle, fd, access)
  core.leave_descriptor(fd)
  if fd > 2 then posix.set_blocking(fd, false) end
  handle._fd = fd
  handle._can_read, handle._can_write = access:find "r" ~= nil, access:find "w" ~= nil
end
stream._adopt = adopt

-- Writing --------------------------------------------------------------------------------------

local drain

local function end_write(handle, code)
  local entry = table.remove(handle._queue, 1)
  handle._queued = handle._queued - (#entry.text - entry.from + 1)
  core.finish_later(entry.req, code)
end

-- Writes as much as the system takes.
local function flush(handle)
  while #handle._queue > 0 do
    local entry = handle._queue[1]
    local count, _, code
    if entry.from > #entry.text and not entry.passed then
      count = 0
    elseif entry.passed then
      count, _, code = posix.send_fd(handle._fd, entry.text, entry.passed._fd)
      if count then entry.passed = nil end
    else
      count, _, code = posix.write(handle._fd, entry.text, entry.from)
    end
    if not count and (code == "EAGAIN" or code == "ENOBUFS") then break end
    if count then
      entry.from = entry.from + count
      handle._queued = handle._queued - count
    end
    if code or entry.from > #entry.text then end_write(handle, code) end
  end
  if #handle._queue == 0 then drain(handle) end
end

-- Everything is written: a requested end is sent to the peer in the next pass, as libuv does when
-- the socket is writable.
function drain(handle)
  local req = handle._shutdown
  if not req or req._is_due then return end
  req._is_due = true
  handle._state.loop:perform({ as_source = true }, function()
    if handle._closing or handle._shutdown ~= req then return end
    local _, _, code = posix.shutdown(handle._fd)
    handle._shutdown, handle._has_shut = nil, not code
    handle:_update()
    core.finish(req, code)
  end)
end

local function cancel_queue(handle, code)
  while #handle._queue > 0 do
    local entry = table.remove(handle._queue, 1)
    core.finish_later(entry.req, code)
  end
  handle._queued = 0
end

local function write(handle, data, callback, passed)
  local text = core.bytes(data, 2)
  if not handle._fd then return core.fail "EBADF" end
  if not handle._can_write and not handle._connect then return core.fail "EPIPE" end
  local req = core.request("write", callback)
  local is_first = #handle._queue == 0
  handle._queue[#handle._queue + 1] = { text = text, from = 1, req = req, passed = passed }
  handle._queued = handle._queued + #text
  if is_first and not handle._connect then flush(handle) end
  update(handle)
  return req._out
end

function stream.write(handle, data, callback)
  handle = check(handle)
  return write(handle, data, core.callback(callback, 3, true))
end

function stream.write2(handle, data, sent, callback)
  handle = check(handle)
  sent = check(sent, 3)
  core.callback(callback, 4, true)
  if not handle._is_ipc then return core.fail "EINVAL" end
  if not sent._fd then return core.fail "EBADF" end
  return write(handle, data, callback, sent)
end

function stream.try_write(handle, data)
  local text = core.bytes(data, 2)
  handle = check(handle)
  if not handle._fd then return core.fail "EBADF" end
  if handle._connect or #handle._queue > 0 then return core.fail "EAGAIN" end
  if not handle._can_write then return core.fail "EPIPE" end
  return core.result(posix.write(handle._fd, text))
end

function stream.try_write2(handle, data, sent)
  local text = core.bytes(data, 2)
  handle = check(handle)
  sent = check(sent, 3)
  if not handle._is_ipc then return core.fail "EINVAL" end
  if not handle._fd or not sent._fd then return core.fail "EBADF" end
  if handle._connect or #handle._queue > 0 then return core.fail "EAGAIN" end
  return core.result(posix.send_fd(handle._fd, text, sent._fd))
end

function stream.shutdown(handle, callback)
  handle = check(handle)
  core.callback(callback, 2, true)
  if not handle._can_write or handle._closing or handle._shutdown or handle._has_shut then
    return core.fail "ENOTCONN"
  end
  local req = core.request("shutdown", callback)
  handle._shutdown, handle._can_write = req, false
  if #handle._queue == 0 then drain(handle) end
  update(handle)
  return req._out
end

function stream.get_write_queue_size(handle) return check(handle)._queued end

-- Reading --------------------------------------------------------------------------------------

function stream.read_start(handle, callback)
  handle = check(handle)
  core.callback(callback, 2)
  if handle._closing then return core.fail "EINVAL" end
  if not handle._fd or not handle._can_read then return core.fail "ENOTCONN" end
  if handle._read_callback then return core.fail "EALREADY" end
  handle._read_callback = callback
  return update(handle)
end

function stream.read_stop(handle)
  handle = check(handle)
  if handle._read_callback then
    handle._read_callback = nil
    update(handle)
  end
  return 0
end

local function receive(handle)
  if not handle._is_ipc then return posix.read(handle._fd, CHUNK) end
  local text, passed, code = posix.receive_fd(handle._fd)
  if text and passed then handle._pending[#handle._pending + 1] = passed end
  return text, nil, code
end

local function read(handle)
  local callback = handle._read_callback
  local text, _, code = receive(handle)
  if text and text ~= "" then return callback(nil, text) end
  if code == "EAGAIN" then return end
  handle._read_callback = nil
  if code then handle._can_read, handle._can_write = false, false end
  update(handle)
  -- For the end there are no arguments at all.
  if code then return callback(code) end
  callback()
end

-- Listening ------------------------------------------------------------------------------------

local function rest(handle)
  handle._rests = handle._state.loop:timer { first = PAUSE, name = "uv listener rests", function()
    handle._rests = nil
    if not handle._closing then update(handle) end
  end }
  handle._rests:keep_alive(false)
  update(handle)
end

local function connection(handle)
  local fd, _, code = posix.accept(handle._fd)
  if code == "EAGAIN" or code == "ECONNABORTED" then return end
  if fd then
    handle._accepted = fd
    update(handle)
    return handle._listens(nil)
  end
  if code == "EMFILE" or code == "ENFILE" then rest(handle) end
  handle._listens(code)
end

function stream.listen(handle, backlog, callback)
  handle = check(handle)
  backlog = core.integer(backlog, 2)
  core.callback(callback, 3)
  if handle._closing then return core.fail "EINVAL" end
  local ready, message, code = handle:_prepare_listen()
  if not ready then return ready, message, code end
  local ok, _, why = posix.listen(handle._fd, backlog)
  if not ok then return core.fail(why) end
  handle._listens = callback
  return update(handle)
end

function stream.accept(handle, client)
  handle = check(handle)
  client = check(client, 2)
  if handle._is_ipc and handle._pending[1] then
    adopt(client, table.remove(handle._pending, 1), "rw")
    return 0
  end
  if not handle._accepted then return core.fail "EAGAIN" end
  if client._fd then return core.fail "EBUSY" end
  adopt(client, handle._accepted, "rw")
  if client._opened then client:_opened() end
  handle._accepted = nil
  if not handle._closing then update(handle) end
  return 0
end

-- Connecting -----------------------------------------------------------------------------------

-- Starts to connect; the callback gets failures.
function stream._connect_to(handle, callback, ...)
  local req = core.request("connect", callback)
  local is_done, _, code
  if handle._delayed then code = handle._delayed else
    is_done, _, code = posix.connect(handle._fd, ...)
  end
  if is_done == false or code == "EAGAIN" then
    handle._connect = req
  else
    handle._connect = nil
    if not code then handle._can_read, handle._can_write = true, true end
    req._handle = handle  -- if it is closed before that, this is what counts
    core.finish_later(req, code)
  end
  update(handle)
  return req._out
end

local function connected(handle)
  local req = handle._connect
  local _, _, code = posix.failure(handle._fd)
  handle._connect = nil
  if not code then
    handle._can_read, handle._can_write = true, true
    if #handle._queue > 0 then flush(handle) end
  else
    cancel_queue(handle, "ECANCELED")
  end
  update(handle)
  core.finish(req, code)
end

-- Events ---------------------------------------------------------------------------------------

function stream._readable(handle)
  core.enter(handle._state)
  if handle._listens then return connection(handle) end
  if handle._read_callback then read(handle) end
end

function stream._writable(handle)
  core.enter(handle._state)
  if handle._connect then return connected(handle) end
  flush(handle)
  update(handle)
end

-- The first half of closing: nothing happens any more, and the descriptor is free at once. Those of
-- the standard streams stay open, as in libuv.
function stream._stop(handle)
  handle._read_callback, handle._listens = nil, nil
  if handle._item then handle._item:invalidate() end
  if handle._rests then handle._rests:invalidate() end
  handle._item = nil
  for _, fd in ipairs(handle._pending or {}) do posix.close(fd) end
  if handle._accepted then posix.close(handle._accepted) end
  handle._accepted = nil
  handle._can_read, handle._can_write = false, false
  if handle._fd and handle._fd > 2 then posix.close(handle._fd) end
  handle._fd = nil
  if handle._forget then handle:_forget() end
end

-- The second half, in the closing stage: completes pending requests with an error.
function stream._finish(handle)
  local rest_of = { handle._connect }
  for _, entry in ipairs(handle._queue) do rest_of[#rest_of + 1] = entry.req end
  rest_of[#rest_of + 1] = handle._shutdown
  handle._queue, handle._connect, handle._shutdown, handle._queued = {}, nil, nil, 0
  for _, req in ipairs(rest_of) do core.finish(req, "ECANCELED") end
end

-- What is asked --------------------------------------------------------------------------------

function stream.is_readable(handle) return check(handle)._can_read or false end
function stream.is_writable(handle) return check(handle)._can_write or false end

function stream.set_blocking(handle, is_blocking)
  handle = check(handle)
  core.boolean(is_blocking, 2)
  if not handle._fd then return core.fail "EBADF" end
  return core.result(posix.set_blocking(handle._fd, is_blocking))
end

for _, name in ipairs { "write", "write2", "try_write", "try_write2", "shutdown", "read_start",
  "read_stop", "listen", "accept", "is_readable", "is_writable" } do
  uv[name] = stream[name]
end
uv.stream_set_blocking = stream.set_blocking
uv.stream_get_write_queue_size = stream.get_write_queue_size

-- The base of tcp, pipe and tty: a table with the methods of streams.
function stream._class(name, number)
  local class = {}
  for key, value in pairs(stream) do class[key] = value end
  core.class(name, number, class, stream)
  return class, function() return init(core.new(name)) end
end

return stream
