-- luv's idle, prepare and check handles: observers of the pass, in libuv's order.
local core = require "moonloop.compat.uv.core"

local uv = core.uv

-- How to make the item of an active handle, by class.
local make = {}

function make.prepare(st, call)
  return st.loop:observer { on = "before_sources", order = core.order.prepare, name = "uv prepare",
    call }
end

function make.idle(st, call)
  return st.loop:observer { on = "before_sources", order = core.order.idle, name = "uv idle",
    function()
      core.hurry(st)
      call()
    end }
end

make.check = core.check_stage

local function define(name, number)
  local class = core.class(name, number, {})

  uv["new_" .. name] = function() return core.new(name)._out end

  local function observe(handle)
    local st = handle._state
    handle._item = make[name](st, function()
      core.enter(st)
      core.served(st)
      core.inside(handle, handle._callback)
    end)
  end

  function class._renew(handle)
    if not handle._item then return end
    handle._item:invalidate()
    observe(handle)
  end

  function class._stop(handle)
    if not handle._item then return end
    handle._item:invalidate()
    handle._item = nil
    core.settle(handle, false)
    if name == "check" then core.end_stages(handle._state) end
  end

  function class.start(handle, callback)
    handle = core.handle(handle, 1, name)
    core.callback(callback, 2)
    if handle._closing then return core.fail "EINVAL" end
    if handle._item then return 0 end
    handle._callback = callback
    if name == "check" then core.begin_stages(handle._state) end
    observe(handle)
    core.settle(handle, true)
    return 0
  end

  function class.stop(handle)
    core.handle(handle, 1, name):_stop()
    return 0
  end
end

define("check", 2)
define("idle", 6)
define("prepare", 9)
