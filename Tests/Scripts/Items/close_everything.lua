-- Closing everything from inside the handler of every kind: nothing is called afterwards, but the
-- handler itself goes on to its end, and may wait there.
local ml = require "moonloop"
local loop = ml.current()
local me = ml.process.id()
local unique = os.tmpname()
os.remove(unique)

-- Opened, but not handles of the loop.
local pairs_made = 0
local function pair()
  pairs_made = pairs_made + 1   -- a child of another test may hold the last one for a moment
  local path = "@" .. unique .. pairs_made
  local server = assert(ml.net.listen { path = path })
  local one = assert(ml.net.connect { path = path })
  local other = assert(server:accept())
  server:invalidate()
  return one, other
end

-- A descriptor that stays ready would leave no time for waiting.
local function once(event, handler)
  return function(fd)
    fd:disable(event)
    handler()
  end
end

local function nothing() end

-- Each makes handles of its kind, two where both can be due in one pass, and triggers an event.
local kinds = {
  timer = function(keep, handler)
    keep(loop:every(0.01, handler))
    keep(loop:every(0.01, handler))
  end,
  ["wall-clock timer"] = function(keep, handler) keep(loop:at(ml.wall_time() + 1, handler)) end,
  source = function(keep, handler)
    for _ = 1, 2 do
      local source = keep(loop:source { perform = handler })
      source:signal()
    end
  end,
  descriptor = function(keep, handler)
    for _ = 1, 2 do
      local from, to = pipe()
      write(to, "x")
      close(to)
      keep(loop:fd { fd = from, close = true, read = once("read", handler) })
    end
  end,
  ["descriptor that is written"] = function(keep, handler)
    local from, to = pipe()
    keep(loop:fd { fd = from, close = true, read = function() end })
    local fd = keep(loop:fd { fd = to, close = true, write = once("write", handler) })
    fd:enable "write"
  end,
  observer = function(keep, handler)
    for _ = 1, 2 do keep(loop:observer { on = "before_waiting", handler }) end
  end,
  listener = function(keep, handler)
    local server = keep(assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
      keep(stream)
      handler(stream)
    end }))
    local port = server.port
    for _ = 1, 2 do   -- the late one finds no listener
      local client = ml.net.connect { host = "127.0.0.1", port = port }
      if client then keep(client) end
    end
  end,
  ["stream events"] = function(keep, handler)
    for _ = 1, 2 do
      local one, other = pair()
      keep(other):write "x"
      keep(one):on(function(stream, event)
        if event == "has_bytes" then handler(stream) end
      end)
    end
  end,
  udp = function(keep, handler)
    local socket = keep(ml.net.udp { host = "127.0.0.1", handler })
    local sender = keep(ml.net.udp { host = "127.0.0.1" })
    for _ = 1, 2 do assert(sender:send("x", "127.0.0.1", socket.port)) end
  end,
  ["process exit"] = function(keep, handler)
    -- A killed child still reports its exit: that is a second call, not this handler's event.
    local isTold = false
    local function on_exit()
      if isTold then return end
      isTold = true
      handler()
    end
    for _ = 1, handler == nothing and 1 or 2 do
      keep(assert(ml.process.spawn { "true", on_exit = on_exit }))
    end
  end,
  signal = function(keep, handler)
    -- A signal after its last handle has ended has its default effect, which here is none.
    for _ = 1, 2 do keep(loop:signal("winch", handler)) end
    ml.process.kill(me, "winch")
  end,
  ["file watch"] = function(keep, handler)
    for _ = 1, 2 do keep(loop:watch { unique, debounce = 0, handler }) end
    assert(io.open(unique, "w")):close()
  end,
  port = function(keep, handler)
    local port = keep(loop:port { handler })
    port:send "one"
    port:send "two"
  end,
  ["named port"] = function(keep, handler)
    local name = "test" .. unique:gsub("/", ".") .. "." .. me
    local port = keep(assert(ml.port.listen(name, { handler })))
    local other = keep(assert(ml.port.connect(name)))
    other:send "one"
    other:send "two"
    assert(port)
  end,
  ["worker message"] = function(keep, handler)
    local worker = keep(assert(ml.worker { source = [[
      local ml = require "moonloop"
      ml.parent:send "one"
      ml.parent:send "two"
      ml.parent:receive()
    ]] }))
    worker.port:on("message", handler)
  end,
  perform = function(keep, handler)
    for _ = 1, 2 do keep(loop:perform(handler)) end
  end,
  ["perform after"] = function(keep, handler)
    for _ = 1, 2 do keep(loop:perform_after(0.01, handler)) end
  end,
  task = function(keep, handler)
    for _ = 1, 2 do
      keep(loop:task({ owner = "none" }, function()
        ml.sleep(0.01)
        handler()
      end))
    end
  end,
}

local names = {}
for name in pairs(kinds) do names[#names + 1] = name end
table.sort(names)

-- One world with all of them, in which one kind's handlers close everything.
local function close_in(kind, waits)
  local handles, calls, isOver, isDone = {}, 0, false, false
  local function keep(handle)
    handles[#handles + 1] = handle
    if isOver then handle:invalidate() end
    return handle
  end
  local function handler()
    assert(not isOver, "called when all was closed")
    calls = calls + 1
    isOver = true
    for _ = 1, 2 do
      for _, handle in ipairs(handles) do handle:invalidate() end
    end
    for _, handle in ipairs(handles) do
      -- Killed children and cancelled tasks take until later to end.
      local ends = tostring(handle):find "^process" or tostring(handle):find "^task"
      assert(ends or not handle:is_valid(), tostring(handle))
    end
    if waits then ml.sleep(0.01) end
    isDone = true
  end
  loop:task(function()
    for _, name in ipairs(names) do
      if name ~= kind then kinds[name](keep, nothing) end
    end
    kinds[kind](keep, handler)
  end)
  local why = loop:run { timeout = 60 }
  os.remove(unique)
  assert(why == "finished", kind .. ": " .. why)
  assert(calls == 1, kind .. ": called " .. calls .. " times")
  for index, handle in ipairs(handles) do assert(not handle:is_valid(), kind .. index) end
  -- A worker's thread ends when it can; nothing holds the worker by then.
  loop:task(function()
    for _, handle in ipairs(handles) do
      if tostring(handle):find "^worker" then handle:await() end
    end
  end):wait()
  -- A task that has closed itself gets the error at its next wait, like any cancelled task.
  assert(isDone ~= (kind == "task" and waits), kind)
end

for _, waits in ipairs { false, true } do
  for _, kind in ipairs(names) do close_in(kind, waits) end
end
