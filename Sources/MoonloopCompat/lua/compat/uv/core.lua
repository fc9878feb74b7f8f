-- The base of moonloop.compat.uv: handles, requests, errors, and libuv's stages (idle, prepare,
-- poll, check, closing) as items of our loop. See docs/compat.md.
local ml = require "moonloop"
local arguments = require "moonloop.compat.uv.arguments"
local errors = require "moonloop.compat.uv.errors"
local files = require "moonloop.files"
local posix = require "moonloop.posix"

local core = { uv = arguments.uv, classes = {} }
local uv = core.uv
for name, check in pairs(arguments) do core[name] = check end
local bad = arguments.bad

-- The stages that end a libuv pass run in this mode after a run was stopped.
local TAIL = "moonloop.compat.uv.tail"
-- The order of observers: libuv's stages among other observers.
local IDLE, PREPARE, LAST = -1000000, 0, 1000000
core.order = { idle = IDLE, prepare = PREPARE }

-- The state of one loop; a test may supply its own.
local loops = setmetatable({}, { __mode = "k" })

-- Whole milliseconds of the loop's clock, rounding up what is only a hair below.
local function clock() return math.floor(ml.now() * 1000 + 1e-4) end

local function state()
  local loop = ml.current()
  local st = loops[loop]
  if not st then
    -- `holding` counts what keeps the loop alive and is not itself an item.
    st = { loop = loop, now = clock(), handles = {}, last = 0, closing = {}, holding = 0,
      stages = 0, _renew = core.renew_closer }
    loops[loop] = st
  end
  return st
end
core.state = state

-- Errors ---------------------------------------------------------------------------------------

-- nil, "ENOENT: no such file or directory", "ENOENT".
function core.fail(code)
  return nil, code .. ": " .. (errors[code] or "unknown error"), code
end

-- The result of one of our calls in luv's form: 0 for success without a value.
function core.result(value, _, code)
  if value == nil then return core.fail(code) end
  return value == true and 0 or value
end

-- What holds the loop --------------------------------------------------------------------------

local function let_go(st)
  if st.keeper and st.holding == 0 and st.stages == 0 then
    st.keeper:invalidate()
    st.keeper = nil
  end
end

-- One source represents everything alive that is not an item. It is signalled when a pass must not
-- sleep, also when nothing is left, so that the end of the pass notices.
local function keeper(st)
  if not st.keeper then
    st.keeper = ml.source { name = "luv", perform = function() let_go(st) end }
    st.loop:add(st.keeper, { "default", TAIL }):keep_alive(st.holding > 0)
  end
  return st.keeper
end

local function let_go_soon(st)
  if not st.keeper then return end
  if st.loop.depth == 0 then let_go(st) else st.keeper:signal() end
end

function core.hold(st)
  st.holding = st.holding + 1
  if st.holding == 1 then keeper(st):keep_alive(true) end
end

function core.release(st)
  st.holding = st.holding - 1
  if st.holding == 0 and st.keeper then
    st.keeper:keep_alive(false)
    let_go_soon(st)
  end
end

-- Keeps the next pass from sleeping.
function core.hurry(st) keeper(st):signal() end

-- Stages ---------------------------------------------------------------------------------------

local close_all

local function make_closer(st)
  return st.loop:observer { on = "before_timers", order = LAST, modes = { "default", TAIL },
    name = "luv closing", function() close_all(st) end }
end

function core.renew_closer(st)
  if not st.closer then return end
  st.closer:invalidate()
  st.closer = make_closer(st)
end

-- libuv ends a pass with its check and closing stages; ours begins the next pass with them. The
-- mark tells whether there was a poll for them to follow.
function core.begin_stages(st)
  st.stages = st.stages + 1
  if st.stages > 1 then return end
  keeper(st)
  st.mark = st.loop:observer { on = "before_sources", order = LAST, name = "luv",
    function() st.polled = true end }
  st.closer = make_closer(st)
end

function core.end_stages(st)
  st.stages = st.stages - 1
  if st.stages > 0 then return end
  st.mark:invalidate()
  st.closer:invalidate()
  st.mark, st.closer = nil, nil
  let_go_soon(st)
end

-- An observer in the stage of a check handle.
function core.check_stage(st, handler)
  return st.loop:observer { on = "before_timers", order = 0, modes = { "default", TAIL },
    name = "luv check", function() if st.polled then handler() end end }
end

-- Called before each callback: updates the time it sees, and notes that there was a poll.
function core.enter(st)
  st.now = clock()
  st.polled = true
end

