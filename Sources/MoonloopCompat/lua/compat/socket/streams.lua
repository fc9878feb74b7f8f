-- Methods of what LuaSocket sends and receives bytes with: TCP, streams of Unix, LuaSec's.
local ml = require "moonloop"
local waiting = require "moonloop.compat.socket.waiting"

local streams = {}

-- What a call answers when it can be repeated, and what it waits for: LuaSocket says "timeout",
-- LuaSec the direction.
local EVENTS = { wantread = "r", wantwrite = "w" }

-- Whether LuaSocket's own tests run: then it also returns how long a call took.
local is_debugged = require("socket.core")._DEBUG

local function with_time(begin, ...)
  if not is_debugged then return ... end
  local results = table.pack(...)
  return results[1], results[2], results[3], ml.now() - begin
end

local function is_text(value) return type(value) == "string" or type(value) == "number" end

local function is_pattern(pattern, prefix)
  if prefix ~= nil and not is_text(prefix) then return false end
  if pattern == nil then return true end
  local number = tonumber(pattern)
  if number then return number >= 0 end
  return type(pattern) == "string" and pattern:find "^%*[la]" ~= nil
end

-- Receives what is still missing. `begun` is what came so far, the prefix included.
local function receive_rest(c, socket, state, pattern, begun, prefix, why, begin)
  if state.reads then return nil, "socket busy reading", begun end
  local _ <close> = waiting.mark(state, "reads")
  local parts, count, number = { begun }, #begun, tonumber(pattern)
  local has_all = type(pattern) == "string" and pattern:find "^%*a" ~= nil
  while true do
    local ok, failure = waiting.ready("socket:receive", state, c.getfd(socket),
      EVENTS[why] or "r", begin)
    if not ok then
      if failure == "timeout" then failure = why end
      return nil, failure, table.concat(parts)
    end
    local data, partial
    data, why, partial = c.receive(socket, number and number - count or pattern)
    parts[#parts + 1] = data or partial
    count = count + #parts[#parts]
    if data then return table.concat(parts), nil, nil end
    if why ~= "timeout" and not EVENTS[why] then
      -- "*a" ends with the connection; it fails only if nothing came.
      if has_all and why == "closed" and count > #prefix then
        return table.concat(parts), nil, nil
      end
      return nil, why, table.concat(parts)
    end
  end
end

function streams.receive(c)
  return function(socket, pattern, prefix)
    if not is_pattern(pattern, prefix) then
      return waiting.original(":receive", c.receive, socket, pattern, prefix)
    end
    local state, begin = waiting.of(socket, c), ml.now()
    if state.reads then return nil, "socket busy reading", prefix or "" end
    local data, why, partial = c.receive(socket, pattern, prefix)
    if data or (why ~= "timeout" and not EVENTS[why]) or waiting.is_eager(state) then
      return with_time(begin, data, why, partial)
    end
    return with_time(begin, receive_rest(c, socket, state, pattern, partial,
      tostring(prefix or ""), why, begin))
  end
end

-- Sends the rest after the last byte sent.
local function send_rest(c, socket, state, data, last, to, why, begin)
  if state.writes then return nil, "socket busy writing", last end
  local _ <close> = waiting.mark(state, "writes")
  while true do
    local ok, failure = waiting.ready("socket:send", state, c.getfd(socket), EVENTS[why] or "w",
      begin)
    if not ok then return nil, failure == "timeout" and why or failure, last end
    local sent, now
    sent, why, now = c.send(socket, data, last + 1, to)
    if sent then return sent, nil, nil end
    last = now
    if why ~= "timeout" and not EVENTS[why] then return nil, why, last end
  end
end

local function is_number(value) return value == nil or tonumber(value) ~= nil end

function streams.send(c)
  return function(socket, data, from, to)
    if not is_text(data) or not is_number(from) or not is_number(to) then
      return waiting.original(":send", c.send, socket, data, from, to)
    end
    local state, begin = waiting.of(socket, c), ml.now()
    if state.writes then return nil, "socket busy writing", (tonumber(from) or 1) - 1 end
    local sent, why, last = c.send(socket, data, from, to)
    if sent or (why ~= "timeout" and not EVENTS[why]) or waiting.is_eager(state) then
      return with_time(begin, sent, why, last)
    end
    return with_time(begin, send_rest(c, socket, state, data, last, to, why, begin))
  end
end

--- For `accept` and LuaSec's `dohandshake`: repeated until it gives something.
function streams.repeated(c, name)
  local label = "socket:" .. name
  return function(socket, ...)
    local state, begin = waiting.of(socket, c), ml.now()
    while true do
      local value, why = c[name](socket, ...)
      local event = why == "timeout" and "r" or EVENTS[why]
      if value or not event or waiting.is_eager(state) then return value, why end
      local ok, failure = waiting.ready(label, state, c.getfd(socket), event, begin)
      if not ok then return nil, failure == "timeout" and why or failure end
    end
  end
end

function streams.close(c)
  return function(socket)
    waiting.close(socket)
    return c.close(socket)
  end
end

local MODES = { b = "block", t = "total", r = "total" }

function streams.settimeout(c)
  return function(socket, seconds, mode)
    local kind = mode == nil and "b" or type(mode) == "string" and mode:sub(1, 1)
    if not is_number(seconds) or not MODES[kind] then
      return waiting.original(":settimeout", c.settimeout, socket, seconds, mode)
    end
    waiting.of(socket, c)[MODES[kind]] = (tonumber(seconds) or -1) + 0.0
    return 1
  end
end

function streams.gettimeout(c)
  return function(socket)
    local state = waiting.of(socket, c)
    return state.block, state.total
  end
end

return streams
