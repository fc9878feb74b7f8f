-- luv's async handles: the last value sent is delivered once, in a later pass. In other states a
-- handle is a port of our loop.
local core = require "moonloop.compat.uv.core"

local uv = core.uv
local async = core.class("async", 1, {})

function uv.new_async(callback)
  core.callback(callback, 1)
  local handle = core.new "async"
  local st = handle._state
  handle._item_holds = true
  handle._item = st.loop:source { name = "uv async", perform = function()
    core.enter(st)
    local arguments = handle._arguments
    callback(table.unpack(arguments, 1, arguments.n))
  end }
  core.settle(handle, true)
  return handle._out
end

function async._stop(handle)
  handle._item:invalidate()
  handle._item = nil
  if handle._port then handle._port:invalidate() end
  handle._port = nil
end

-- The handle's form for threads.
function async._gate(handle)
  if not handle._port and not handle._closing then
    handle._port = handle._state.loop:port { keep_alive = false, name = "uv async",
      function(_, arguments)
        if not handle._closing then handle:send(table.unpack(arguments, 1, arguments.n)) end
      end }
  end
  return handle._port
end

function async.send(handle, ...)
  if type(handle) == "userdata" and not core.is_handle(handle) then
    local sent, _, code = handle:send(table.pack(...))
    return core.result(sent, nil, code)
  end
  handle = core.handle(handle, 1, "async")
  if handle._closing then return core.fail "EINVAL" end
  for place = 1, select("#", ...) do
    local kind = type((select(place, ...)))
    if kind == "function" or kind == "thread" then
      error(("Error: thread arg not support type '%s' at %d"):format(kind, place), 2)
    end
  end
  handle._arguments = table.pack(...)
  handle._item:signal()
  return 0
end
