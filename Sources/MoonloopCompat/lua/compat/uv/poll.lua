-- luv's poll handles: readiness of a descriptor that belongs to other code.
local core = require "moonloop.compat.uv.core"
local items = require "moonloop.compat.uv.items"
local posix = require "moonloop.posix"

local uv = core.uv
local poll = items.class("poll", 8)

local EVENTS = { "r", "w", "rw", "d", "rd", "wd", "rwd", "p", "rp", "wp", "rwp", "dp", "rdp", "wdp",
  "rwdp" }

function uv.new_poll(fd)
  fd = core.integer(fd, 1)
  local kind, _, code = posix.kind(fd)
  if not kind then return core.fail(code) end
  if kind == "file" or kind == "folder" then return core.fail "EPERM" end
  posix.set_blocking(fd, false)
  local handle = core.new "poll"
  handle._item_holds, handle._fd = true, fd
  return handle._out
end
uv.new_socket_poll = uv.new_poll

-- Everything wanted and ready now, in one call: libuv reports both directions at once, our loop one
-- of them.
local function report(handle)
  core.enter(handle._state)
  local ready = ""
  for event in handle._events:gmatch "." do
    if posix.is_ready(handle._fd, event) then ready = ready .. event end
  end
  if ready ~= "" then handle._callback(nil, ready) end
end

function poll.start(handle, events, callback)
  handle = core.handle(handle, 1, "poll")
  events = core.word(events, 2, EVENTS, "rw")
  core.callback(callback, 3)
  if handle._closing then return core.fail "EINVAL" end
  handle:_stop()
  handle._events, handle._callback = events, callback
  local function ready() report(handle) end
  local item, _, code = handle._state.loop:fd { fd = handle._fd, name = "uv poll",
    reenable = { "read", "write" }, read = ready, write = ready }
  if not item then return core.fail(code) end
  if not events:find "[rdp]" then item:disable "read" end
  if events:find "w" then item:enable "write" end
  handle._item = item
  core.settle(handle, true)
  return 0
end
