-- ml.fs: files, on a few threads: the task waits, the loop goes on. See docs/files.md.
local file = require "moonloop.fs.file"
local host = require "moonloop.text.host"
local mistake = host.mistake
local getenv = os.getenv  -- later a script may have no such function

local fs = { open = file.open }

local LIMIT = 64 << 20

-- The call, the options and the caller of a function that takes one path.
local function one(name, path, options, known)
  options = file.options(name, options, known)
  return options, file.caller(name, ("'%s'"):format(path), options.timeout)
end

-- The same for two paths.
local function two(name, from, to, options, known)
  options = file.options(name, options, known)
  return options, file.caller(name, ("'%s' to '%s'"):format(from, to), options.timeout)
end

function fs.stat(path, options)
  file.path("ml.fs.stat", path)
  local made, call = one("ml.fs.stat", path, options, { follow = "boolean" })
  return file.facts(call(made.follow == false and "lstat" or "stat", path))
end

local function kind_of(entry)
  return entry.type == "directory" and "folder" or entry.type
end

local function join(folder, name)
  return folder:sub(-1) == "/" and folder .. name or folder .. "/" .. name
end

function fs.list(path, options)
  file.path("ml.fs.list", path)
  local _, call = one("ml.fs.list", path, options, {})
  local entries, message, code = call("scandir", path)
  if not entries then return nil, message, code end
  for place, entry in ipairs(entries) do
    entries[place] = { name = entry.name, kind = kind_of(entry), path = join(path, entry.name) }
  end
  return entries
end

function fs.walk(path, options)
  file.path("ml.fs.walk", path)
  local made, call = one("ml.fs.walk", path, options, { depth = "number" })
  local waiting = { { path = path, kind = "folder", depth = -1 } }
  local is_first = true
  local function list(entry)
    local entries, message, code = call("scandir", entry.path)
    if not entries then
      -- What is removed meanwhile is not there.
      if code == "ENOENT" and entry.depth >= 0 then return end
      error(message, 0)
    end
    for place = #entries, 1, -1 do
      local found = entries[place]
      waiting[#waiting + 1] = { path = join(entry.path, found.name), kind = kind_of(found),
        depth = entry.depth + 1 }
    end
  end
  return function()
    if is_first then
      is_first = false
      list(table.remove(waiting))
    end
    local entry = table.remove(waiting)
    if not entry then return nil end
    if entry.kind == "folder" and entry.depth < (made.depth or math.huge) then list(entry) end
    return entry.path, entry.kind, entry.depth
  end
end

function fs.read(path, options)
  file.path("ml.fs.read", path)
  local made, call = one("ml.fs.read", path, options, { limit = "number" })
  return call("load", path, file.bytes(made.limit or LIMIT))
end

local CONTENTS = { permissions = file.PERMISSIONS, sync = "boolean" }

-- O_NONBLOCK, so that a named pipe without a reader blocks no thread.
local TRUNCATE, APPEND = 0xA00, 0xC00

local function store(name, path, text, options, flags)
  local made, call = one(name, path, options, CONTENTS)
  return call("store", path, text, flags, made.permissions or 438, made.sync and 1 or 0)
end

function fs.write(path, text, options)
  file.path("ml.fs.write", path)
  file.text("ml.fs.write", text, "the text")
  return store("ml.fs.write", path, text, options, TRUNCATE)
end

function fs.append(path, text, options)
  file.path("ml.fs.append", path)
  file.text("ml.fs.append", text, "the text")
  return store("ml.fs.append", path, text, options, APPEND)
end

function fs.replace(path, text, options)
  file.path("ml.fs.replace", path)
  file.text("ml.fs.replace", text, "the text")
  local made, call = one("ml.fs.replace", path, options, { permissions = file.PERMISSIONS })
  return call("replace", path, text, made.permissions or -1)
end

function fs.mkdir(path, options)
  file.path("ml.fs.mkdir", path)
  local made, call = one("ml.fs.mkdir", path, options,
    { parents = "boolean", permissions = file.PERMISSIONS })
  return call(made.parents and "mkdirs" or "mkdir", path, made.permissions or 511)
end

function fs.rename(from, to, options)
  file.path("ml.fs.rename", from)
  file.path("ml.fs.rename", to, "the new path")
  local _, call = two("ml.fs.rename", from, to, options, {})
  return call("rename", from, to)
end

local copy_entry

local function copy_folder(call, from, to, flags, permissions)
  local entries, message, code = call("scandir", from)
  if not entries then return nil, message, code end
  local made
  made, message, code = call("mkdirs", to, permissions | 448)
  for _, entry in ipairs(made and entries or {}) do
    made, message, code = copy_entry(call, join(from, entry.name), join(to, entry.name), flags)
    if not made then return nil, message, code end
  end
  if not made then return nil, message, code end
  return call("chmod", to, permissions)
end

