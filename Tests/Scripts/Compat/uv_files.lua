-- luv's file functions: callbacks come after the running code, failures name both paths.
local uv = require "moonloop.compat.uv"
local folder = assert(uv.fs_mkdtemp "/tmp/moonloop-XXXXXX")
local path, trace = folder .. "/a", {}

assert(uv.fs_open(path, "w", 384, function(failed, fd)
  assert(not failed, failed)
  trace[#trace + 1] = "open"
  uv.fs_write(fd, { "one ", 2 }, function(_, count)
    trace[#trace + 1] = "write " .. count
    uv.fs_close(fd, function(_, done) trace[#trace + 1] = "close " .. tostring(done) end)
  end)
end))
trace[#trace + 1] = "asked"
uv.run()
assert(table.concat(trace, ", ") == "asked, open, write 5, close true", table.concat(trace, ", "))

local stat = assert(uv.fs_stat(path))
assert(stat.size == 5 and stat.type == "file" and stat.mode & 511 == 384 and stat.mtime.sec > 0)
local none, message, code = uv.fs_rename(folder .. "/x", path)
assert(none == nil and code == "ENOENT")
assert(message == ("ENOENT: no such file or directory: %s/x -> %s"):format(folder, path), message)
assert(uv.fs_access(path, "r") == true and uv.fs_access(folder .. "/x", "r") == false)
uv.fs_access(folder .. "/x", "r", function(failed, may) assert(failed == nil and may == false) end)
uv.fs_stat(folder .. "/x", function(failed, found)
  assert(failed:find "^ENOENT: " and found == nil)
end)
uv.run()
assert(uv.fs_scandir_next(assert(uv.fs_scandir(folder))) == "a")

-- Files count as open, and luv's error says so.
local ml = require "moonloop"
ml.limit { handles = 2 }
local one, two = assert(uv.fs_open(path, "r", 0)), assert(uv.fs_open(path, "r", 0))
local none, message, code = uv.fs_open(path, "r", 0)
assert(none == nil and code == "EMFILE" and message:find "^EMFILE: too many open files", message)
uv.fs_close(one)
assert(uv.fs_close(assert(uv.fs_open(path, "r", 0))) and uv.fs_close(two))
ml.limit { handles = 100000 }
assert(uv.fs_unlink(path) and uv.fs_rmdir(folder))
