-- luv's signal handles.
local ml = require "moonloop"
local core = require "moonloop.compat.uv.core"
local constants = require "moonloop.compat.uv.constants"
local items = require "moonloop.compat.uv.items"

local uv = core.uv
local signal = items.class("signal", 16)

local names = {}
for name, number in pairs(constants) do
  local is_alias = name == "SIGPOLL" or name == "SIGIOT"
  if name:find "^SIG" and not is_alias then names[number] = name:lower() end
end

-- The number of a signal by luv's name ("sigterm", and "SIGTERM") or number.
local function number_of(value, index)
  if math.type(value) == "integer" then return value end
  core.check(type(value) == "string", index, "Missing Signal name")
  local number = constants[value:upper()]
  core.check(number and value:lower():find "^sig", index, "Invalid Signal name")
  return number
end

-- Our loop's name for a signal, and the number for such a name.
local function our_name(number) return (names[number] or ""):sub(4) end
core.signals = { number_of = number_of, our_name = our_name }

function core.signals.of_ours(name) return name and constants["SIG" .. name:upper()] or 0 end

local function start(is_once, handle, number, callback)
  handle = core.handle(handle, 1, "signal")
  number = number_of(number, 2)
  core.callback(callback, 3, true)
  if handle._closing then return core.fail "EINVAL" end
  handle:_stop()
  local name = names[number]
  local ok, item = pcall(handle._state.loop.signal, handle._state.loop, our_name(number), function()
    core.enter(handle._state)
    if is_once then handle:_stop() end
    if callback then callback(name) end
  end)
  if not ok then return core.fail "EINVAL" end
  handle._item = item
  core.settle(handle, true)
  return 0
end

function signal.start(...) return start(false, ...) end
function signal.start_oneshot(...) return start(true, ...) end

function uv.kill(pid, number)
  pid = core.integer(pid, 1)
  number = number == nil and constants.SIGTERM or number_of(number, 2)
  local ok, sent, _, code = pcall(ml.process.kill, pid, number)
  if not ok then return core.fail "EINVAL" end
  return core.result(sent, nil, code)
end
