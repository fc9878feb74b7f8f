-- luv's processes: children of ml.process, whose pipes are luv's.
local ml = require "moonloop"
local core = require "moonloop.compat.uv.core"
local posix = require "moonloop.posix"
local stream = require "moonloop.compat.uv.stream"

local uv = core.uv
local process = core.class("process", 10, {})
local STREAMS = { "stdin", "stdout", "stderr" }

-- How many passes the end of a child waits for output that others may go on to write.
local ROUNDS = 32

-- What a descriptor of the child becomes: one of ours, or an end of a new pair of sockets; nil: it
-- has none. Programs expect that their standard streams block.
local function plan_stream(value, place, ends)
  if value == nil then return nil end
  local fd = math.type(value) == "integer" and value
  if not fd then
    value = core.handle(value, 2, "pipe", "tcp", "tty")
    fd = value._fd
  end
  if fd then
    if fd > 2 and place <= 3 then posix.set_blocking(fd, true) end
    return fd
  end
  local ours, theirs, code = posix.socketpair()
  if not ours then return nil, code end
  ends[#ends + 1] = { handle = value, ours = ours, theirs = theirs }
  return theirs
end

-- The child's descriptors from the options, and the ends to close here afterwards.
local function plan_streams(list, plan)
  local ends = {}
  core.check(list == nil or type(list) == "table", 2, "option 'stdio' must be table")
  list = list or {}
  local last = 3
  for place in pairs(list) do last = math.max(last, math.tointeger(place) or 0) end
  plan.descriptors = {}
  for place = 1, last do
    local fd, code = plan_stream(list[place], place, ends)
    if code then return nil, code, ends end
    if STREAMS[place] then
      plan[STREAMS[place]] = fd or "null"
    else
      plan.descriptors[place - 1] = fd
    end
  end
  return true, nil, ends
end

local function environment(list)
  if list == nil then return nil end
  core.check(type(list) == "table", 2, "option 'env' must be table")
  local variables = {}
  for _, line in ipairs(list) do
    local name, value = tostring(line):match "^([^=]+)=(.*)$"
    if name then variables[name] = value end
  end
  return variables
end

local function make_plan(path, options)
  local plan = { path, name = "uv process", linger = 0 }
  core.check(options.args == nil or type(options.args) == "table", 2, "option 'args' must be table")
  for place, argument in ipairs(options.args or {}) do plan[place + 1] = core.text(argument, 2) end
  core.check(options.cwd == nil or type(options.cwd) == "string", 2, "option 'cwd' must be string")
  for _, name in ipairs { "uid", "gid" } do
    core.check(options[name] == nil or math.type(options[name]) == "integer", 2,
      ("option '%s' must be integer"):format(name))
  end
  plan.uid, plan.gid = options.uid, options.gid
  plan.cwd, plan.env = options.cwd, environment(options.env)
  plan.detached = options.detached and true or nil
  return plan
end

-- Whether one of these pipes is read, and has something to read.
local function is_readable(ends)
  for _, pair in ipairs(ends) do
    local pipe = pair.handle
    if pipe._read_callback and pipe._fd and posix.is_ready(pipe._fd, "r") then return true end
  end
  return false
end

function uv.spawn(path, options, callback)
  path = core.text(path, 1)
  core.check(type(options) == "table", 2, "table expected, got " .. type(options))
  core.callback(callback, 3, true)
  local plan = make_plan(path, options)
  if math.min(plan.uid or 0, plan.gid or 0) < 0 then return core.fail "EINVAL" end
  local planned, why, ends = plan_streams(options.stdio, plan)
  local handle = core.new "process"
  handle._item_holds = true
  local function tell(status)
    core.enter(handle._state)
    handle:_stop()  -- before the callback: a run in there must not wait for it
    core.settle(handle, false)
    if callback and not handle._closing then
      callback(status.code or 0, core.signals.of_ours(status.signal))
    end
  end
  -- libuv serves the streams that are ready before it looks for children that have ended.
  local rounds = 0
  local function tell_after_output(status)
    rounds = rounds + 1
    if rounds > ROUNDS or not is_readable(ends) then return tell(status) end
    handle._state.loop:perform({ as_source = true }, tell_after_output, status)
  end
  plan.on_exit = function(_, status) tell_after_output(status) end
  local child, _, code
  if planned then child, _, code = ml.process.spawn(plan) else code = why end
  -- Without a child the other end is closed: a reader gets to the end, as in libuv.
  for _, pair in ipairs(ends) do
    posix.close(pair.theirs)
    stream._adopt(pair.handle, pair.ours, "rw")
  end
  if not child then
    core.close(handle)
    return core.fail(code)
  end
  handle._item, handle._child, handle._pid = child, child, child.pid
  core.settle(handle, true)
  return handle._out, handle._pid
end

function process._stop(handle)
  -- The child continues, but nothing here waits for it any more.
  if handle._item then handle._item:keep_alive(false) end
  handle._item = nil
end

function process.kill(handle, signal)
  handle = core.handle(handle, 1, "process")
  local number = core.signals.number_of(signal == nil and "sigterm" or signal, 2)
  if not handle._child or not handle._child:is_valid() then return core.fail "ESRCH" end
  local sent, _, code = handle._child:kill(number)
  return core.result(sent, nil, code)
end

function process.get_pid(handle) return core.handle(handle, 1, "process")._pid end

-- Descriptors that our loop or this module opens are closed in children anyway.
function uv.disable_stdio_inheritance() end
