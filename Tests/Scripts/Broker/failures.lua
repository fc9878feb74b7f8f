-- What a port over a broker does when the broker is missing, refuses, breaks off or talks nonsense.
-- The broker here is one of ours, which answers what the test wants.
local ml = require "moonloop"
local loop = ml.current()

-- Reads one command: its words.
local function read_command(stream)
  local head = stream:read "L"
  if not head then return nil end
  local words = {}
  for place = 1, tonumber(head:match "^%*(%d+)") do
    words[place] = stream:read(tonumber(stream:read("L"):match "^%$(%d+)") + 2):sub(1, -3)
  end
  return words
end

local USUAL = { HELLO = "%0\r\n", TIME = "*2\r\n$1\r\n1\r\n$1\r\n2\r\n",
  SUBSCRIBE = ">3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n" }

-- A broker that logs commands and answers from a table: with a text, or a function of words and
-- stream that returns one; false ends the connection.
local function broker(answers, path)
  local log = {}
  local server = assert(ml.net.listen { host = not path and "127.0.0.1" or nil, path = path,
    port = not path and 0 or nil, function(stream)
    for words in function() return read_command(stream) end do
      log[#log + 1] = words[1]
      local answer = answers[words[1]]
      if answer == nil then answer = USUAL[words[1]] or ":1\r\n" end
      if type(answer) == "function" then answer = answer(words, stream) end
      if not answer then return end
      stream:write(answer)
    end
  end })
  server:keep_alive(false)
  local over = path and "redis+unix://" .. path:gsub("/", "%%2F")
    or "redis://127.0.0.1:" .. server.port
  return server, over, log
end

local function port(over, options)
  local made = { name = "jobs", over = over, timeout = 2 }
  for name, value in pairs(options or {}) do made[name] = value end
  return ml.port(made)
end

local function equal(actual, expected)
  if actual ~= expected then error(("%s, expected %s"):format(actual, expected), 2) end
end

local function fails(code, words, result, message, actual)
  equal(result, nil)
  if actual ~= code or not message:find(words, 1, true) then
    error(("%s: %s, expected %s: %s"):format(actual, message, code, words), 2)
  end
end

local cases = {}

function cases.nobody_listens()
  local server, over = broker {}
  server:invalidate()
  local jobs <close> = port(over)
  local began = ml.now()
  fails("ETIMEDOUT", "Connection refused", jobs:send "x")
  equal(("%.3f"):format(ml.now() - began), ("%.3f"):format(2.0))
  fails("ETIMEDOUT", "Connection refused", jobs:request("x", { timeout = 1 }))
  fails("ETIMEDOUT", "Connection refused", jobs:count { timeout = 0.5 })
end

function cases.it_comes_later()
  local found, over = broker {}
  local place = found.port
  found:invalidate()
  local jobs <close> = port(over, { timeout = 10 })
  local later
  loop:after(1, function()
    later = assert(ml.net.listen { host = "127.0.0.1", port = place, function(stream)
      for words in function() return read_command(stream) end do
        stream:write(USUAL[words[1]] or ":1\r\n")
      end
    end })
    later:keep_alive(false)
  end)
  equal(jobs:send "x", true)
  assert(ml.now() >= 1)
  later:invalidate()
end

function cases.it_refuses_the_password()
  local server <close>, over = broker { HELLO = function(words)
    equal(table.concat(words, " "), "HELLO 3 AUTH ada p@ss")
    return "-WRONGPASS invalid username-password pair\r\n"
  end }
  local jobs <close> = port((over:gsub("//", "//ada:p%%40ss@")))
  fails("EACCES", "WRONGPASS", jobs:send "x")
end

function cases.it_is_too_old()
  local server <close>, over = broker { HELLO = "-NOPROTO unsupported protocol version\r\n" }
  local jobs <close> = port(over)
  fails("EPROTONOSUPPORT", "NOPROTO", jobs:send "x")
end

function cases.the_key_is_something_else()
  local server <close>, over = broker {
    EVAL = "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n" }
  local jobs <close> = port(over)
  fails("EINVAL", "WRONGTYPE", jobs:send "x")
  fails("EINVAL", "WRONGTYPE", jobs:request "x")
end

function cases.nothing_comes()
  local server <close>, over = broker { XREADGROUP = function() return false end }
  local jobs <close> = port(over)
  fails("ETIMEDOUT", "port 'jobs': no message within 0.5 s", jobs:receive { timeout = 0.5 })
end

-- A lost answer neither loses nor doubles a message: the same number is sent again.
function cases.it_breaks_off_before_it_answers()
  local sent = {}
  local server <close>, over = broker { EVAL = function(words)
    sent[#sent + 1] = table.concat(words, " ", 5)
    return #sent > 1 and ":1\r\n"
  end }
  local jobs <close> = port(over)
  equal(jobs:send { 1, 2.0 }, true)
  equal(#sent, 2)
  equal((sent[1]:gsub("from:%x+%.%x+%.%x+ ", "from:ID ")),
    "moonloop:{jobs}:from:ID 65536 1 j [1,2.0]  ")
  equal(sent[2], sent[1])
end

local NONSENSE = { "hello\r\n", "$5\r\nab", "$-7\r\n", "*2\r\n:1\r\n$3\r\nabcd\r\n", ":1x\r\n",
  "\r\n", "\0\0\0\0\n", ":99999999999999999999\r\n" }
function cases.it_talks_nonsense()
  for _, text in ipairs(NONSENSE) do
    local server <close>, over, log = broker { EVAL = function(_, stream)
      stream:write(text)
      return false
    end }
    local jobs <close> = port(over, { timeout = 0.5 })
    local _, message, code = jobs:send "x"
    equal(code, "ETIMEDOUT")
    assert(message:find "protocol" or message:find "closed" or message:find "line", message)
    assert(#log < 30, "it is asked again and again: " .. #log)
  end
end

-- Well-formed answers to some other question do the port no harm.
function cases.it_answers_something_else()
  local is_odd = true
  local server <close>, over = broker { EVAL = function()
    return is_odd and "+OK\r\n" or ":1\r\n"
  end, TIME = function() return is_odd and "+OK\r\n" or "*2\r\n$1\r\n1\r\n$1\r\n2\r\n" end,
    XGROUP = "+OK\r\n", XREADGROUP = function()
      if is_odd then return "*1\r\n+OK\r\n" end
      ml.sleep(1000)
    end }
  local jobs <close> = port(over)
  fails("EBADMSG", "does not match the question", jobs:send { 1 })
  jobs:on("message", print)
  ml.sleep(3)
  is_odd = false
  equal(jobs:send "x", true)
  is_odd = true
  fails("EBADMSG", "does not match the question", jobs:send "x")
  is_odd = false
  ml.sleep(10)
  equal(jobs:send "x", true)
end

function cases.its_replies_are_huge()
  for _, text in ipairs { "*2\r\n$1\r\na\r\n$67108864\r\n", "$99999999999\r\n",
    "*9999999\r\n", ("*1\r\n"):rep(100),
    ":" .. ("1"):rep(5000) .. "\r\n" } do
    local server <close>, over = broker { EVAL = text }
    local jobs <close> = port(over)
    fails("EMSGSIZE", "port 'jobs': ", jobs:send "x")
  end
end

-- Over a Unix socket: while TCP has bytes under way, virtual time jumps.
function cases.a_message_is_huge()
  local path = os.tmpname()
  os.remove(path)
  local server <close>, over, log = broker({}, path)
  local jobs <close> = port(over)
  fails("EMSGSIZE", "a message of 1048577 bytes", jobs:send(("x"):rep(1048577)))
  equal(#log, 0)
  equal(jobs:send(("x"):rep(1048576)), true)
end

function cases.it_is_silent()
  local streams = 0
  local server <close> = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
    streams = streams + 1
    stream:read "a"
  end })
  local jobs <close> = port("redis://127.0.0.1:" .. server.port)
  local began = ml.now()
  fails("ETIMEDOUT", "jobs", jobs:send("x", { timeout = 6 }))
  equal(("%.3f"):format(ml.now() - began), ("%.3f"):format(6.0))
  equal(streams, 2)  -- each login has 5 s
end

-- An idle connection is asked for a sign of life, and given up without one.
function cases.it_falls_silent()
  local is_silent = false
  local server <close>, over, log = broker { PING = function()
    if is_silent then ml.sleep(1000) end
    return "+PONG\r\n"
  end }
  local jobs <close> = port(over)
  equal(jobs:send "x", true)
  ml.sleep(12)
  equal(log[#log], "PING")
  is_silent = true
  ml.sleep(20)
  local logins = 0
  for _, word in ipairs(log) do logins = logins + (word == "HELLO" and 1 or 0) end
  equal(logins, 2)
end

-- What a stalled receiver reads after its lease, another one may have done.
function cases.it_gives_a_message_late()
  local scripts = require "moonloop.broker.scripts"
  local asked, began = {}, {}
  local server <close>, over = broker { TIME = "*2\r\n$1\r\n1\r\n$1\r\n2\r\n", XGROUP = "+OK\r\n",
    XREADGROUP = function(words)
      if words[#words] ~= ">" then return "_\r\n" end
      asked[#asked + 1] = ml.now()
      ml.sleep(#asked > 3 and 1000 or #asked > 1 and 3 or 1)
      return ("%%1\r\n$1\r\nx\r\n*1\r\n*2\r\n$3\r\n%d-0\r\n*2\r\n$1\r\ns\r\n$1\r\n%d\r\n"):format(
        #asked, #asked)
    end,
    EVAL = function(words)
      if words[2] ~= scripts.RENEW then return ":1\r\n" end
      return ("*1\r\n:%d\r\n"):format(words[#words] == "3-0" and 1 or 0)
    end }
  local jobs <close> = port(over, { lease = 2, function(_, text) began[#began + 1] = text end })
  ml.sleep(10)
  equal(table.concat(began, " "), "1 3")
end

-- A deadline is in the broker's time, so that a request which waited on its way is not handled
-- after its caller has given up.
function cases.a_request_is_late()
  local is_first, began, deadlines = true, {}, {}
  local server <close>, over = broker { TIME = "*2\r\n$4\r\n1000\r\n$6\r\n500000\r\n",
    XGROUP = "+OK\r\n", XREADGROUP = function(words)
      if words[#words] ~= ">" then return "_\r\n" end
      if not is_first then ml.sleep(1000) end
      is_first = false
      local text = "%1\r\n$1\r\nx\r\n*2\r\n"
      local function add(word) text = ("%s$%d\r\n%s\r\n"):format(text, #word, word) end
      for place, deadline in ipairs { "1000000", "1100000" } do
        text = text .. "*2\r\n"
        add(place .. "-0")
        text = text .. "*6\r\n"
        for _, word in ipairs { "s", tostring(place), "r", "a 1", "t", deadline } do add(word) end
      end
      return text
    end,
    EVAL = function(words)
      if words[7] == "1" then deadlines[#deadlines + 1] = tonumber(words[11]) end
      return ":1\r\n"
    end }
  local jobs <close> = port(over, { function(_, text) began[#began + 1] = text end })
  ml.sleep(1)
  equal(table.concat(began, " "), "2")
  jobs:on("message", nil)
  local other <close> = port(over)
  fails("ETIMEDOUT", "no reply within 2 s", other:request "x")
  assert(#deadlines == 1 and deadlines[1] > 1002400 and deadlines[1] <= 1002500, deadlines[1])
end

function cases.it_is_closed_meanwhile()
  local server <close>, over = broker {}
  local jobs = port(over)
  loop:after(1, function() jobs:invalidate(); jobs:invalidate() end)
  fails("ECANCELED", "was closed", jobs:request "nobody answers")
  equal(jobs:is_valid(), false)
  fails("EPIPE", "was closed", jobs:send "x")
  fails("EPIPE", "was closed", jobs:request "x")
  fails("EPIPE", "was closed", jobs:receive())
  equal(pcall(jobs.on, jobs, "message", print), false)
  local other = port "redis://127.0.0.1:1"
  loop:after(1, function() other:invalidate() end)
  fails("ECANCELED", "was closed", other:send "x")
end

function cases.a_cancelled_send_is_not_sent()
  local gate, sent = ml.channel(), {}
  local server <close>, over = broker { HELLO = function()
    gate:receive()
    return "%0\r\n"
  end, EVAL = function(words)
    for place = 9, #words, 5 do sent[#sent + 1] = words[place] end
    return (":%d\r\n"):format(#sent)
  end }
  local jobs <close> = port(over)
  local task = loop:task(function() jobs:send "cancelled" end)
  local other = loop:task(function() return jobs:send "kept" end)
  ml.sleep(0.5)
  task:cancel()
  gate:send(true)
  equal(other:await(), true)
  equal(table.concat(sent, " "), "kept")
end

local MISTAKES = {
  { { over = 1 }, "'over' must be a string" }, { { over = "redis://x" }, "'name' must be" },
  { { name = "a b" }, "'name' must be" }, { { nam = "x" }, "unknown option 'nam'; did you mean" },
  { { over = "nats://h" }, "'over': write redis://" }, { { over = "redis://h:70000" }, "70000" },
  { { over = "redis://" }, "'over'" }, { { over = "" }, "'over'" },
  { { deliver = "some" }, "'deliver' cannot be 'some'; did you mean 'one'?" },
  { { capacity = 0 }, "'capacity' must be from 1" },
  { { at_once = 2000 }, "'at_once'" }, { { lease = 0 }, "'lease'" },
  { { lease = 0 / 0 }, "'lease'" },
  { { attempts = 1.5 }, "'attempts' must be an integer" }, { { timeout = -1 }, "'timeout'" },
  { { [1] = 1 }, "must be a function" }, { { on_error = 1 }, "'on_error'" },
}
function cases.mistakes()
  for _, case in ipairs(MISTAKES) do
    local options = { name = "jobs", over = "redis://localhost" }
    for key, value in pairs(case[1]) do options[key] = value end
    if case[1].over == "redis://x" then options.name = nil end
    local ok, message = pcall(ml.port, options)
    local said = message:gsub(" %(Broker/failures.lua:%d+%)", "")
    assert(not ok and said:find(case[2], 1, true), message)
  end
  local jobs <close> = port "redis://127.0.0.1:1"
  for _, call in ipairs {
    function() jobs.name = 1 end, function() return jobs.nane end,
    function() jobs:send(print) end, function() jobs:send("x", { timeot = 1 }) end,
    function() jobs:send { "\xff" } end, function() jobs:on("close", print) end,
    function() jobs:on("message", 1) end, function() setmetatable(jobs, nil) end,
  } do
    assert(not pcall(call))
  end
  assert(not pcall(function() jobs.on_error = 1 end))
  equal(jobs.on_error, nil)
  jobs.on_error = print
  equal(jobs.on_error, print)
  equal(tostring(jobs), "port 'jobs'")
  equal(jobs.name .. jobs.capacity .. jobs.deliver .. jobs.dropped, "jobs65536one0")
end

loop:task(function()
  local names = {}
  for name in pairs(cases) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local ok, problem = xpcall(cases[name], debug.traceback)
    if not ok then error(name .. ": " .. problem, 0) end
  end
end)
