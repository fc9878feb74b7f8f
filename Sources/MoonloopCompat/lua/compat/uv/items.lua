-- What handles have in common that stand for an item of our loop while they are active.
local core = require "moonloop.compat.uv.core"

local uv = core.uv
local items = {}

-- A class whose handles stand for an item of our loop, perhaps with a path.
function items.class(name, number)
  local class = core.class(name, number, {})

  uv["new_" .. name] = function()
    local handle = core.new(name)
    handle._item_holds = true
    return handle._out
  end

  function class._stop(handle)
    if handle._item then handle._item:invalidate() end
    handle._item, handle._path = nil, nil
    core.settle(handle, false)
  end

  function class.stop(handle)
    core.handle(handle, 1, name):_stop()
    return 0
  end

  return class
end

-- The path of a handle's item.
function items.path(handle, name)
  local path = core.handle(handle, 1, name)._path
  if not path then return core.fail "EINVAL" end
  return path
end

-- Makes the handle's source watch for what the handle waits for.
function items.watch(handle, reads, writes, is_active)
  if not handle._item and (reads or writes) and handle._fd then
    local _, code
    handle._item, _, code = handle._state.loop:fd {
      fd = handle._fd, name = "uv " .. getmetatable(handle).name, reenable = { "read", "write" },
      read = function() handle:_readable() end, write = function() handle:_writable() end }
    if not handle._item then return core.fail(code) end
    handle._item:disable "read"
  end
  if handle._item then
    handle._item[reads and "enable" or "disable"](handle._item, "read")
    handle._item[writes and "enable" or "disable"](handle._item, "write")
  end
  core.settle(handle, is_active)
  return 0
end

return items