local function queue_to_close(handle)
  local st = handle._state
  st.closing[#st.closing + 1] = handle
  core.hold(st)
  core.begin_stages(st)
  core.hurry(st)
end

-- What an error in a callback has left of a closing stage is closed in the next pass.
local unserved = {}

function unserved.__close(list)
  for _, handle in ipairs(list) do queue_to_close(handle) end
end

-- The closing stage, the last first as in libuv. What is in it holds nothing any more: a run in a
-- callback returns before the rest is closed.
function close_all(st)
  if not st.polled then
    if #st.closing > 0 then core.hurry(st) end
    return
  end
  local list <close> = setmetatable(st.closing, unserved)
  st.closing = {}
  for _ = 1, #list do
    core.end_stages(st)
    core.release(st)
  end
  while #list > 0 do
    local handle = list[#list]
    st.handles[handle._id] = nil
    handle._closed = true
    if handle._finish then core.inside(st, handle._finish, handle) end
    list[#list] = nil
    local callback = handle._on_close
    handle._on_close = nil
    if callback then
      core.enter(st)
      core.inside(st, callback)
    end
  end
  st.polled = false
end

-- Our loop does not call an observer or a timer inside its own callback, libuv does: a run there
-- begins by making it again. `owner` is what has it.
function core.inside(owner, callback, ...)
  owner._inside = coroutine.running()
  callback(...)
  owner._inside = nil
end

-- What is suspended is not called meanwhile, and stays.
local function renew(owner)
  if owner._inside and coroutine.status(owner._inside) ~= "suspended" then owner:_renew() end
end

-- Objects --------------------------------------------------------------------------------------

-- Scripts hold userdata, as those of luv; its value is a table with the fields, which only this
-- module sees. `_out` is the way back.
local getuservalue, setuservalue = debug.getuservalue, debug.setuservalue
local setmeta = debug.setmetatable

-- What scripts hold of an object.
-- @param meta the metatable that scripts see
function core.show(fields, meta)
  fields._out = posix.blank()
  setuservalue(fields._out, fields, 1)
  setmeta(fields._out, meta)
  return fields
end

-- The fields of an object with that metatable; nil for anything else.
function core.fields(value, meta)
  if type(value) ~= "userdata" or getmetatable(value) ~= meta then return nil end
  return getuservalue(value, 1)
end

-- How an object is printed.
function core.shown_as(text)
  return function(value) return ("%s: %p"):format(text, value) end
end

-- Handles --------------------------------------------------------------------------------------

local base = {}
core.base = base

-- The classes by the metatable that scripts see.
local seen = {}

-- A class of handles: `methods` are its own, in addition to those of all handles. It shares some
-- with other classes, `shared`: those are functions of the module under their own names.
function core.class(name, number, methods, shared)
  local class = setmetatable(methods, { __index = base })
  local outer = { __index = {}, __name = "uv_" .. name,
    __tostring = core.shown_as(("uv_%s_t"):format(name)) }
  core.classes[name] =
    { __index = class, name = name, number = number, outer = outer, shared = shared or {} }
  seen[outer] = core.classes[name]
  return class
end

-- Puts the methods that scripts may call where they see them, once all are there: in the handles,
-- and as functions of the module, such as uv.timer_start.
function core.publish()
  for name, class in pairs(core.classes) do
    for key, method in pairs(base) do class.outer.__index[key] = method end
    for key, method in pairs(class.__index) do
      if key:sub(1, 1) ~= "_" then
        class.outer.__index[key] = method
        if method ~= class.shared[key] then uv[name .. "_" .. key] = method end
      end
    end
  end
end

function core.new(name)
  files.reserve_other()
  local st = state()
  st.last = st.last + 1
  local handle = { _id = st.last, _state = st, _ref = true, _active = false }
  st.handles[st.last] = setmetatable(handle, core.classes[name])
  return core.show(handle, core.classes[name].outer)
end

-- Whether a value is a handle, of a class if one is given.
function core.is_handle(value, name)
  local class = type(value) == "userdata" and seen[getmetatable(value)]
  return class and (name == nil or class.name == name) or false
end

-- The fields of an argument that must be a handle, of one of the given classes if there are any.
-- The module's own calls give the fields.
function core.handle(value, index, ...)
  local kind = type(value)
  local meta = (kind == "userdata" or kind == "table") and getmetatable(value)
  local class = seen[meta]
  if kind == "table" and meta and core.classes[meta.name] == meta then class = meta end
  if class then
    if kind == "userdata" then value = getuservalue(value, 1) end
    if select("#", ...) == 0 then return value end
    for place = 1, select("#", ...) do
      if select(place, ...) == class.name then return value end
    end
  end
  bad(index or 1, ("Expected %s userdata"):format(... and "uv_" .. ... or "uv_handle"))
end

-- Whether the handle is active; it keeps the loop alive if it is also referenced. `_item_holds`:
-- its item does that, not the keeper.
function core.settle(handle, is_active)
  if is_active ~= nil then handle._active = is_active end
  local holds = handle._active and handle._ref and not handle._closing
  if handle._item_holds then
    if handle._item and handle._item:is_valid() then handle._item:keep_alive(holds) end
    return
  end
  if holds and not handle._holds then
    handle._holds = true
    core.hold(handle._state)
  elseif not holds and handle._holds then
    handle._holds = nil
    core.release(handle._state)
  end
end

function base.is_active(handle)
  handle = core.handle(handle)
  return handle._active and not handle._closing
end

function base.is_closing(handle) return core.handle(handle)._closing or false end
function base.has_ref(handle) return core.handle(handle)._ref end

function base.ref(handle)
  handle = core.handle(handle)
  handle._ref = true
  core.settle(handle)
end

function base.unref(handle)
  handle = core.handle(handle)
  handle._ref = false
  core.settle(handle)
end

function base.get_type(handle)
  local meta = getmetatable(core.handle(handle))
  return meta.name, meta.number
end

function base.fileno(handle)
  local fd = core.handle(handle)._fd
  if not fd then return core.fail "EBADF" end
  return fd
end

-- Closes without checking whether it is already closing.
function core.close(handle, callback)
  if handle._stop then handle:_stop() end
  core.settle(handle, false)
  files.release_other()
  handle._closing, handle._on_close = true, callback
  queue_to_close(handle)
end

function base.close(handle, callback)
  handle = core.handle(handle)
  if handle._closing then error(("handle %p is already closing"):format(handle._out), 2) end
  core.close(handle, core.callback(callback, 2, true))
end

for _, name in ipairs { "is_active", "is_closing", "has_ref", "ref", "unref", "fileno", "close" } do
  uv[name] = base[name]
end
uv.handle_get_type = base.get_type

function uv.walk(callback)
  core.callback(callback, 1)
  local st = state()
  local ids = {}
  for id in pairs(st.handles) do ids[#ids + 1] = id end
  table.sort(ids)
  for _, id in ipairs(ids) do
    if st.handles[id] then callback(st.handles[id]._out) end
  end
end

-- The loop -------------------------------------------------------------------------------------

local function is_alive(st)
  if st.holding > 0 then return true end
  for _, handle in pairs(st.handles) do
    if handle._active and handle._ref and not handle._closing then return true end
  end
  return false
end

-- The stages with which libuv ends a pass.
local function run_tail(st)
  if st.stages > 0 then
    st.polled = true
    st.loop:run { mode = TAIL, timeout = 0 }
  end
end

function uv.run(mode)
  mode = core.word(mode, 1, { "default", "once", "nowait" }, "default")
  local st = state()
  if st.stopping then
    st.stopping = nil
    return is_alive(st)
  end
  st.now = clock()
  if not is_alive(st) then return false end
  local before, polled = st.mode, st.polled
  st.mode, st.polled = mode, false
  local _ <close> = setmetatable({}, { __close = function()
    st.mode, st.polled, st.stopping = before, polled, nil
  end })
  if st.loop.depth > 0 then
    renew(st)
    for _, handle in pairs(st.handles) do renew(handle) end
  end
  if mode == "default" then
    st.loop:run "default"
  else
    st.loop:run { timeout = mode == "nowait" and 0 or nil, until_handled = true }
  end
  if mode ~= "default" or st.stopping then run_tail(st) end
  -- The last task of a run may have released the loop: there was no pass to notice.
  if st.loop.depth == 0 then let_go(st) end
  return is_alive(st)
end

function uv.stop()
  local st = state()
  st.stopping = true
  -- Outside of our runs it stops the program's run.
  if st.loop:stop() and not st.mode then st.stopping = nil end
end

-- Called after a timer of "once"; for descriptors the run returns by itself.
function core.served(st)
  if st.mode == "once" then st.loop:stop() end
end

function uv.loop_alive() return is_alive(state()) end
function uv.loop_mode() return state().mode end
function uv.now() return state().now end
function uv.update_time() state().now = clock() end
function uv.hrtime() return math.floor(ml.now() * 1e9) end
function uv.backend_fd() return nil end

function uv.backend_timeout()
  local st = state()
  if st.stopping or #st.closing > 0 or not is_alive(st) then return 0 end
  local date = st.loop:next_timer()
  if not date or date == math.huge then return -1 end
  return math.max(0, math.floor(date * 1000) - st.now)
end

function uv.loop_close()
  local st = state()
  if next(st.handles) then return core.fail "EBUSY" end
  return 0
end

function uv.loop_configure(option)
  core.word(option, 1, { "block_signal", "metrics_idle_time" })
  return core.fail "ENOSYS"
end

-- Calls a body that may return a handle of our loop, and serves only that mode until the body's
-- `done` is called: what luv does by blocking.
function core.block(body)
  local st = state()
  local mode = "moonloop.compat.uv.blocking"
  local results, is_running
  local item <close> = body(mode, function(...)
    results = table.pack(...)
    if is_running then st.loop:stop() end
  end)
  is_running = true
  if not results then st.loop:run { mode = mode } end
  if not results then return nil, "ECANCELED: operation canceled", "ECANCELED" end
  return table.unpack(results, 1, results.n)
end

return core
