-- The supported part of luv's file functions: reading and writing descriptors.
local core = require "moonloop.compat.uv.core"
local posix = require "moonloop.posix"

local uv = core.uv

-- At once, or through a callback in the next pass.
local function answer(callback, value, _, code)
  if not callback then return core.result(value, nil, code) end
  local req = core.request("fs", callback)
  core.finish_later(req, code, value)
  return req
end

function uv.fs_write(fd, data, offset, callback)
  if callback == nil and type(offset) == "function" then offset, callback = nil, offset end
  core.check(offset == nil or offset == -1, 3, "an offset is not supported")
  core.callback(callback, 4, true)
  return answer(callback, posix.write(core.integer(fd, 1), core.bytes(data, 2)))
end

function uv.fs_read(fd, count, offset, callback)
  if callback == nil and type(offset) == "function" then offset, callback = nil, offset end
  core.check(offset == nil or offset == -1, 3, "an offset is not supported")
  core.callback(callback, 4, true)
  return answer(callback, posix.read(core.integer(fd, 1), core.integer(count, 2)))
end

function uv.fs_close(fd, callback)
  core.callback(callback, 2, true)
  local ok, _, code = posix.close(core.integer(fd, 1))
  return answer(callback, ok, nil, code)
end
