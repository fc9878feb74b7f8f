-- luv's fs_poll: the first look is no change; a failure is reported once.
local ml = require "moonloop"
local uv = require "moonloop.compat.uv"

local path = os.tmpname()
os.remove(path)
local trace = {}
local poll = uv.new_fs_poll()
assert(select(3, poll:getpath()) == "EINVAL")
assert(poll:start(path, 50, function(err, before, now)
  -- A look may fall into a rename, which changes only times.
  if not err and before.size == now.size then return end
  trace[#trace + 1] = ("%s %d %d"):format(tostring(err), before.size, now.size)
end) == 0)
assert(poll:getpath() == path and poll:is_active())

-- In one step, because no look must see the file while it is empty.
local function set(text)
  local file = assert(io.open(path .. ".new", "w"))
  file:write(text)
  file:close()
  assert(os.rename(path .. ".new", path))
end
ml.sleep(0.2)
set "abc"
ml.sleep(0.2)
set "abcdef"
ml.sleep(0.2)
os.remove(path)
ml.sleep(0.2)
assert(poll:stop() == 0 and not poll:is_active())
set "later"
ml.sleep(0.2)
os.remove(path)
poll:close()
uv.run()
local given = table.concat(trace, "\n")
assert(given == "ENOENT 0 0\nnil 0 3\nnil 3 6\nENOENT 6 0", given)
