-- A run in a callback serves what is left and returns: the item being served does not hold it.
local uv = require "moonloop.compat.uv"

local trace = {}
local function note(...) trace[#trace + 1] = table.concat({ ... }, " ") end

-- Runs the loop in a callback, which has one timer of its own.
local function nest(name)
  local timer = uv.new_timer()
  timer:start(5, 0, function()
    note(name, "nested")
    timer:close()
  end)
  assert(uv.run() == false)
  note(name, "returned")
end

local function close(...) for _, handle in ipairs { ... } do handle:close() end end

-- A listener that accepts one connection and goes.
local function listener()
  local server = uv.new_tcp()
  server:bind("127.0.0.1", 0)
  server:listen(1, function()
    local peer = uv.new_tcp()
    server:accept(peer)
    close(peer, server)
  end)
  return server
end

local cases = {}

function cases.timer(done)
  local timer = uv.new_timer()
  timer:start(1, 0, function() done(timer) end)
end
function cases.close(done) uv.new_timer():close(function() done() end) end
function cases.exit(done)
  local child
  child = uv.spawn("true", {}, function() done(child) end)
end
function cases.connect(done)
  local server, client = listener(), uv.new_tcp()
  server:unref()
  client:connect("127.0.0.1", server:getsockname().port, function()
    done(client)
    if not server:is_closing() then close(server) end
  end)
end
function cases.shutdown(done)
  local server, client = listener(), uv.new_tcp()
  client:connect("127.0.0.1", server:getsockname().port, function()
    client:shutdown(function() done(client) end)
  end)
end
function cases.getaddrinfo(done) uv.getaddrinfo("localhost", nil, {}, function() done() end) end
function cases.getnameinfo(done) uv.getnameinfo({ ip = "127.0.0.1" }, function() done() end) end
function cases.work(done)
  uv.new_work(function(value) return value end, function() done() end):queue(1)
end
function cases.fs(done) uv.fs_stat("/", function() done() end) end
function cases.random(done) uv.random(4, 0, function() done() end) end
function cases.async(done)
  local async
  async = uv.new_async(function()
    async:close()
    done()
  end)
  async:send()
end
function cases.pipe(done)
  local ends = uv.pipe()
  local from, to = uv.new_pipe(), uv.new_pipe()
  from:open(ends.read)
  to:open(ends.write)
  from:read_start(function()
    from:read_stop()
    done(from, to)
  end)
  to:write("x", function() note "written" end)
end
function cases.udp(done)
  local udp = uv.new_udp()
  udp:bind("127.0.0.1", 0)
  udp:recv_start(function()
    udp:recv_stop()
    done(udp)
  end)
  udp:send("x", "127.0.0.1", udp:getsockname().port)
end
function cases.signal(done)
  local signal = uv.new_signal()
  signal:start("sigusr1", function()
    signal:stop()
    done(signal)
  end)
  uv.kill(uv.os_getpid(), "sigusr1")
end
for _, stage in ipairs { "idle", "prepare", "check" } do
  cases[stage] = function(done)
    local handle, busy = uv["new_" .. stage](), uv.new_idle()
    busy:start(function() if not busy:is_closing() then close(busy) end end)
    handle:start(function()
      handle:stop()
      done(handle)
    end)
  end
end

local names = {}
for name in pairs(cases) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  trace = {}
  cases[name](function(...)
    nest(name)
    close(...)
  end)
  assert(uv.run() == false, name)
  local expected = ("%s nested\n%s returned"):format(name, name)
  if name == "pipe" then expected = "written\n" .. expected end
  local given = table.concat(trace, "\n")
  assert(given == expected, given)
end
