-- luv's fs_poll handles: the facts of a file, asked again and again.
local core = require "moonloop.compat.uv.core"
local items = require "moonloop.compat.uv.items"
local files = require "moonloop.files"

local fs_poll = items.class("fs_poll", 4)

-- What libuv compares: all but the time of the last access.
local FIELDS = { "dev", "mode", "uid", "gid", "ino", "size", "flags", "gen" }

local function is_same(one, other)
  for _, field in ipairs(FIELDS) do
    if one[field] ~= other[field] then return false end
  end
  for _, time in ipairs { "mtime", "ctime", "birthtime" } do
    if one[time].sec ~= other[time].sec or one[time].nsec ~= other[time].nsec then return false end
  end
  return true
end

-- What libuv gives for a file that is not there.
local function nothing()
  local status = { type = "unknown" }
  for _, field in ipairs { "dev", "mode", "nlink", "uid", "gid", "rdev", "ino", "size", "blksize",
    "blocks", "flags", "gen" } do status[field] = 0 end
  for _, time in ipairs { "atime", "mtime", "ctime", "birthtime" } do
    status[time] = { sec = 0, nsec = 0 }
  end
  return status
end

-- The first look only notes what is there. A failure is reported once, until it changes.
local function look(handle, item)
  local status, _, code = files.wait(nil, "uv.fs_poll", "stat", handle._path)
  if handle._item ~= item then return end
  core.enter(handle._state)
  local before, failure, is_first = handle._before, handle._failure, handle._is_new
  handle._failure, handle._is_new = code, false
  if code then
    if failure ~= code then handle._callback(code, before, nothing()) end
    return
  end
  handle._before = status
  if not is_first and (failure or not is_same(before, status)) then
    handle._callback(nil, before, status)
  end
end

function fs_poll.start(handle, path, interval, callback)
  handle = core.handle(handle, 1, "fs_poll")
  path, interval = core.text(path, 2), core.integer(interval, 3)
  core.callback(callback, 4)
  if handle._closing then return core.fail "EINVAL" end
  if handle._item then return 0 end
  handle._path, handle._callback = path, callback
  handle._before, handle._failure, handle._is_new = nothing(), nil, true
  handle._item = handle._state.loop:timer { first = 0, every = math.max(interval, 1) / 1000,
    name = "uv fs_poll", function(item) look(handle, item) end }
  core.settle(handle, true)
  return 0
end

function fs_poll.getpath(handle) return items.path(handle, "fs_poll") end
