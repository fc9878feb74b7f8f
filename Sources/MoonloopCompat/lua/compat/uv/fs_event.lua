-- luv's fs_event handles: our loop's file watch, reporting one change at a time.
local core = require "moonloop.compat.uv.core"
local items = require "moonloop.compat.uv.items"

local fs_event = items.class("fs_event", 3)

-- The name relative to what is watched; for a file its own name.
local function name_of(path, watched)
  local rest = path:sub(1, #watched + 1) == watched .. "/" and path:sub(#watched + 2)
  return rest or path:match "([^/]+)/*$" or path
end

local function tell(handle, watched, changes)
  for _, change in ipairs(changes) do
    if not handle._item then return end  -- a callback has stopped it
    core.enter(handle._state)
    local is_change = change.kind == "changed" or change.kind == "attributes"
    local events = is_change and { change = true } or { rename = true }
    if change.from then handle._callback(nil, name_of(change.from, watched), events) end
    if handle._item then handle._callback(nil, name_of(change.path, watched), events) end
  end
end

function fs_event.start(handle, path, flags, callback)
  handle = core.handle(handle, 1, "fs_event")
  path = core.text(path, 2)
  core.check(type(flags) == "table", 3, "table expected, got " .. type(flags))
  core.callback(callback, 4)
  if handle._closing or handle._item then return core.fail "EINVAL" end
  local watched = #path > 1 and path:gsub("/+$", "") or path
  local file = io.open(path)
  if not file then return core.fail "ENOENT" end
  file:close()
  handle._callback = callback
  local item, _, code = handle._state.loop:watch { path, name = "uv fs_event", debounce = 0,
    recursive = flags.recursive and true or nil,
    function(_, changes) tell(handle, watched, changes) end }
  if not item then return core.fail(code) end
  handle._item, handle._path = item, path
  core.settle(handle, true)
  return 0
end

function fs_event.getpath(handle) return items.path(handle, "fs_event") end
