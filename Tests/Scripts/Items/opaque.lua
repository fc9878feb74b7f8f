-- Handles that are made in Lua are as opaque as others: a closed metatable, nothing of their
-- inside, the nearest word for unknown fields, and an answer to calls with a dot.
local ml = require "moonloop"
local loop = ml.current()

local function wrong(expected, fn, ...)
  local ok, message = pcall(fn, ...)
  assert(not ok, expected)
  message = message:gsub(" %(%S*opaque.lua:%d+%)", "")
  assert(message == expected, "\n" .. message .. "\n" .. expected)
end

local function index(value, key) return value[key] end
local function set(value, key) value[key] = true end

local function is_opaque(name, handle, methods)
  assert(getmetatable(handle) == name, tostring(getmetatable(handle)))
  assert(not pcall(setmetatable, handle, {}), name)
  assert(next(handle) == nil or name == "workers" or name == "response", name)
  for _, method in ipairs(methods) do
    wrong(("%s:%s: must be called with a colon"):format(name, method), handle[method])
    wrong(("%s:%s: must be called with a colon"):format(name, method), handle[method], {})
    wrong(("%s: unknown field '%sx'; did you mean '%s'?"):format(name, method, method),
      index, handle, method .. "x")
  end
end

local client = ml.http.client()
is_opaque("client", client, { "close", "get", "post", "request" })
for _, inside in ipairs { "idle", "keeps", "is_closed", "take" } do
  assert(not pcall(index, client, inside), inside)
end
wrong("client.idle: cannot be set", set, client, "idle")
client:close()
wrong("client:get: the client is closed", client.get, client, "http://localhost")

local running = ml.configure { timers = { beat = { every = 1, handler = print } } }
is_opaque("running", running, { "close", "run" })
for _, inside in ipairs { "made", "failures", "phases", "become", "add" } do
  assert(not pcall(index, running, inside), inside)
end
wrong("running.made: cannot be set", set, running, "made")
running:close()

local log = ml.log { to = print }
is_opaque("log", log, { "close", "flush", "with", "info" })
wrong("log.to: cannot be set", set, log, "to")
wrong('log:flush: unknown option \'timout\'; did you mean \'timeout\'?', log.flush, log,
  { timout = 1 })
log:close()

local file = assert(ml.fs.open "/dev/null")
assert(getmetatable(file) == "file")
file:close()

local workers = ml.workers(1, { source = "return 1" })
is_opaque("workers", workers, { "await", "stop" })
wrong("workers.x: cannot be set", set, workers, "x")

loop:task(function()
  local all <close> = workers
  assert(all:await()[1] == 1)
  local server <close> = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(_, reply)
    is_opaque("response", reply, { "event", "send", "start", "upgrade" })
    return "text"
  end })
  local url = ("http://127.0.0.1:%d/"):format(server.port)
  local response = assert(ml.http.get(url))
  assert(response.status == 200, response.body)
  is_opaque("response", response, { "close", "read", "json", "events" })
  local parts <close> = assert(ml.http.get(url, { stream = true }))
  for _, inside in ipairs { "parts", "finish", "reusable" } do
    assert(not pcall(index, parts, inside), inside)
  end
  assert(parts:read() == "text" and parts:read() == nil)
end)