function copy_entry(call, from, to, flags)
  local status, message, code = call("lstat", from)
  if not status then return nil, message, code end
  if status.type == "directory" then
    return copy_folder(call, from, to, flags, status.mode & 4095)
  end
  if status.type == "link" then
    local target
    target, message, code = call("readlink", from)
    if not target then return nil, message, code end
    return call("symlink", target, to)
  end
  return call("copyfile", from, to, flags)
end

-- Whether a path, or what there is of it, lies in a folder, whatever both are called.
local function is_inside(call, path, folder)
  local outer, inner = call("realpath", folder), nil
  repeat
    inner = call("realpath", path)
    path = path:match "^(.*[^/])/+[^/]+/*$" or path:find "^/" and "/" or "."
  until inner or path == "/" or path == "."
  inner = inner or call("realpath", path)
  return outer and inner and (inner .. "/"):sub(1, #outer + 1) == outer .. "/"
end

function fs.copy(from, to, options)
  file.path("ml.fs.copy", from)
  file.path("ml.fs.copy", to, "the new path")
  local made, call = two("ml.fs.copy", from, to, options,
    { recursive = "boolean", replace = "boolean" })
  local flags = made.replace == false and 3 or 2
  if not made.recursive then return call("copyfile", from, to, flags) end
  local status, message, code = call("lstat", from)
  if not status then return nil, message, code end
  if status.type == "directory" and is_inside(call, to, from) then
    return nil, ("ml.fs.copy: '%s' to '%s': a folder cannot hold itself (EINVAL)"):format(from, to),
      "EINVAL"
  end
  return copy_entry(call, from, to, flags)
end

function fs.remove(path, options)
  file.path("ml.fs.remove", path)
  local made, call = one("ml.fs.remove", path, options, { recursive = "boolean" })
  if made.recursive then return call("remove_all", path) end
  local done, message, code = call("unlink", path)
  if code == "EISDIR" then return call("rmdir", path) end
  return done, message, code
end

-- Where Linux has a file system in memory, and what `statfs` calls it.
local MEMORY, TMPFS = "/dev/shm", 0x01021994

-- Where temporary things are made, how their names begin, and a caller; nil and a failure if they
-- are to be in memory, and there is no such file system.
local function template(name, options)
  local made = file.options(name, options,
    { folder = "string", prefix = "string", memory = "boolean" })
  if made.memory and made.folder then
    mistake(("%s: 'memory' says where already; leave 'folder' out"):format(name))
  end
  if made.prefix and made.prefix:find "/" then
    mistake(("%s: 'prefix' must not have a '/', got '%s'; 'folder' says where"):format(name,
      made.prefix))
  end
  file.path(name, made.prefix or "", "'prefix'")
  file.path(name, made.folder or "", "'folder'")
  local folder = made.memory and MEMORY or made.folder or getenv "TMPDIR" or "/tmp"
  local call = file.caller(name, ("'%s'"):format(folder), made.timeout)
  if made.memory then
    local found, message, code = call("statfs", folder)
    if not found then return nil, message, code end
    if found.type ~= TMPFS then
      return nil, ("%s: '%s' is not in memory (ENODEV)"):format(name, folder), "ENODEV"
    end
  end
  return join(folder, (made.prefix or "moonloop-") .. "XXXXXX"), call
end

function fs.temporary_file(options)
  local path, call, failure = template("ml.fs.temporary_file", options)
  if not path then return nil, call, failure end
  local room <close> = file.reserve()
  local both, message, code = call("mkstemp", path)
  if not both then return nil, message, code end
  room.is_taken = true
  return file.wrap(both[1], both[2])
end

function fs.temporary_folder(options)
  local path, call, failure = template("ml.fs.temporary_folder", options)
  if not path then return nil, call, failure end
  return call("mkdtemp", path)
end

function fs.link(path, other, options)
  file.path("ml.fs.link", path)
  file.path("ml.fs.link", other, "the new path")
  local made, call = two("ml.fs.link", path, other, options, { symbolic = "boolean" })
  return call(made.symbolic and "symlink" or "link", path, other)
end

function fs.target(path, options)
  file.path("ml.fs.target", path)
  local made, call = one("ml.fs.target", path, options, { whole = "boolean" })
  return call(made.whole and "realpath" or "readlink", path)
end

function fs.chmod(path, permissions, options)
  file.path("ml.fs.chmod", path)
  local _, call = one("ml.fs.chmod", path, options, {})
  if math.type(permissions) ~= "integer" or permissions < 0 or permissions > 4095 then
    mistake(("ml.fs.chmod: the permissions must be a number from 0 to 4095, such as 420 (0644), "
      .. "got %s"):format(host.given(permissions)))
  end
  return call("chmod", path, permissions)
end

function fs.space(path, options)
  file.path("ml.fs.space", path)
  local _, call = one("ml.fs.space", path, options, {})
  local found, message, code = call("statfs", path)
  if not found then return nil, message, code end
  return { total = found.blocks * found.bsize, free = found.bfree * found.bsize,
    available = found.bavail * found.bsize }
end

return fs
