-- luv's file functions: with a callback by the threads of moonloop.files, without one here and now.
local ml = require "moonloop"
local core = require "moonloop.compat.uv.core"
local errors = require "moonloop.compat.uv.errors"
local files = require "moonloop.files"
local posix = require "moonloop.posix"
local site = require "moonloop.text.site"
local unheld = require "moonloop.unheld"

local uv = core.uv

-- What stands for each open descriptor among what is left behind.
local opened = {}

local function is_open(token) return posix.file("fstat", token.fd) ~= nil end

-- What luv says of a failure: nil, "ENOENT: no such file or directory: a -> b", "ENOENT".
local function failure(code, paths)
  local text = code .. ": " .. (errors[code] or "unknown error")
  return nil, paths and text .. ": " .. paths or text, code
end

--- A descriptor has been opened; it counts as an open file, if the limit allows that.
function core.keep_descriptor(fd, path, place)
  if not pcall(files.reserve) then
    files.drop(fd)
    return failure("EMFILE", path)
  end
  opened[fd] = { fd = fd }
  unheld.add(opened[fd], "file", path, { is_open = is_open, place = place })
  return fd
end

--- The same for the two of a pair; returns them under their keys.
function core.keep_pair(name, key, fd, other_key, other)
  local kept, message, code = core.keep_descriptor(fd, name)
  if not kept then files.drop(other) return nil, message, code end
  kept, message, code = core.keep_descriptor(other, name)
  if kept then return { [key] = fd, [other_key] = other } end
  core.leave_descriptor(fd)
  files.drop(fd)
  return nil, message, code
end

--- It is closed, or a handle closes it.
function core.leave_descriptor(fd)
  if not opened[fd] then return end
  unheld.remove(opened[fd])
  files.release()
  opened[fd] = nil
end

local function finish(req, value, problem, ...)
  if value == nil and problem then return core.finish_later(req, problem) end
  core.finish_later(req, nil, value, problem, ...)
end

-- Makes a call. `convert` makes luv's results out of ours; `paths` stand in failures.
local function call(callback, convert, paths, name, ...)
  if not callback then
    local value, _, code = posix.file(name, ...)
    if value == nil and code then return failure(code, paths) end
    return convert(value)
  end
  local req = core.request("fs", callback)
  local given = table.pack(name, ...)
  local task = ml.current():task({ name = "uv.fs" }, function()
    local value, _, code = files.wait(nil, "uv.fs_" .. name, table.unpack(given, 1, given.n))
    if req._done then return end
    if value == nil and code then
      finish(req, failure(code, paths))
    else
      finish(req, convert(value))
    end
  end)
  req._task = task
  return req._out
end

local function same(value) return value end

