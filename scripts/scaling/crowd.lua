-- Run by scripts/scale: `crowd.lua CROWD N [OPERATION]`. Makes N things of one kind, then does each
-- operation a few times; `os.clock()` marks where counting begins and ends.
-- Without CROWD: prints the crowds and operations. "memory" as OPERATION: bytes for each thing.
local ml = require "moonloop"
local loop = ml.current()
local posix = require "moonloop.posix"

local function nothing() end

local server, queue, semaphore

-- What is made once, when it is first needed.
local shared = {}
local function once(name, make)
  shared[name] = shared[name] or make()
  return shared[name]
end

-- A FIFO in place of a file of the kernel, which says how long tasks wait for memory.
local function fifo(place)
  local folder = once("folder", function() return assert(ml.fs.temporary_folder()) end)
  local path = folder .. "/" .. place
  assert(os.execute("mkfifo " .. path))
  return path
end

-- What the crowd is made of. Each returns one thing, which nothing wakes.
local crowds = {
  timers = function(place) return loop:after(1e6 + place * 0.7919 % 1, nothing) end,
  ["repeating timers"] = function(place)
    return loop:every(1e6 + place * 0.7919 % 1, nothing)
  end,
  ["tolerant timers"] = function(place)
    return loop:timer { first = 1e6 + place * 0.7919 % 1, tolerance = 10, nothing }
  end,
  sources = function() return loop:source { perform = nothing } end,
  observers = function(place)
    return loop:observer { on = "before_waiting", order = place * 7919 % 101, nothing }
  end,
  ports = function() return loop:port { nothing } end,
  ["sources elsewhere"] = function()
    local source = loop:source { modes = "elsewhere", perform = nothing }
    source:signal()
    return source
  end,
  ["timers in modes of their own"] = function(place)
    return loop:timer { first = 1e6, modes = "mode " .. place, nothing }
  end,
  descriptors = function()
    local socket = assert(ml.net.udp { host = "127.0.0.1" })
    return socket
  end,
  tasks = function() return loop:task(function() ml.sleep(1e6) end) end,
  channels = function()
    local channel = ml.channel { capacity = 1 }
    loop:task(function() channel:receive() end)
    return channel
  end,
  signals = function() return loop:signal("usr1", nothing) end,
  watches = function() return assert(loop:watch { ".", nothing }) end,
  streams = function()
    server = server or assert(ml.net.listen {
      host = "127.0.0.1", port = 0, function() ml.sleep(1e6) end })
    return assert(ml.net.connect { host = "127.0.0.1", port = server.port })
  end,
  ["notifications in another mode"] = function()
    queue = queue or loop:notifications { nothing }
    queue:enqueue("n", { modes = "another", coalesce = "none" })
    return {}
  end,
  ["tasks at a semaphore"] = function()
    if not semaphore then
      semaphore = ml.semaphore(1)
      semaphore:try_acquire()
    end
    local task = loop:task(function() semaphore:acquire() end)
    return { invalidate = function() task:cancel() end }
  end,
  processes = function()
    local process = assert(ml.process.spawn {
      "sleep", "1000000", stdout = "null", stderr = "null",
    })
    return { invalidate = function() process:kill "kill" end }
  end,
  workers = function()
    return assert(ml.worker { source = "require('moonloop').parent:receive()" })
  end,
  guests = function() return assert(ml.guest { text = "function f() end" }) end,
  ["named ports"] = function(place)
    return assert(ml.port.listen("scale." .. place, { nothing }))
  end,
  pressures = function(place)
    return assert(loop:pressure { resource = "io", file = fifo(place), nothing })
  end,
  ["http connections"] = function()
    server = server or assert(ml.http.serve { host = "127.0.0.1", port = 0, nothing })
    return assert(ml.net.connect { host = "127.0.0.1", port = server.port })
  end,
  ["pending requests"] = function() return loop:perform_after(1e6, nothing) end,
  ["performs in another mode"] = function()
    return loop:perform({ modes = { "another" } }, nothing)
  end,
}

