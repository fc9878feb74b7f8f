-- Open files, and what all of moonloop.fs shares: options, deadlines, and error messages.
local ml = require "moonloop"
local setmetatable = setmetatable  -- later a script may have no such function
local files = require "moonloop.files"
local check = require "moonloop.text.options"
local host = require "moonloop.text.host"
local spelling = require "moonloop.text.spelling"
local unheld = require "moonloop.unheld"
local warning = require "moonloop.warning"
local mistake = host.mistake

local file = { PERMISSIONS = { "integer", 0, 4095 } }  -- as a table of options has it

--- Checks the options of a function; returns them, never nil.
-- @param known type names by option; all know 'timeout'
function file.options(name, options, known)
  if options == nil then return {} end
  known.timeout = "number"
  local checked = check(name, options, known)
  for option, value in pairs(checked) do
    if type(value) == "number" and not (value >= 0) then
      mistake(("%s: '%s' must be at least 0, got %s"):format(name, option, value))
    end
  end
  return checked
end

--- A limit as whole bytes; math.huge is the largest.
function file.bytes(limit) return math.tointeger(limit // 1) or math.maxinteger end

--- Checks an argument that must be a string.
function file.text(name, value, what)
  if type(value) == "string" then return value end
  mistake(("%s: %s must be a string, got %s"):format(name, what,
    host.given(value)))
end

--- Checks a path. The system would take what is before a zero byte for it.
-- @param what default: "the path"
function file.path(name, value, what)
  what = what or "the path"
  if not file.text(name, value, what):find "%z" then return end
  mistake(("%s: %s must not contain a zero byte"):format(name, what))
end

--- Makes calls, all of them within one timeout.
-- @param where what failures name: "'notes.txt'"
function file.caller(name, where, timeout)
  local ends = timeout and ml.now() + timeout
  return function(...)
    local left = ends and math.max(0, ends - ml.now())
    local value, message, code = files.wait(left, name, ...)
    if value == nil and code then
      return nil, ("%s: %s: %s (%s)"):format(name, where, message, code), code
    end
    return value
  end
end

-- Open files ------------------------------------------------------------------------------------

local place_meta = { __close = function(place)
  if not place.is_taken then files.release() end
end }

--- A place among the files that may be open, for a `<close>` variable; a file takes it.
function file.reserve()
  files.reserve()
  return setmetatable({ is_taken = false }, place_meta)
end

-- The descriptors of files, where no script can put another in their place.
local open = setmetatable({}, { __mode = "k" })
local methods = {}
local meta = { __index = methods, __name = "file", __metatable = "file" }
setmetatable(methods, { __index = function(_, key)
  spelling.no_field("file", key, { "path" }, methods)
end })

-- With O_NONBLOCK, so that a named pipe keeps no thread.
local FLAGS = { r = 0x800, ["r+"] = 0x802, w = 0xA41, ["w+"] = 0xA42, a = 0xC41, ["a+"] = 0xC42,
  wx = 0xAC1, ["wx+"] = 0xAC2 }

function file.open(path, mode, options)
  file.path("ml.fs.open", path)
  mode = mode or "r"
  local flags = type(mode) == "string" and FLAGS[(mode:gsub("b$", ""))]  -- "b" has no effect
  if not flags then
    mistake(("ml.fs.open: the mode must be r, r+, w, w+, a, a+, wx or wx+, got %s"):format(
      host.given(mode)))
  end
  options = file.options("ml.fs.open", options, { permissions = file.PERMISSIONS })
  local call = file.caller("ml.fs.open", ("'%s'"):format(path), options.timeout)
  local room <close> = file.reserve()
  local fd, message, code = call("open", path, flags, options.permissions or 438)
  if not fd then return nil, message, code end
  room.is_taken = true
  return file.wrap(fd, path)
end

function file.wrap(fd, path)
  local made = setmetatable({ path = path }, meta)
  open[made] = fd
  unheld.add(made, "file", path)
  return made
end

-- A file counts as open no more.
local function leave(self)
  if not open[self] then return end
  files.release()
  unheld.remove(self)
  open[self] = nil
end

-- A caller for a method of an open file.
local function on(self, name, timeout)
  if getmetatable(self) ~= "file" then
    mistake(("%s: must be called on an open file"):format(name))
  end
  local call = file.caller(name, ("'%s'"):format(self.path), timeout)
  if open[self] then return call, open[self] end
  return function()
    return nil, ("%s: '%s': the file is closed (EBADF)"):format(name, self.path), "EBADF"
  end
end

local function check_count(name, count)
  if math.type(count) == "integer" and count >= 0 then return end
  mistake(("%s: takes the number of bytes, got %s"):format(name, host.given(count)))
end

-- A position is an option.
local function check_place(name, place, example)
  if type(place) == "number" then
    mistake(("%s: the position is an option: %s(%s, { at = %s })"):format(name, name,
      example, place))
  end
end

-- How much one read may ask for.
local READ_LIMIT <const> = 1 << 30

function methods:read(count, options)
  check_place("file:read", options, "count")
  options = file.options("file:read", options, { at = "integer" })
  check_count("file:read", count)
  local call, fd = on(self, "file:read", options.timeout)
  return call("read", fd, math.min(count, READ_LIMIT), options.at or -1)
end

-- How much is read at once for lines, and how long one may be.
local PART <const>, LINE_LIMIT <const> = 64 << 10, 1 << 20

function methods:lines(options)
  options = file.options("file:lines", options, { line_limit = "number" })
  local limit = file.bytes(options.line_limit or LINE_LIMIT)
  on(self, "file:lines")
  local rest, first, searched, is_over = "", 1, 1, false
  return function()
    while true do
      local stop = rest:find("\n", searched, true)
      searched = stop and stop + 1 or #rest + 1
      if (stop or searched) - first > limit then
        error(("file:lines: '%s': a line is longer than %d bytes; raise 'line_limit' if it may be")
          :format(self.path, limit), 0)
      end
      if stop or is_over then
        local line = (stop or first <= #rest) and rest:sub(first, (stop or 0) - 1) or nil
        first = searched
        return line
      end
      local call, fd = on(self, "file:lines", options.timeout)
      local part, message = call("read", fd, PART, -1)
      if not part then error(message, 0) end
      rest, first, searched, is_over = rest:sub(first) .. part, 1, searched - first + 1, part == ""
    end
  end
end

function methods:write(text, options)
  check_place("file:write", options, "text")
  options = file.options("file:write", options, { at = "integer" })
  file.text("file:write", text, "the text")
  local call, fd = on(self, "file:write", options.timeout)
  local done, at = 0, options.at
  repeat
    local count, message, code = call("write", fd, done == 0 and text or text:sub(done + 1),
      at and at + done or -1)
    if not count then return nil, message, code end
    done = done + count
  until done >= #text
  return self
end

function methods:stat(options)
  options = file.options("file:stat", options, {})
  local call, fd = on(self, "file:stat", options.timeout)
  return file.facts(call("fstat", fd))
end

function methods:truncate(size, options)
  options = file.options("file:truncate", options, {})
  check_count("file:truncate", size)
  local call, fd = on(self, "file:truncate", options.timeout)
  return call("ftruncate", fd, size)
end

function methods:sync(options)
  options = file.options("file:sync", options, { data_only = "boolean" })
  local call, fd = on(self, "file:sync", options.timeout)
  return call(options.data_only and "fdatasync" or "fsync", fd)
end

-- Asks again and again: a thread that waited for a lock would be missing for all other files.
function methods:lock(options)
  options = file.options("file:lock", options, { shared = "boolean" })
  local ends = options.timeout and ml.now() + options.timeout
  local pause = 0.001
  while true do
    local call, fd = on(self, "file:lock")
    local done, message, code = call("lock", fd, options.shared and 5 or 6)
    if done then return true end
    if code ~= "EAGAIN" then return nil, message, code end
    if ends and ml.now() >= ends then
      local text = "file:lock: '%s': it is locked elsewhere (ETIMEDOUT)"
      return nil, text:format(self.path), "ETIMEDOUT"
    end
    ml.sleep(ends and math.max(0, math.min(pause, ends - ml.now())) or pause)
    pause = math.min(pause * 2, 0.1)
  end
end

function methods:unlock(options)
  options = file.options("file:unlock", options, {})
  local call, fd = on(self, "file:unlock", options.timeout)
  return call("lock", fd, 8)
end

function methods:close()
  local call, fd = on(self, "file:close")
  leave(self)
  return call("close", fd)
end

-- At the end of a block and for the collector: at once, since neither can wait.
function meta.__close(self)
  if open[self] then files.drop(open[self]) end
  leave(self)
end

-- The lines that were warned about: once is enough.
local warned = {}

function meta.__gc(self)
  if not open[self] then return end
  local place = unheld.place(self)
  meta.__close(self)
  if warned[place] then return end
  warned[place] = true
  warning.write(("the file '%s', opened at %s, was collected without being closed"):format(
    self.path, place))
end

function meta.__tostring(self)
  return ("file '%s'%s"):format(self.path, open[self] and "" or " (closed)")
end

-- What scripts see of a status.
function file.facts(status, message, code)
  if not status then return nil, message, code end
  local function seconds(time) return time.sec + time.nsec / 1e9 end
  return {
    kind = status.type == "directory" and "folder" or status.type, size = status.size,
    modified = seconds(status.mtime), accessed = seconds(status.atime),
    changed = seconds(status.ctime), created = seconds(status.birthtime),
    permissions = status.mode & 4095, user = status.uid, group = status.gid,
    links = status.nlink, device = status.dev, inode = status.ino, blocks = status.blocks,
  }
end

return file
