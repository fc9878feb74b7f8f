-- LuaSocket on the loop: gettime, sleep and select use the loop's clock and a nested run in a
-- private mode, so that libraries on top (copas) run on any clock.
local ml = require "moonloop"
local socket = require "socket"

local MODE = "moonloop.compat.socket"

-- Runs the private mode until a handler stops it or it times out; nil: no limit.
local function run(seconds)
  local limit <close> = seconds
    and ml.current():timer { first = seconds, modes = MODE, name = "socket.select",
      function() ml.current():stop() end }
  ml.current():run { mode = MODE }
end

function socket.gettime() return ml.wall_time() end

function socket.sleep(seconds)
  if seconds > 0 then run(seconds) end
end

-- The sockets of both lists by descriptor, with what is wanted of each. Those with buffered bytes,
-- or without a descriptor, are returned separately.
local function collect(receivers, senders)
  local wanted, order, dirty = {}, {}, {}
  local function want(list, event)
    for _, one in ipairs(list or {}) do
      local fd = one:getfd()
      if event == "read" and one.dirty and one:dirty() then
        dirty[#dirty + 1] = one
      elseif fd >= 0 then
        if not wanted[fd] then
          wanted[fd] = {}
          order[#order + 1] = fd
        end
        wanted[fd][event] = one
      end
    end
  end
  want(receivers, "read")
  want(senders, "write")
  return wanted, order, dirty
end

-- Like LuaSocket's: each ready socket is both an element and a key of the list.
local function mark(list, one)
  if list[one] then return end
  list[#list + 1] = one
  list[one] = #list
end

function socket.select(receivers, senders, timeout)
  local loop = ml.current()
  local wanted, order, dirty = collect(receivers, senders)
  local ready = { read = {}, write = {} }
  for _, one in ipairs(dirty) do mark(ready.read, one) end
  local sources = {}
  local closing <close> = setmetatable(sources, { __close = function()
    for _, source in ipairs(sources) do source:invalidate() end
  end })
  local function handler(event)
    return function(source)
      mark(ready[event], wanted[source.fd][event])
      source:disable(event)  -- report it once; the others have their turn
      loop:stop()
    end
  end
  for _, fd in ipairs(order) do
    sources[#sources + 1] = loop:fd { fd = fd, modes = MODE, name = "socket.select",
      read = wanted[fd].read and handler "read", write = wanted[fd].write and handler "write" }
    if wanted[fd].write then sources[#sources]:enable "write" end
  end
  if timeout and timeout < 0 then timeout = nil end
  if #dirty > 0 then timeout = 0 end
  if timeout ~= 0 and (timeout or #order > 0) then run(timeout) end
  -- A pass serves one event: poll for whatever else is ready now.
  repeat
    local why = loop:run { mode = MODE, timeout = 0, until_handled = true }
  until why ~= "handled_source" and why ~= "stopped"
  if #ready.read + #ready.write == 0 then return ready.read, ready.write, "timeout" end
  return ready.read, ready.write
end

return socket