-- Functions of paths, numbers and times; `p` is a path, `i` an integer, `n` a number.
local function define(name, kinds, convert)
  uv["fs_" .. name] = function(...)
    local given, paths = {}, nil
    for place = 1, #kinds do
      local kind, value = kinds:sub(place, place), (select(place, ...))
      if kind == "p" then
        given[place] = core.text(value, place)
        paths = paths and paths .. " -> " .. given[place] or given[place]
      elseif kind == "i" then
        given[place] = core.integer(value, place)
      else
        core.check(tonumber(value), place, "number expected, got " .. type(value))
        given[place] = tonumber(value)
      end
    end
    local callback = core.callback((select(#kinds + 1, ...)), #kinds + 1, true)
    if name == "close" then core.leave_descriptor(given[1]) end
    return call(callback, convert or same, paths, name, table.unpack(given, 1, #kinds))
  end
end

for name, kinds in pairs {
  close = "i", unlink = "p", mkdir = "pi", rmdir = "p", stat = "p", fstat = "i", lstat = "p",
  rename = "pp", fsync = "i", fdatasync = "i", ftruncate = "ii", sendfile = "iiii", chmod = "pi",
  fchmod = "ii", utime = "pnn", futime = "inn", lutime = "pnn", link = "pp", readlink = "p",
  realpath = "p", chown = "pii", fchown = "iii", lchown = "pii", mkdtemp = "p", statfs = "p",
} do
  define(name, kinds)
end
define("mkstemp", "p", function(both)
  local fd, problem, code = core.keep_descriptor(both[1], both[2])
  return fd, fd and both[2] or problem, code
end)

-- Reading and writing -----------------------------------------------------------------------------

local FLAGS = { r = 0, rs = 0x101000, sr = 0x101000, ["r+"] = 2, ["rs+"] = 0x101002,
  ["sr+"] = 0x101002, w = 0x241, wx = 0x2C1, xw = 0x2C1, ["w+"] = 0x242, ["wx+"] = 0x2C2,
  ["xw+"] = 0x2C2, a = 0x441, ax = 0x4C1, xa = 0x4C1, ["a+"] = 0x442, ["ax+"] = 0x4C2,
  ["xa+"] = 0x4C2 }

function uv.fs_open(path, flags, mode, callback)
  path = core.text(path, 1)
  local bits = math.tointeger(tonumber(flags)) or FLAGS[flags]
  if not bits then
    core.check(type(flags) == "string", 2, "Expected string or integer for file open mode")
    error(("Unknown file open flag '%s'"):format(flags), 2)
  end
  mode = core.integer(mode, 3)
  core.callback(callback, 4, true)
  local place = site()
  return call(callback, function(fd) return core.keep_descriptor(fd, path, place) end, path,
    "open", path, bits, mode)
end

-- The offset and the callback, both of which may be left out.
local function place_of(offset, callback)
  if callback == nil and offset ~= nil and not tonumber(offset) then
    return -1, core.callback(offset, 3)
  end
  core.callback(callback, 4, true)
  return offset == nil and -1 or core.integer(offset, 3), callback
end

-- By posix.read and posix.write where the descriptor stands: a replay repeats what they print.
function uv.fs_read(fd, count, offset, callback)
  fd, count = core.integer(fd, 1), core.integer(count, 2)
  offset, callback = place_of(offset, callback)
  return call(callback, same, nil, "read", fd, count, offset)
end

function uv.fs_write(fd, data, offset, callback)
  fd, data = core.integer(fd, 1), core.bytes(data, 2)
  offset, callback = place_of(offset, callback)
  if offset == -1 and fd <= 2 and not callback then
    local count, _, code = posix.write(fd, data)
    if not count then return failure(code) end
    return count
  end
  return call(callback, same, nil, "write", fd, data, offset)
end

local ACCESS = { r = 4, w = 2, x = 1 }

function uv.fs_access(path, mode, callback)
  path = core.text(path, 1)
  local bits = math.tointeger(tonumber(mode))
  if not bits then
    core.check(type(mode) == "string", 2, "Expected string or integer for file access mode check")
    bits = 0
    for letter in mode:lower():gmatch "." do
      core.check(ACCESS[letter], 2, "Unknown character in access mode string")
      bits = bits | ACCESS[letter]
    end
  end
  core.callback(callback, 3, true)
  if not callback then return posix.file("access", path, bits) == true end
  return call(function(failed) callback(nil, not failed) end, same, path, "access", path, bits)
end

-- The flags of copies and links: a number, or a table with names. The callback may stand there.
local function flags_of(flags, callback, bits)
  if callback == nil and flags ~= nil and type(flags) ~= "number"
      and (type(flags) ~= "table" or (getmetatable(flags) or {}).__call) then
    return 0, core.callback(flags, 3)
  end
  core.callback(callback, 4, true)
  if type(flags) ~= "table" then
    core.check(flags == nil or math.type(flags) == "integer", 3,
      "table, integer, or nil expected, got " .. type(flags))
    return flags or 0, callback
  end
  local sum = 0
  for name, bit in pairs(bits) do if flags[name] then sum = sum | bit end end
  return sum, callback
end

function uv.fs_copyfile(path, other, flags, callback)
  path, other = core.text(path, 1), core.text(other, 2)
  flags, callback = flags_of(flags, callback, { excl = 1, ficlone = 2, ficlone_force = 4 })
  return call(callback, same, path .. " -> " .. other, "copyfile", path, other, flags)
end

function uv.fs_symlink(path, other, flags, callback)
  path, other = core.text(path, 1), core.text(other, 2)
  flags, callback = flags_of(flags, callback, {})
  return call(callback, same, path .. " -> " .. other, "symlink", path, other)
end

-- Folders -----------------------------------------------------------------------------------------

local scan_meta = { __name = "uv_fs", __tostring = core.shown_as "uv_fs_t" }

local function next_of(list)
  local entry = list.entries[list.place]
  list.place = list.place + 1
  return entry
end

local function scanned(entries)
  return core.show({ entries = entries, place = 1 }, scan_meta)._out
end

function uv.fs_scandir(path, callback)
  path = core.text(path, 1)
  core.callback(callback, 2, true)
  return call(callback, scanned, path, "scandir", path)
end

function uv.fs_scandir_next(req)
  local list = core.fields(req, scan_meta)
  core.check(list, 1, "Expected uv_fs_t")
  local entry = next_of(list)
  if entry then return entry.name, entry.type end
end

local dir = {}
local dir_meta = { __index = dir, __name = "uv_dir", __tostring = core.shown_as "uv_dir_t" }

function uv.fs_opendir(path, callback, count)
  path = core.text(path, 1)
  core.callback(callback, 2, true)
  count = count == nil and 1 or core.integer(count, 3)
  return call(callback, function(entries)
    return core.show({ entries = entries, place = 1, count = count }, dir_meta)._out
  end, path, "scandir", path)
end

-- At once, or through a callback in the next pass.
local function answer(callback, value)
  if not callback then return value end
  local req = core.request("fs", callback)
  core.finish_later(req, nil, value)
  return req._out
end

function dir.readdir(self, callback)
  local list = core.fields(self, dir_meta)
  core.check(list, 1, "Expected uv_dir")
  core.callback(callback, 2, true)
  local found = {}
  for place = 1, list.count do found[place] = next_of(list) end
  return answer(callback, found[1] and found)
end

function dir.closedir(self, callback)
  local list = core.fields(self, dir_meta)
  core.check(list, 1, "Expected uv_dir")
  core.callback(callback, 2, true)
  list.entries = {}
  return answer(callback, true)
end

uv.fs_readdir, uv.fs_closedir = dir.readdir, dir.closedir
