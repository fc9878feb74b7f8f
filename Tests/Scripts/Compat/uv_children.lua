-- luv's children: what happens to their pipes, more than three descriptors, signals by name.
local uv = require "moonloop.compat.uv"

local trace = {}
local function note(...) trace[#trace + 1] = table.concat({ ... }, " ") end
local function is(expected)
  table.sort(trace)
  local given = table.concat(trace, "\n")
  assert(given == expected:gsub("\n +", "\n"), given)
  trace = {}
end

-- Notes everything that a pipe delivers, and closes it at the end.
local function drain(pipe, name)
  local parts = {}
  assert(pipe:read_start(function(err, text)
    assert(not err, err)
    parts[#parts + 1] = text
    if text then return end
    note(name, table.concat(parts))
    pipe:close()
  end) == 0)
end

-- Nothing was started, so its pipes are at their end.
local output = uv.new_pipe()
local child, message, code = uv.spawn("/nowhere", { stdio = { nil, output } }, function()
  note "never"
end)
assert(child == nil and message == "ENOENT: no such file or directory" and code == "ENOENT")
drain(output, "nothing")
uv.run()
is "nothing "

-- Descriptors 3 and 5; 4 is closed.
local three, five = uv.new_pipe(), uv.new_pipe()
child = uv.spawn("sh", {
  args = { "-c", "read line <&5; echo $line >&3; (echo bad >&4) 2>/dev/null || echo closed >&3" },
  stdio = { nil, nil, nil, three, [6] = five } }, function(status)
    note("exit", status)
    child:close()
  end)
drain(three, "three")
five:write("hello\n", function() five:close() end)
uv.run()
is "exit 0\n  three hello\nclosed\n"

-- A child's output is read before its end is reported.
local said = uv.new_pipe()
child = uv.spawn("printf", { args = { "words" }, stdio = { nil, said } }, function(status)
  note("exit", status)
  said:close()
  child:close()
end)
said:read_start(function(_, text) if text then note("said", text) end end)
uv.run()
is "exit 0\n  said words"

-- A signal by name, in either case.
for _, word in ipairs { "SIGTERM", "sigterm" } do
  local sleeping
  sleeping = uv.spawn("sleep", { args = { "100" } }, function(_, signal)
    note("signal", signal)
    sleeping:close()
  end)
  assert(uv.process_kill(sleeping, word) == 0)
  uv.run()
  is "signal 15"
end

-- A pipe that is nonblocking here blocks for the child, which can write everything.
local ends = uv.pipe({ nonblock = true }, { nonblock = true })
local from, to = uv.new_pipe(), uv.new_pipe()
from:open(ends.read)
to:open(ends.write)
child = uv.spawn("head", { args = { "-c", "500000", "/dev/zero" }, stdio = { nil, to } },
  function(status)
    note("head", status)
    child:close()
  end)
to:close()
local count = 0
from:read_start(function(_, text)
  count = count + #(text or "")
  if not text then from:close() end
end)
uv.run()
is "head 0"
assert(count == 500000, count)

-- The child's user, which only root may choose.
local who = uv.new_pipe()
child, message, code = uv.spawn("id", { args = { "-u" }, uid = 65534, gid = 65534,
  stdio = { nil, who } }, function() child:close() end)
drain(who, "id")
uv.run()
is(child and "id 65534\n" or "id ")
assert(child or code == "EPERM", code)
assert(select(3, uv.spawn("id", { uid = -1 })) == "EINVAL")

-- What is wrong with an argument is said of the function that the script called.
local function mistake(expected, ...)
  local given = table.pack(...)
  local ok, problem = pcall(function() local _ = uv.spawn(table.unpack(given, 1, given.n)) end)
  assert(not ok and problem:find "^%S*uv_children.lua:%d+: ", problem)
  assert(problem:find("bad argument #2 to 'spawn' (" .. expected, 1, true), problem)
end
mistake("option 'args' must be table)", "ls", { args = 5 })
mistake("option 'env' must be table)", "ls", { env = 5 })
mistake("string expected, got table)", "ls", { args = { {} } })
mistake("option 'stdio' must be table)", "ls", { stdio = 5 })
