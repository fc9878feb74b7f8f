-- Many children, one after the other and at once: no zombie, descriptor or handle stays.
local ml = require "moonloop"
local loop = ml.current()

local function children()
  local file = assert(io.open("/proc/self/task/" .. ml.process.id() .. "/children"))
  local text = file:read "a"
  file:close()
  return text
end

local pids, ended = {}, 0
for batch = 1, 10 do
  local jobs = {}
  for i = 1, 10 do
    jobs[i] = loop:task(function()
      local p = assert(ml.process.spawn { "true", stdout = "pipe" })
      pids[#pids + 1] = p.pid
      assert(p.stdout:read "a" == "")
      assert(p:await().code == 0)
      ended = ended + 1
    end)
  end
  for i = 1, 10 do jobs[i]:await() end
end
assert(ended == 100)
for _, pid in ipairs(pids) do
  assert(not children():find("%f[%d]" .. pid .. "%f[%D]"))
end
