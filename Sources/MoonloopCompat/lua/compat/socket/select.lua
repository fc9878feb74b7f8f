-- socket.select: the task waits, the loop goes on.
local posix = require "moonloop.posix"
local waiting = require "moonloop.compat.socket.waiting"

-- As in LuaSocket, descriptors have a bound here.
local SIZE = require("socket.core")._SETSIZE

-- The sockets of both lists by descriptor, with what is wanted of each; and those that are ready
-- because they hold unread bytes.
local function collect(receivers, senders)
  local wanted, order, dirty = {}, {}, {}
  local function want(list, event, index)
    if list ~= nil and type(list) ~= "table" then
      local text = "bad argument #%d to 'select' (table expected, got %s)"
      error(text:format(index, type(list)), 4)
    end
    for _, one in ipairs(list or {}) do
      local fd = one:getfd()
      if fd >= SIZE then
        local text = "bad argument #%d to 'select' (descriptor too large for set size)"
        error(text:format(index), 4)
      end
      if event == "r" and one.dirty and one:dirty() then
        dirty[#dirty + 1] = one
      elseif fd >= 0 then
        if not wanted[fd] then
          wanted[fd] = { gate = false }
          order[#order + 1] = fd
        end
        wanted[fd][event] = one
        local state = waiting.known(one)
        if state then
          state.gate = state.gate or posix.gate()
          wanted[fd].gate = state.gate
        end
      end
    end
  end
  want(receivers, "r", 1)
  want(senders, "w", 2)
  return wanted, order, dirty
end

-- The arguments of `posix.wait`: for each descriptor one event, or both.
local function to_wait(wanted, order)
  local list = {}
  for _, fd in ipairs(order) do
    local one = wanted[fd]
    list[#list + 1] = fd
    list[#list + 1] = one.r and one.w and "rw" or one.r and "r" or "w"
    list[#list + 1] = one.gate
  end
  return list
end

-- Like LuaSocket's: each ready socket is both an element and a key of the list.
local function mark(list, one)
  if not one or list[one] then return end
  list[#list + 1] = one
  list[one] = #list
end

-- Asks the system once; true if something is ready.
local function look(wanted, order, readable, writable)
  local list, places = {}, {}
  for _, fd in ipairs(order) do
    for _, event in ipairs { "r", "w" } do
      if wanted[fd][event] then
        places[#places + 1] = { fd = fd, event = event }
        table.move({ fd, event, false }, 1, 3, #list + 1, list)
      end
    end
  end
  for place, is_ready in ipairs(posix.ready(list)) do
    local found = places[place]
    if is_ready then
      mark(found.event == "r" and readable or writable, wanted[found.fd][found.event])
    end
  end
  return #readable + #writable > 0
end

return function(receivers, senders, timeout)
  local wanted, order, dirty = collect(receivers, senders)
  local readable, writable = {}, {}
  for _, one in ipairs(dirty) do mark(readable, one) end
  if look(wanted, order, readable, writable) then return readable, writable end
  if timeout and timeout < 0 then timeout = nil end
  if timeout ~= 0 and (timeout or #order > 0) then
    waiting.call("socket.select", posix.wait, timeout, "socket.select", to_wait(wanted, order))
    if look(wanted, order, readable, writable) then return readable, writable end
  end
  return readable, writable, "timeout"
end
