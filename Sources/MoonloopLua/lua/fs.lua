-- ml.fs: files, on a few threads: the task waits, the loop goes on. See docs/files.md.
local file = require "moonloop.fs.file"
local host = require "moonloop.text.host"
local mistake = host.mistake
local getenv = os.getenv  -- later a script may have no such function

local fs = { open = file.open }

local LIMIT = 64 << 20

-- Makes `ml.fs.NAME(path, options)` of what gets the caller, the path and the options.
local function one_path(name, known, body)
  local full = "ml.fs." .. name
  fs[name] = function(path, options)
    file.path(full, path)
    local made = file.options(full, options, known)
    return body(file.caller(full, ("'%s'"):format(path), made.timeout), path, made)
  end
end

-- What a second argument is: how it is checked, and what failures say of both.
local NEW_PATH = { "'%s' to '%s'", function(name, to) file.path(name, to, "the new path") end }
local TEXT = { "'%s'", function(name, text) file.text(name, text, "the text") end }

-- The same with a second argument.
local function path_and(second, name, known, body)
  local full = "ml.fs." .. name
  fs[name] = function(path, other, options)
    file.path(full, path)
    second[2](full, other)
    local made = file.options(full, options, known)
    local call = file.caller(full, second[1]:format(path, other), made.timeout)
    return body(call, path, other, made)
  end
end

one_path("stat", { follow = "boolean" }, function(call, path, made)
  return file.facts(call(made.follow == false and "lstat" or "stat", path))
end)

local function kind_of(entry)
  return entry.type == "directory" and "folder" or entry.type
end

local function join(folder, name)
  return folder:sub(-1) == "/" and folder .. name or folder .. "/" .. name
end

one_path("list", {}, function(call, path)
  local entries, message, code = call("scandir", path)
  if not entries then return nil, message, code end
  for place, entry in ipairs(entries) do
    entries[place] = { name = entry.name, kind = kind_of(entry), path = join(path, entry.name) }
  end
  return entries
end)

one_path("walk", { depth = "number" }, function(call, path, made)
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
end)

one_path("read", { limit = "number" }, function(call, path, made)
  return call("load", path, file.bytes(made.limit or LIMIT))
end)

local CONTENTS = { permissions = file.PERMISSIONS, sync = "boolean" }

-- O_NONBLOCK, so that a named pipe without a reader blocks no thread.
local TRUNCATE, APPEND = 0xA00, 0xC00

for name, flags in pairs { write = TRUNCATE, append = APPEND } do
  path_and(TEXT, name, CONTENTS, function(call, path, text, made)
    return call("store", path, text, flags, made.permissions or 438, made.sync and 1 or 0)
  end)
end

path_and(TEXT, "replace", { permissions = file.PERMISSIONS }, function(call, path, text, made)
  return call("replace", path, text, made.permissions or -1)
end)

local MADE = { parents = "boolean", permissions = file.PERMISSIONS }

one_path("mkdir", MADE, function(call, path, made)
  return call(made.parents and "mkdirs" or "mkdir", path, made.permissions or 511)
end)

path_and(NEW_PATH, "rename", {}, function(call, from, to)
  return call("rename", from, to)
end)

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

local COPIED = { recursive = "boolean", replace = "boolean" }

path_and(NEW_PATH, "copy", COPIED, function(call, from, to, made)
  local flags = made.replace == false and 3 or 2
  if not made.recursive then return call("copyfile", from, to, flags) end
  local status, message, code = call("lstat", from)
  if not status then return nil, message, code end
  if status.type == "directory" and is_inside(call, to, from) then
    return nil, ("ml.fs.copy: '%s' to '%s': a folder cannot hold itself (EINVAL)"):format(from, to),
      "EINVAL"
  end
  return copy_entry(call, from, to, flags)
end)

one_path("remove", { recursive = "boolean" }, function(call, path, made)
  if made.recursive then return call("remove_all", path) end
  local done, message, code = call("unlink", path)
  if code == "EISDIR" then return call("rmdir", path) end
  return done, message, code
end)

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

path_and(NEW_PATH, "link", { symbolic = "boolean" }, function(call, path, other, made)
  return call(made.symbolic and "symlink" or "link", path, other)
end)

one_path("target", { whole = "boolean" }, function(call, path, made)
  return call(made.whole and "realpath" or "readlink", path)
end)

function fs.chmod(path, permissions, options)
  file.path("ml.fs.chmod", path)
  local made = file.options("ml.fs.chmod", options, {})
  if math.type(permissions) ~= "integer" or permissions < 0 or permissions > 4095 then
    mistake(("ml.fs.chmod: the permissions must be a number from 0 to 4095, such as 420 (0644), "
      .. "got %s"):format(host.given(permissions)))
  end
  return file.caller("ml.fs.chmod", ("'%s'"):format(path), made.timeout)("chmod", path, permissions)
end

one_path("space", {}, function(call, path)
  local found, message, code = call("statfs", path)
  if not found then return nil, message, code end
  return { total = found.blocks * found.bsize, free = found.bfree * found.bsize,
    available = found.bavail * found.bsize }
end)

return fs
