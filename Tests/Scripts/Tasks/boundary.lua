-- Where Lua cannot wait, `await` and `sleep` say why, and `wait` works (D49).
local ml = require "moonloop"
local loop = ml.current()

local job = loop:task({ name = "job" }, function() ml.sleep(1); return "done" end)

--- Tries every way of waiting, then waits by a nested run.
local function attempt()
  local messages = {}
  for _, wait in ipairs {
    function() job:await() end, function() ml.sleep(0) end, function() ml.await(print) end,
    function() ml.timeout(1, print) end,
  } do
    local ok, e = pcall(wait)
    assert(not ok)
    messages[#messages + 1] = e
  end
  assert(job:wait() == "done")
  return messages
end

local function check(messages, place)
  same(#messages, 4)
  for i, name in ipairs { "task:await", "ml.sleep", "ml.await", "ml.timeout" } do
    local expected = name .. ": cannot wait here: " .. place .. "; use :wait on a task ("
    if messages[i]:sub(1, #expected) ~= expected then
      error("expected " .. expected .. "\n     got " .. messages[i])
    end
  end
end

local found
table.sort({ 2, 1 }, function() found = found or attempt(); return false end)
check(found, "inside the comparator of table.sort");
("x"):gsub("x", function() found = attempt() end)
check(found, "inside the replacement function of string.gsub")
tostring(setmetatable({}, { __tostring = function() found = attempt(); return "" end }))
check(found, "inside __tostring, called by tostring")
package.preload["task.module"] = function() found = attempt() end
require "task.module"
check(found, "inside a module that require loads")
coroutine.wrap(function() found = attempt() end)()
check(found, "inside a coroutine of the script's own")
xpcall(error, function() found = attempt() end)
check(found, "inside the message handler of xpcall")
debug.sethook(function()
  debug.sethook()
  found = attempt()
end, "", 1)
check(found, "inside a debug hook")
local ended = loop:task(function()
  local _ <close> = setmetatable({}, { __close = function()
    found = select(2, pcall(ml.sleep, 0))
  end })
  ml.sleep(1)
end)
ml.sleep(0.5)
ended:cancel()
ml.sleep(0.5)
same((found:gsub(" %(.*", "")),
  "ml.sleep: cannot wait here: inside __close at the end of a task; use :wait on a task")

-- A script can get the coroutine of a task, but cannot resume or close it.
local co
local held = loop:task(function() co = coroutine.running(); ml.sleep(1); return "unharmed" end)
ml.sleep(0.5)
local ok, e = coroutine.resume(co)
same({ ok, e }, { false, "cannot resume a task of the loop; await it or cancel it" })
ok, e = pcall(coroutine.close, co)
assert(not ok and e:find "cannot close a task of the loop; await it or cancel it")
same({ coroutine.status(co), held:await() }, { "suspended", "unharmed" })
