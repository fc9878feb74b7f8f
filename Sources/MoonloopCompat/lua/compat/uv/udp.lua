-- luv's UDP handles.
local core = require "moonloop.compat.uv.core"
local items = require "moonloop.compat.uv.items"
local posix = require "moonloop.posix"
local socket = require "moonloop.compat.uv.socket"

local uv = core.uv
local udp = core.class("udp", 15, {})

local function check(handle) return core.handle(handle, 1, "udp") end

local function update(handle)
  local reads, writes = handle._receive ~= nil, #handle._queue > 0
  return items.watch(handle, reads, writes, reads or writes)
end

local function open(handle, family)
  if handle._fd then return true end
  local fd, _, code = posix.socket(family, true)
  if not fd then return core.fail(code) end
  handle._fd, handle._family = fd, family
  return true
end

function uv.new_udp(options)
  local family
  if type(options) == "table" then
    core.check(options.mmsgs == nil or math.type(options.mmsgs), 1, "mmsgs must be integer if set")
    family = socket.family_name(options.family, 1)
  else
    family = socket.family_name(math.type(options) and options & 0xff or options, 1)
  end
  local handle = core.new "udp"
  handle._item_holds, handle._queue = true, {}
  if family then open(handle, family) end
  return handle._out
end

function udp.open(handle, fd)
  handle = check(handle)
  fd = core.integer(fd, 2)
  if handle._fd then return core.fail "EBUSY" end
  local access, _, code = posix.access(fd)
  if not access then return core.fail(code) end
  posix.set_blocking(fd, false)
  handle._fd, handle._family = fd, posix.name(fd)
  return 0
end

function udp.bind(handle, host, port, flags)
  handle = check(handle)
  host, port = core.text(host, 2), core.integer(port, 3)
  local family = socket.family(host, port)
  flags = type(flags) == "table" and flags or {}
  if handle._closing or (flags.ipv6only and family == "inet") then return core.fail "EINVAL" end
  local ready, message, code = open(handle, family)
  if not ready then return ready, message, code end
  if flags.reuseaddr then posix.set(handle._fd, "reuse_address", 1) end
  if flags.ipv6only then posix.set(handle._fd, "v6_only", 1) end
  local ok, _, why = posix.bind(handle._fd, host, port)
  if not ok then return core.fail(why == "EAFNOSUPPORT" and "EINVAL" or why) end
  handle._is_bound = true
  return 0
end

-- A sending socket has a port, whether it was bound or not.
local function ready(handle, family)
  if handle._fd then return true end
  return open(handle, family)
end

-- The address in the arguments: both nil, or host and port.
local function address(host, port, index)
  if host == nil and port == nil then return nil end
  core.check(host == nil or type(host) == "string", index, "Host must be string or nil")
  core.check(port == nil or type(port) == "number", index + 1, "Port must be number or nil")
  core.check(host ~= nil and port ~= nil, host == nil and index or index + 1,
    "Both host and port must be nil if one is nil")
  return socket.family(host, port, 3)
end

-- libuv's checks before a datagram is sent.
local function cannot_send(handle, family)
  if handle._is_connected and family then return "EISCONN" end
  if not handle._is_connected and not family then return "EDESTADDRREQ" end
end

function udp.connect(handle, host, port)
  handle = check(handle)
  local family = address(host, port, 2)
  if not family then
    if not handle._is_connected then return core.fail "ENOTCONN" end
    local ok, _, code = posix.disconnect(handle._fd)
    if not ok then return core.fail(code) end
    handle._is_connected = false
    return 0
  end
  if handle._is_connected then return core.fail "EISCONN" end
  local made, message, why = ready(handle, family)
  if not made then return made, message, why end
  local ok, _, code = posix.connect(handle._fd, host, port)
  if ok == nil then return core.fail(code) end
  handle._is_connected = true
  return 0
end

local function flush(handle)
  while #handle._queue > 0 do
    local entry = handle._queue[1]
    local ok, _, code = posix.send(handle._fd, entry.text, entry.host, entry.port)
    if not ok and (code == "EAGAIN" or code == "ENOBUFS") then return end
    table.remove(handle._queue, 1)
    core.finish_later(entry.req, code)
  end
end

