-- luv's timers: one-shot timers of our loop, set to whole milliseconds of the loop's time.
local ml = require "moonloop"
local core = require "moonloop.compat.uv.core"

local uv = core.uv
local timer = core.class("timer", 13, {})

function uv.new_timer()
  local handle = core.new "timer"
  handle._item_holds, handle._repeat, handle._due = true, 0, 0
  return handle._out
end

-- Sets the item to the handle's exact date: timers with the same date fire in order of starting.
local function arm(handle, item)
  item.next_fire = handle._due / 1000
end

local function stop(handle)
  if handle._item then handle._item:invalidate() end
  handle._item = nil
  core.settle(handle, false)
end
timer._stop = stop

local function fire(handle, item)
  local st = handle._state
  core.enter(st)
  if handle._repeat > 0 then
    handle._due = math.max(st.now, handle._due) + handle._repeat
    item:again(handle._repeat / 1000)
    arm(handle, item)
  else
    stop(handle)  -- before its callback: a run in there must not wait for it
  end
  core.served(st)
  core.inside(handle, handle._callback)
end

local function make(handle)
  handle._item = handle._state.loop:timer { first = math.huge, name = "uv timer",
    function(item) fire(handle, item) end }
  arm(handle, handle._item)
end

function timer._renew(handle)
  if not handle._item then return end
  handle._item:invalidate()
  make(handle)
  core.settle(handle)
end

local function start(handle, timeout, interval)
  stop(handle)
  -- In libuv a negative number is a huge unsigned one: never.
  handle._due = timeout < 0 and math.huge or handle._state.now + timeout
  handle._repeat = interval < 0 and math.maxinteger or interval
  make(handle)
  core.settle(handle, true)
end

function timer.start(handle, timeout, interval, callback)
  handle = core.handle(handle, 1, "timer")
  timeout, interval = core.integer(timeout, 2), core.integer(interval, 3)
  handle._callback = core.callback(callback, 4)
  if handle._closing then return core.fail "EINVAL" end
  start(handle, timeout, interval)
  return 0
end

function timer.stop(handle)
  stop(core.handle(handle, 1, "timer"))
  return 0
end

function timer.again(handle)
  handle = core.handle(handle, 1, "timer")
  if not handle._callback then return core.fail "EINVAL" end
  local interval = handle._repeat
  if interval > 0 and not handle._closing then start(handle, interval, interval) end
  return 0
end

function timer.set_repeat(handle, interval)
  core.handle(handle, 1, "timer")._repeat = core.integer(interval, 2)
end

function timer.get_repeat(handle) return core.handle(handle, 1, "timer")._repeat end

function timer.get_due_in(handle)
  handle = core.handle(handle, 1, "timer")
  if not handle._active then return 0 end
  local due = handle._due - handle._state.now
  return due == math.huge and math.maxinteger or math.max(0, due)
end

-- Blocks the caller; nothing else is served.
function uv.sleep(milliseconds)
  local seconds = core.integer(milliseconds, 1) / 1000
  core.block(function(mode, done)
    return ml.current():timer { first = seconds, modes = mode, name = "uv.sleep", done }
  end)
end