local names = {}
for name in pairs(crowds) do names[#names + 1] = name end
table.sort(names)

local function stop() loop:stop() end

-- What operations talk to.
local function worker()
  return once("worker", function()
    return assert(ml.worker { source = [[
      require("moonloop").parent:on("message", function(message, reply) reply(message) end)
    ]] })
  end)
end

local function named_port()
  return once("named port", function()
    return assert(ml.port.listen("scale.operations", { function(_, message, reply)
      reply(message)
    end }))
  end)
end

local function http_server()
  return once("http server", function()
    return assert(ml.http.serve { host = "127.0.0.1", port = 0, function() return "text" end })
  end)
end

local function url() return ("http://127.0.0.1:%d/"):format(http_server().port) end

local function client()
  return { client = once("client", function() return ml.http.client {} end) }
end

local function log()
  return { log = once("log", function() return ml.log { to = "/dev/null" } end) }
end

local function streams()
  local from, to = posix.pipe()
  return { ml.stream { fd = from, write = false }, to = ml.stream { fd = to, read = false } }
end

local function observer()
  return loop:observer { on = "before_waiting", order = 50, nothing }
end

-- Each is one operation; the table that `prepare` returns is its argument, and is not counted.
-- `prepare` may note descriptors that are to be closed.
local operations = {
  { "make a timer", function(own) own[1] = loop:after(1e5, nothing) end },
  { "move a timer", function(own) own[1].next_fire = ml.now() + 1e5 * math.random() end,
    function() return { loop:after(1e5, nothing) } end },
  { "cancel a timer", function(own) own[1]:invalidate() end,
    function() return { loop:after(1e5, nothing) } end },
  { "fire a timer", function() loop:run { timeout = 0 } end,
    function() return { loop:after(0, nothing) } end },
  { "make a source", function(own) own[1] = loop:source { perform = nothing } end },
  { "end a source", function(own) own[1]:invalidate() end,
    function() return { loop:source { perform = nothing } } end },
  { "signal and perform", function(own)
      own[1]:signal()
      loop:run { timeout = 0 }
    end, function() return { loop:source { perform = nothing } } end },
  { "make an observer", function(own) own[1] = observer() end },
  { "end an observer", function(own) own[1]:invalidate() end,
    function() return { observer() } end },
  { "make a port", function(own) own[1] = loop:port { nothing } end },
  { "send to a port", function(own)
      own[1]:send(1)
      loop:run { timeout = 0 }
    end, function() return { loop:port { nothing } } end },
  { "end a port", function(own) own[1]:invalidate() end,
    function() return { loop:port { nothing } } end },
  { "add to a mode", function(own) loop:add(own[1], "new") end,
    function() return { loop:source { perform = nothing } } end },
  { "remove from a mode", function(own) loop:remove(own[1], "new") end,
    function()
      local source = loop:source { perform = nothing }
      loop:add(source, "new")
      return { source }
    end },
  { "remove from the last mode", function(own) loop:remove(own[1], "default") end,
    function() return { loop:source { perform = nothing } } end },
  { "contains", function(own) loop:contains(own[1], "default") end,
    function() return { loop:source { perform = nothing } } end },
  { "item:modes", function(own) own[1]:modes() end,
    function() return { loop:source { perform = nothing } } end },
  { "keep_alive", function(own) own[1]:keep_alive(false) end,
    function() return { loop:source { perform = nothing } } end },
  { "perform", function()
      loop:perform(nothing)
      loop:run { timeout = 0 }
    end },
  { "perform_after, cancel", function() loop:perform_after(1e5, nothing):cancel() end },
  { "make and await a task", function()
      local task = loop:task(nothing)
      loop:run { timeout = 0 }
      assert(task:is_done())
    end },
  { "sleep", function()
      loop:task(function() ml.sleep(0) end)
      loop:run { timeout = 0 }
    end },
  { "cancel a task", function(own) own[1]:cancel() loop:run { timeout = 0 } end,
    function() return { loop:task(function() ml.sleep(1e5) end) } end },
  { "channel message", function(own)
      own[1]:try_send(1)
      own[1]:try_receive()
    end, function() return { ml.channel { capacity = 1 } } end },
  { "make and end a channel", function() ml.channel { capacity = 1 }:invalidate() end },
  { "channel message, both wait", function(own)
      local task = loop:task(function() own[1]:send(1) end)
      own[1]:receive()
      task:await()
    end, function() return { ml.channel { capacity = 0 } } end, true },
  { "ml.await", function()
      ml.await(function(resume) return loop:after(0, resume) end)
    end, nil, true },
  { "cancel a scope", function(own) own[1]:cancel() loop:run { timeout = 0 } end,
    function()
      return { loop:task(function(scope)
        for _ = 1, 3 do scope:task(ml.sleep, 1e5) end
      end) }
    end },
  { "make and end a process", function()
      assert(ml.process.spawn { "true" }):await()
    end, nil, true },
  { "run a process", function() assert(ml.process.run { "true" }) end, nil, true },
  { "make and end a worker", function() assert(ml.worker { source = "" }):await() end, nil, true },
  { "request to a worker", function(own) assert(own.port:request(1) == 1) end,
    function() return { port = worker().port } end, true },
  { "make and end a guest", function() assert(ml.guest { text = "" }):stop() end },
  { "call a guest", function(own) assert(own.guest:call "f" == 1) end,
    function()
      return { guest = once("guest", function()
        return assert(ml.guest { text = "function f() return 1 end" })
      end) }
    end, true },
  { "make and end a named port", function()
      assert(ml.port.listen("scale.another", { nothing })):invalidate()
    end },
  { "connect to a named port", function(own) assert(ml.port.connect(own.name)):invalidate() end,
    function() return named_port() and { name = "scale.operations" } end, true },
  { "request to a named port", function(own) assert(own.port:request(1) == 1) end,
    function()
      named_port()
      return { port = once("connection", function()
        return assert(ml.port.connect "scale.operations")
      end) }
    end, true },
  { "make and end a pressure", function(own)
      assert(loop:pressure { resource = "io", file = own.file, nothing }):invalidate()
    end, function()
      return { file = once("fifo", function() return fifo "operations" end) }
    end },
  { "report a pressure", function(own)
      own.to:write("some avg10=2.50 avg60=0.00 avg300=0.00 total=1500000\n"):flush()
      loop:run { timeout = 0 }
    end, function(_, place)
      local path = fifo("report" .. place)
      local pressure = assert(loop:pressure { resource = "io", file = path, nothing })
      return { pressure, to = assert(io.open(path, "w")) }
    end },
  { "http.get", function(own) assert(ml.http.get(own.url).status == 200) end,
    function() return { url = url() } end, true },
  { "http_client:get", function(own) assert(own.client:get(url()).status) end, client, true },
  { "make and end an http server", function()
      ml.http.serve { host = "127.0.0.1", port = 0, nothing }:invalidate()
    end },
  { "log a record", function(own) own.log:info("text", { n = 1 }) end, log },
  { "descriptor event", function(own)
      own[1]:send("x", "127.0.0.1", own[1].port)
      own[1]:receive { timeout = 1 }
    end, function() return { (assert(ml.net.udp { host = "127.0.0.1" })) } end, true },
  { "open and close a socket", function()
      assert(ml.net.udp { host = "127.0.0.1" }):invalidate()
    end },
  { "next_timer", function() loop:next_timer() end },
  { "timer:again", function(own) own[1]:again(1e5) end,
    function() return { loop:after(1e5, nothing) } end },
  { "timer:fire", function(own) own[1]:fire() end,
    function() return { loop:every(1e5, nothing) } end },
  { "set a tolerance", function(own) own[1].tolerance = 1 end,
    function() return { loop:every(1e5, nothing) } end },
  { "cron, cancel", function() loop:cron("0 3 * * *", nothing):invalidate() end },
  { "stop a run", function()
      loop:perform(stop)
      loop:run()
    end },
  { "a nested run", function() loop:run { mode = "nested", timeout = 0 } end,
    function() return { loop:source { modes = "nested", nothing } } end },
  { "perform for a target, take back", function()
      loop:perform({ target = "target" }, nothing)
      loop:cancel_performs "target"
    end },
  { "enqueue a notification", function(own)
      own[1]:enqueue("n", { coalesce = "none" })
      loop:run { timeout = 0 }
    end, function() return { loop:notifications { nothing } } end },
  { "coalesce a notification", function(own)
      own[1]:enqueue("n", { modes = "never" })
      own[1]:enqueue("n", { modes = "never" })
    end, function() return { loop:notifications { nothing } } end },
  { "request and reply", function(own) assert(own[1]:request(1) == 1) end,
    function() return { loop:port { function(_, _, reply) reply(1) end } } end, true },
  { "port:receive", function(own)
      own[1]:send(1)
      own[1]:receive()
    end, function() return { loop:port {} } end, true },
  { "semaphore", function(own) own[1]:acquire():release() end,
    function() return { ml.semaphore(1) } end, true },
  { "ml.timeout", function() ml.timeout(1e5, nothing) end, nil, true },
  { "a task in a scope", function(own) own[1]:task(nothing):await() end,
    function() return { loop:task(function() ml.sleep(1e5) end) } end, true },
  { "make and end an fd", function()
      local from, to = posix.pipe()
      loop:fd { fd = from, close = true, read = nothing }:invalidate()
      posix.close(to)
    end },
  { "fd:disable, fd:enable", function(own) own[1]:disable "read" own[1]:enable "read" end,
    function(ends)
      local from, to = posix.pipe()
      ends[#ends + 1] = to
      return { loop:fd { fd = from, close = true, read = nothing } }
    end },
  { "make and end a socket source", function()
      local from, to = posix.pipe()
      loop:socket_source { fd = from, close = true, read = nothing }:invalidate()
      posix.close(to)
    end },
  { "a line through a stream", function(own)
      own.to:write "line\n"
      own[1]:read "l"
    end, streams, true },
  { "make and end a signal", function() loop:signal("usr2", nothing):invalidate() end },
  { "make and end a watch", function() loop:watch { "/", nothing }:invalidate() end },
  { "make and end a server", function()
      assert(ml.net.listen { host = "127.0.0.1", port = 0, nothing }):invalidate()
    end },
  { "read a file", function() assert(ml.fs.read "/dev/null") end, nil, true },
  { "why of a handle", function(own) loop:why(own[1]) end,
    function() return { loop:after(1e5, nothing) } end },
  { "handle fields", function(own) return own[1].name, own[1].fires, own[1]:is_valid() end,
    function() return { loop:after(1e5, nothing) } end },
  { "now", function() ml.now() end },
  { "an empty pass", function() loop:run { timeout = 0 } end },
  { "wake_up", function() loop:wake_up() loop:run { timeout = 0 } end },
  { "end a guest with all that it has", function(own) own[1]:stop() end,
    function()
      local guest = assert(ml.guest { allow = { "timers", "net" }, text = [[
        local ml = require "moonloop"
        local loop = ml.current()
        for _ = 1, 3 do
          loop:every(1e5, print)
          loop:port { print }
          loop:task(function() ml.sleep(1e5) end)
          loop:source { perform = print }
        end
        ml.net.udp { host = "127.0.0.1" }
        function wait() ml.sleep(1e5) end
      ]] })
      loop:task(function() guest:call "wait" end)
      loop:run { timeout = 0 }
      return { guest }
    end },
  { "suspend and resume a guest", function(own) own[1]:suspend() own[1]:resume() end,
    function() return { (assert(ml.guest { text = "" })) } end },
  { "guest:usage", function(own) own[1]:usage() end,
    function() return { (assert(ml.guest { text = "" })) } end },
  { "ml.freeze", function(own) ml.freeze(own.table) end,
    function() return { table = { 1, 2, { 3 } } } end },
  { "read a frozen table", function(own) return own.frozen[3][1] end,
    function() return { frozen = ml.freeze { 1, 2, { 3 } } } end },
  { "ml.json.encode, decode", function() ml.json.decode(ml.json.encode { 1, { 2 } }) end },
  { "timer:again_at", function(own) own[1]:again_at(ml.wall_time() + 1e5) end,
    function() return { loop:after(1e5, nothing) } end },
  { "timer.interval", function(own) return own[1].interval end,
    function() return { loop:every(1e5, nothing) } end },
  { "a task's on_error", function(own) own[1].on_error = nothing end,
    function() return { loop:task(function() ml.sleep(1e5) end) } end },
  { "loop.depth, is_waiting", function() return loop.depth, loop.is_waiting end },
  { "request:is_pending", function(own) return own.request:is_pending() end,
    function() return { request = loop:perform_after(1e5, nothing) } end },
  { "notifications.waiting, dequeue", function(own)
      own[1]:enqueue("n", { modes = "never" })
      own[1]:dequeue "n"
    end, function() return { loop:notifications { nothing } } end },
  { "semaphore:with", function(own) own.semaphore:with(nothing) end,
    function() return { semaphore = ml.semaphore(1) } end, true },
  { "channel:items", function(own)
      own[1]:try_send(1)
      for _ in own[1]:items() do break end
    end, function() return { ml.channel { capacity = 1 } } end, true },
  { "stream fields", function(own) return own[1].buffered, own[1].queued, own[1].bytes_read end,
    streams },
  { "stream:read_some", function(own)
      own.to:write "text"
      own[1]:read_some()
    end, streams, true },
  { "stream:set_timeout", function(own) own[1]:set_timeout(1e5) end,
    streams },
  { "fs.stat", function() assert(ml.fs.stat "/dev/null") end, nil, true },
  { "fs.list", function() assert(ml.fs.list "/proc/self/task") end, nil, true },
  { "log with fields", function(own) own.log:with { a = 1 }:warn "text" end, log },
  { "http_client:post", function(own) own.client:post(url(), "x") end, client, true },
  { "http_client:head", function(own) own.client:head(url()) end, client, true },
  { "ml.net.resolve", function() ml.net.resolve "127.0.0.1" end, nil, true },
  { "socket_source:enable_writing", function(own)
      own[1]:enable_writing()
    end, function(ends)
      local from, to = posix.pipe()
      ends[#ends + 1] = from
      return { loop:socket_source { fd = to, close = true, write = nothing } }
    end },
  -- The last one: what is made common stays so.
  { "make a mode common", function(own) loop:add_common_mode(own.mode) end,
    function(_, place) return { mode = "common " .. place } end },
}

local REPEATS, BATCHES = 20, 3

local function leave()
  if shared.folder then os.execute("rm -r " .. shared.folder) end
  os.exit(0, true)
end

local function rss()
  local file <close> = assert(io.open "/proc/self/statm")
  local _, resident = file:read("n", "n")
  return resident * 4096
end

local crowd, count, what = arg[1], tonumber(arg[2]), arg[3]
if not crowd then
  for _, name in ipairs(names) do print("crowd", name) end
  for _, operation in ipairs(operations) do print("operation", operation[1]) end
  leave()
end

local function settle()
  for _ = 1, 3 do loop:run { timeout = 0 } end
  collectgarbage()
end

local things = table.move({}, 1, count, 1, {})
settle()
local before = rss()
os.clock()
for place = 1, count do things[place] = crowds[crowd](place) end
settle()
os.clock()  -- what lies between is the making of the crowd
if what == "memory" then
  print((rss() - before) / count)
  leave()
end

collectgarbage "stop"
for _, operation in ipairs(operations) do
  local _, act, prepare, is_task = table.unpack(operation, 1, 4)
  local own, ends = {}, {}
  for place = 1, BATCHES * REPEATS + 1 do own[place] = prepare and prepare(ends, place) or {} end
  local function all()
    if is_task and crowd == "observers" then  -- each sleep calls them all: no operation's cost
      for _ = 0, BATCHES do os.clock() end
      return
    end
    act(own[1])  -- what is made once is not counted
    os.clock()
    for batch = 0, BATCHES - 1 do
      for place = 2, REPEATS + 1 do act(own[batch * REPEATS + place]) end
      os.clock()
    end
  end
  if is_task then
    local task = loop:task(all)
    repeat loop:run { timeout = 0.1 } until task:is_done()
  else
    all()
  end
  for _, one in ipairs(own) do
    if one[1] and one[1].invalidate then one[1]:invalidate() end
    if io.type(one.to) then one.to:close() elseif one.to then one.to:invalidate() end
  end
  for _, fd in ipairs(ends) do posix.close(fd) end
  loop:run { timeout = 0 }
end

-- The end of the crowd, the first made first.
os.clock()
for place = 1, count do
  if things[place].invalidate then things[place]:invalidate() end
end
os.clock()
leave()