function udp.send(handle, data, host, port, callback)
  handle = check(handle)
  local text = core.bytes(data, 2)
  local family = address(host, port, 3)
  core.callback(callback, 5, true)
  local why = cannot_send(handle, family)
  if why then return core.fail(why) end
  local made, message, code = ready(handle, family)
  if not made then return made, message, code end
  local req = core.request("udp_send", callback)
  handle._queue[#handle._queue + 1] = { text = text, host = host, port = port, req = req }
  flush(handle)
  update(handle)
  return req._out
end

function udp.try_send(handle, data, host, port)
  handle = check(handle)
  local text = core.bytes(data, 2)
  local family = address(host, port, 3)
  if #handle._queue > 0 then return core.fail "EAGAIN" end
  local why = cannot_send(handle, family)
  if why then return core.fail(why) end
  local made, message, code = ready(handle, family)
  if not made then return made, message, code end
  local ok, _, failure = posix.send(handle._fd, text, host, port)
  if not ok then return core.fail(failure) end
  return #text
end

function udp.recv_start(handle, callback)
  handle = check(handle)
  core.callback(callback, 2)
  if handle._closing then return core.fail "EINVAL" end
  if handle._receive then return core.fail "EALREADY" end
  local made, message, code = open(handle, "inet")
  if not made then return made, message, code end
  handle._receive = callback
  return update(handle)
end

function udp.recv_stop(handle)
  handle = check(handle)
  if handle._receive then
    handle._receive = nil
    update(handle)
  end
  return 0
end

function udp._readable(handle)
  core.enter(handle._state)
  local text, is_cut, family, host, port = posix.receive(handle._fd)
  if text then
    local flags = { partial = is_cut or nil }
    return handle._receive(nil, text, socket.address(family, host, port), flags)
  end
  local code = family
  if code ~= "EAGAIN" then handle._receive(code, nil, nil, {}) end
end

function udp._writable(handle)
  core.enter(handle._state)
  flush(handle)
  update(handle)
end

function udp._stop(handle)
  if handle._item then handle._item:invalidate() end
  handle._item, handle._receive = nil, nil
  if handle._fd then posix.close(handle._fd) end
  handle._fd = nil
end

function udp._finish(handle)
  local queue = handle._queue
  handle._queue = {}
  for _, entry in ipairs(queue) do core.finish(entry.req, "ECANCELED") end
end

local function names(of)
  return function(handle)
    handle = check(handle)
    if not handle._fd then return core.fail "EBADF" end
    return socket.address(of(handle._fd))
  end
end
udp.getsockname, udp.getpeername = names(posix.name), names(posix.peer)

function udp.get_send_queue_count(handle) return #check(handle)._queue end

function udp.get_send_queue_size(handle)
  local size = 0
  for _, entry in ipairs(check(handle)._queue) do size = size + #entry.text end
  return size
end

local function membership(handle, group, interface, source, word)
  if not handle._fd then
    local made, message, code = open(handle, group:find ":" and "inet6" or "inet")
    if not made then return made, message, code end
  end
  return core.result(posix.membership(handle._fd, word == "join", group, interface, source))
end

local words = { "leave", "join" }

function udp.set_membership(handle, group, interface, word)
  handle = check(handle)
  group = core.text(group, 2)
  core.check(interface == nil or type(interface) == "string", 3, "expected string or nil")
  return membership(handle, group, interface, nil, core.word(word, 4, words))
end

function udp.set_source_membership(handle, group, interface, source, word)
  handle = check(handle)
  group, source = core.text(group, 2), core.text(source, 4)
  core.check(interface == nil or type(interface) == "string", 3, "expected string or nil")
  return membership(handle, group, interface, source, core.word(word, 5, words))
end

-- An option with a different name for IPv6.
local function set(v4, v6, read)
  return function(handle, value)
    handle = check(handle)
    value = read(value)
    if not handle._fd then return core.fail "EBADF" end
    return core.result(posix.set(handle._fd, handle._family == "inet6" and v6 or v4, value))
  end
end

local function flag(value) return core.boolean(value, 2) and 1 or 0 end
local function number(value) return core.integer(value, 2) end

udp.set_multicast_loop = set("multicast_loop", "multicast_loop6", flag)
udp.set_multicast_ttl = set("multicast_ttl", "multicast_hops6", number)
udp.set_ttl = set("ttl", "hops6", number)
udp.set_broadcast = set("broadcast", "broadcast", flag)

function udp.set_multicast_interface(handle, interface)
  handle = check(handle)
  interface = core.text(interface, 2)
  if not handle._fd then return core.fail "EBADF" end
  return core.result(posix.multicast_interface(handle._fd, interface))
end
