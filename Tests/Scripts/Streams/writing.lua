-- A write waits for a slow reader once its limit is queued; a flush waits for everything.
local ml = require "moonloop"
local loop = ml.current()
local from, to = pipe()
local out = ml.stream { fd = to, name = "out", read = false, write_limit = 1000 }
local input = ml.stream { fd = from, write = false }
local chunk = ("x"):rep(50000)
local trace = {}
loop:task(function()
  for i = 1, 4 do
    assert(out:write(chunk) == out)
    trace[#trace + 1] = "written " .. i
    assert(out.queued <= 1000)
  end
  out:write("y", 1, "z")
  assert(out:flush() == out and out.queued == 0)
  out:close()
end)
loop:task(function()
  ml.sleep(1)
  trace[#trace + 1] = "read"
  local all = input:read "a"
  assert(#all == 200003 and all:sub(-4) == "xy1z")
  input:close()
end)
assert(loop:run() == "finished")
assert(table.concat(trace, ";") == "written 1;read;written 2;written 3;written 4",
  table.concat(trace, ";"))
