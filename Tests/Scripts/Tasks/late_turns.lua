-- Whatever a task waits for: the answer is there, but the task's mode does not run. Before its turn
-- the source ends or is collected, or the task is cancelled; or `closing` closes the state.
local ml = require "moonloop"
local posix = require "moonloop.posix"
local loop = ml.current()

local host = "127.0.0.1"
local made = {}  -- is closed after each row
local function keep(item)
  made[#made + 1] = item
  return item
end
local function wait_of(item, method, ...)
  local arguments = table.pack(...)
  return function() return item[method](item, table.unpack(arguments, 1, arguments.n)) end
end
local function none() end

-- A pipe as a stream, and what writes into it.
local function piped(text)
  local r, w = posix.pipe()
  local stream = loop:stream { fd = r, close = true, name = "in" }
  return stream, function() posix.write(w, text) posix.close(w) end
end
local function outlet()
  local r, w = posix.pipe()
  keep(loop:stream { fd = r, close = true })
  return loop:stream { fd = w, close = true, name = "out" }
end
local function connect(server) keep(ml.net.connect { host = host, port = server.port }) end

-- Each returns what may end, the wait, what brings the answer, and what else takes part.
local kinds = {}
function kinds.read()
  local stream, answer = piped "x"
  return stream, wait_of(stream, "read", 1), answer
end
function kinds.lines()
  local stream, answer = piped "x\n"
  return stream, function()
    local all = ""
    for line in stream:lines() do all = all .. line end
    return all
  end, answer
end
function kinds.copy_from()
  local stream, answer = piped "x"
  local out = outlet()
  return stream, wait_of(stream, "copy_to", out), answer, out
end
function kinds.copy_into()
  local stream, answer = piped "x"
  local out = outlet()
  return out, wait_of(stream, "copy_to", out), answer, stream
end
function kinds.receive_fd()
  local a, b = posix.socketpair()
  local stream = loop:stream { fd = a, close = true }
  local out = keep(loop:stream { fd = b, close = true })
  local r, w = posix.pipe()
  return stream, function()
    local fd, message, code = stream:receive_fd()
    if fd then posix.close(fd) end
    return fd and "fd", message, code
  end, function() out:send_fd(r) posix.close(r) posix.close(w) end
end
function kinds.accept()
  local server = ml.net.listen { host = host, port = 0 }
  return server, function()
    local stream, message, code = server:accept()
    if stream then stream:close() end
    return stream and "stream", message, code
  end, function() connect(server) end
end
function kinds.accept_in_time()
  local server = ml.net.listen { host = host, port = 0 }
  return server, function()
    local stream, message, code = ml.timeout(9, server.accept, server)
    if stream then stream:close() end
    return stream and "stream", message, code
  end, function() connect(server) end
end
function kinds.datagram()
  local socket = ml.net.udp { host = host, port = 0 }
  return socket, wait_of(socket, "receive"), function()
    keep(ml.net.udp { connect = { host = host, port = socket.port } }):send "x"
  end
end
function kinds.message()
  local port = loop:port {}
  return port, wait_of(port, "receive"), function() port:send "x" end
end
function kinds.room()
  local port = loop:port { capacity = 1 }
  port:send(1)
  return port, wait_of(port, "send", 2, { timeout = 5 }), function() port:on("message", none) end
end
function kinds.reply()
  local port = loop:port { function(_, message, reply) reply(message) end }
  return port, wait_of(port, "request", "x"), none
end
function kinds.held_reply()
  local held
  local port = loop:port { function(_, _, reply) held = reply end }
  return port, wait_of(port, "request", "x"), function()
    loop:after(0.001, function() if held then held "x" end end)
  end
end
function kinds.value()
  local channel = ml.channel()
  return channel, wait_of(channel, "receive"), function() channel:try_send "x" end
end
function kinds.permit()
  local semaphore = ml.semaphore(1)
  local permit = semaphore:try_acquire()
  return semaphore, function() return semaphore:acquire() and "permit" end,
    function() permit:release() end
end
function kinds.process()
  local process = ml.process.spawn { "true" }
  return process, function() return process:await().code end, none
end
function kinds.run()
  return nil, function() return ml.process.run { "true" }.code end, none
end
function kinds.stubborn_run()
  return nil, function()
    local result, message, code = ml.process.run { "sh", "-c", "trap '' TERM; exec sleep 9",
      timeout = 0.01, grace = 0.02 }
    return result, message, code
  end, none
end
function kinds.worker()
  local worker = ml.worker { source = "return 'x'" }
  return worker, wait_of(worker, "await"), none
end
function kinds.callback()
  local resume
  return nil, function() return ml.await(function(r) resume = r end) end,
    function() if resume then resume "x" end end
end
function kinds.connection()
  local server = ml.net.listen { host = host, port = 0, function(stream) stream:read(1) end }
  return server, function()
    local stream, message, code = ml.net.connect { host = host, port = server.port }
    if stream then stream:close() end
    return stream and "stream", message, code
  end, none
end
function kinds.address()
  return nil, function() return (ml.net.resolve(host) or {})[1] and "address" end, none
end
function kinds.file()
  return nil, function() return ml.fs.read "/proc/self/comm" and "text" end, none
end
function kinds.guest()
  local guest = ml.guest { allow = { "timers" },
    text = "function f() require('moonloop').sleep(0.005) return 'x' end" }
  return guest, wait_of(guest, "call", "f"), none
end
function kinds.guest_of_host()
  local guest = ml.guest { text = "function f() return host.h() end",
    functions = { h = function() ml.sleep(0.005) return "x" end } }
  return guest, wait_of(guest, "call", "f"), none
end
function kinds.task()
  local task = loop:task(function() ml.sleep(0.005) return "x" end)
  return task, wait_of(task, "await"), none
end
function kinds.notification()
  local queue = loop:notifications { function() ml.sleep(0.01) end }
  return queue, function() ml.sleep(0.02) return "slept" end,
    function() queue:enqueue "a" queue:enqueue "b" end
end
function kinds.watch()
  local path = os.tmpname()
  local watch = loop:watch { path, debounce = 0.01, function() ml.sleep(0.01) end }
  return watch, function() ml.sleep(0.02) os.remove(path) return "slept" end, function()
    local file <close> = io.open(path, "w")
    file:write "x"
  end
end
function kinds.signal()
  local signal = loop:signal("winch", function() ml.sleep(0.01) end)
  return signal, function() ml.sleep(0.02) return "slept" end,
    function() ml.process.kill(ml.process.id(), "winch") end
end
function kinds.response()
  local server = ml.http.serve { host = host, port = 0, function() ml.sleep(0.005) return "x" end }
  return server, function()
    local response, message, code = ml.http.get("http://" .. host .. ":" .. server.port .. "/")
    return response and response.body, message, code
  end, none
end
function kinds.body()
  local server = ml.http.serve { host = host, port = 0, function(_, response)
    for _ = 1, 3 do response:send "x" ml.sleep(0.01) end
  end }
  return server, function()
    local response, message, code =
      ml.http.get("http://" .. host .. ":" .. server.port .. "/", { stream = true })
    if not response then return response, message, code end
    return response:read()
  end, none
end

local actions = { "collect", "end", "end in", "early end", "cancel", "cancel in", "early cancel" }

--- The results of a wait; the action comes between its answer and its turn, "early" at once after
--- the answer, "in" a handler.
local function outcome(kind, action)
  local results
  local source, wait, answer, other = kinds[kind]()
  local left = setmetatable({ source, other }, { __mode = "v" })  -- what the loop still holds
  local task = loop:task({ modes = "later", on_error = none },
    function() results = table.pack(pcall(wait)) end)
  loop:run { mode = "later", timeout = 0.01 }
  wait = nil
  local function change()
    if action:find "end" and source and source.invalidate then source:invalidate() end
    if action:find "cancel" then task:cancel() end
    source, other = nil, nil
    collectgarbage()
  end
  if action:find "early" then
    loop:perform(function() answer() change() end)
  else
    loop:perform(answer)
  end
  loop:run { timeout = 0.02 }
  if closing then return closing() end
  if action:find "in" then loop:perform(change) elseif not action:find "early" then change() end
  loop:run { timeout = 0.02 }
  answer = nil
  loop:run { mode = "later", timeout = 0.1 }
  collectgarbage()
  loop:run { timeout = 0.1 }
  loop:run { mode = "later", timeout = 0.1 }
  for _, item in pairs(left) do
    if item.invalidate then item:invalidate() end
  end
  assert(results and (task.status == "done" or task.status == "cancelled"),
    ("%s, %s: %s"):format(kind, action, task.status))
  return results
end

local function close_made()
  for _, item in ipairs(made) do item:invalidate() end
  made = {}
end

--- What the task gets in a word: a value, the code of a failure, or "cancelled".
local function word(kind, action)
  local results = outcome(kind, action)
  if closing then return end
  local ok, value, message, code = table.unpack(results, 1, 4)
  close_made()
  if not ok then
    assert(value == "the task was cancelled", value)
    return "cancelled"
  end
  assert(value or not message:find("-1", 1, true), message)
  return tostring(code or value)
end

local function thrice(text) return text .. " " .. text .. " " .. text end
-- What was taken comes in any case, or unless the task is cancelled; what was not taken ends with
-- its source.
local function always(text) return thrice(text) .. " " .. text .. " " .. thrice(text) end
local function unless_cancelled(text, ended)
  return thrice(text) .. " " .. (ended or text) .. " " .. thrice "cancelled"
end
local function unless_ended(text)
  return text .. " " .. thrice "ECANCELED" .. " " .. thrice "cancelled"
end

local expected = {
  read = unless_ended "x", lines = "x    " .. thrice "cancelled",
  copy_from = unless_ended "1", copy_into = unless_ended "1", receive_fd = unless_ended "fd",
  accept = "stream " .. thrice "ECANCELED" .. " " .. thrice "stream",
  accept_in_time = unless_ended "stream", datagram = unless_ended "x",
  message = "x x x EPIPE x x cancelled", room = unless_cancelled("true", "EPIPE"),
  reply = unless_cancelled("x", "EPIPE"), held_reply = unless_cancelled("x", "EPIPE"),
  value = always "x", permit = always "permit",
  process = always "0", run = always "0",
  stubborn_run = always "ETIMEDOUT", worker = unless_cancelled("x", "ECANCELED"),
  callback = unless_cancelled "x", connection = always "stream", address = always "address",
  file = always "text",
  guest = unless_cancelled("x", "ECANCELED"), guest_of_host = unless_cancelled("x", "ECANCELED"),
  task = unless_cancelled("x", "cancelled"), notification = unless_cancelled "slept",
  watch = unless_cancelled "slept", signal = unless_cancelled "slept",
  response = unless_cancelled("x", "ECONNRESET"), body = unless_cancelled("x", "ECONNRESET"),
}

if closing then return word(closing_kind, "collect") end

for kind in pairs(kinds) do
  local words = {}
  for place, action in ipairs(actions) do words[place] = word(kind, action) end
  local found = table.concat(words, " ")
  assert(found == expected[kind], ("%s: %s"):format(kind, found))
end

for _, kind in ipairs { "accept", "datagram", "read" } do
  local message = outcome(kind, "end")[3]
  assert(message:find("was closed meanwhile", 1, true), message)
  -- A connection that no task took is closed.
  if kind == "accept" then assert(made[#made]:read "l" == nil) end
  close_made()
end

-- A child whose output no task waits for any more: its time limit passes, its output is too long.
local function run_cancelled(options)
  options[1], options[2], options.grace = "sh", "-c", 5
  local task = loop:task({ modes = "later" }, function() ml.process.run(options) end)
  loop:run { mode = "later", timeout = 0.05 }
  task:cancel()
  loop:run { mode = "later", timeout = 0.05 }
  collectgarbage()
  collectgarbage()
end
run_cancelled { nil, nil, "trap '' TERM; sleep 0.4", timeout = 0.3 }
run_cancelled { nil, nil, "trap '' TERM; sleep 0.2; head -c 10000 /dev/zero; sleep 0.2",
  limit = 1000 }
loop:run { mode = "later", timeout = 2 }
