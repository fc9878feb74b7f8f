-- An error in a worker reaches its owner: raised by await, else reported like a handler's error.
local ml = require "moonloop"
local loop = ml.current()
local failing = [[
  local function inner() error("out of luck", 2) end
  inner()
]]
loop:task(function()
  local worker = assert(ml.worker { name = "unlucky", source = failing })
  local ok, message = pcall(worker.await, worker)
  assert(not ok and message == "worker:2: out of luck", message)
  assert(worker.status == "failed" and not pcall(worker.await, worker))
  local tables = assert(ml.worker { source = "error { code = 'E1', message = 'm', list = { 1 } }" })
  ok, message = pcall(tables.await, tables)
  assert(not ok and message.code == "E1" and message.list[1] == 1)
end)
assert(loop:run() == "finished")
-- Not awaited: the worker's own handler gets it, with the worker's traceback.
local heard
local worker = assert(ml.worker { name = "heard", source = failing, on_error = function(e)
  heard = e
end })
assert(loop:run() == "finished")
assert(heard.message == "worker:2: out of luck", heard.message)
assert(heard.handle:find "worker .heard.", heard.handle)
assert(heard.traceback:find "in main chunk", heard.traceback)
-- An error in a handler is reported, and the worker goes on.
local told = {}
worker = assert(ml.worker { on_error = function(e) told[#told + 1] = e.message end, source = [[
  local ml = require "moonloop"
  ml.parent:on("message", function(message, reply)
    if message == "fail" then error("handler failed", 0) end
    reply "alive"
  end)
]] })
loop:task(function()
  local reply, message, code = worker.port:request "fail"
  assert(reply == nil and code == "EPIPE", message)
  assert(worker.port:request "ask" == "alive")
  worker:stop()
end)
assert(loop:run() == "finished")
assert(#told == 1 and told[1] == "handler failed", #told .. tostring(told[1]))
-- os.exit ends the worker, whose owner sees the status.
loop:task(function()
  for given, status in pairs { ["7"] = 7, ["true"] = 0, ["false"] = 1 } do
    local worker = assert(ml.worker { name = "leaving",
      source = ("require('moonloop').current():after(1, print) os.exit(%s)"):format(given) })
    local nothing, message, code = worker:await()
    assert(nothing == nil and code == "ECANCELED" and worker.status == "stopped")
    assert(message:find(" has called os.exit(" .. status .. ")", 1, true), message)
  end
end)
assert(loop:run() == "finished")
-- A worker that cannot be made is a value, or a mistake.
local nothing, message, code = ml.worker { "no/such/file.lua" }
assert(nothing == nil and code == "ENOENT" and message:find "cannot read no/such/file.lua", message)
nothing, message, code = ml.worker { source = "this is no Lua" }
assert(nothing == nil and code == "ENOEXEC" and message:find "worker:1:", message)
local ok
ok, message = pcall(ml.worker, { source = "", args = { list = { 1, { call = print } } } })
assert(not ok and message:find("args.list[2].call is a function, which cannot be sent", 1, true))
ok, message = pcall(ml.worker, { source = "", memorie = 1 })
assert(not ok and message:find "did you mean 'memory'", message)
ok, message = pcall(ml.worker, {})
assert(not ok and message:find "needs a script", message)
