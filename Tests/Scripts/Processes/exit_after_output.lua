-- The exit is reported once the child has ended and its output was read to the end, in whichever
-- order that happens (D29).
local ml = require "moonloop"
local loop = ml.current()

local trace = {}
local function note(...) trace[#trace + 1] = table.concat({ ... }, " ") end

-- A slow reader.
local p = assert(ml.process.spawn {
  "printf", "1\\n2\\n3\\n", stdout = "pipe",
  on_exit = function(p, status) note("on_exit", status.code, tostring(p.status.code)) end,
})
local reader = loop:task(function()
  for line in p.stdout:lines() do
    note("line", line)
    ml.process.run { "sleep", "0.02" }
  end
  note "end of file"
end)
local waiter = loop:task(function() note("awaited", p:await().code) end)
reader:await()
waiter:await()
assert(table.concat(trace, ", ") ==
  "line 1, line 2, line 3, end of file, on_exit 0 0, awaited 0", table.concat(trace, ", "))

-- Without a reader the exit is reported, and the output can be read afterwards.
local unread = assert(ml.process.spawn { "printf", "later", stdout = "pipe", linger = math.huge })
assert(unread:await().code == 0)
assert(unread.stdout:read "a" == "later")

-- A task that waits for the exit does not read meanwhile.
local partly = assert(ml.process.spawn {
  "printf", "1\\n2\\n", stdout = "pipe", linger = math.huge,
})
assert(partly.stdout:read "l" == "1")
assert(partly:await().code == 0)
assert(partly.stdout:read "l" == "2" and partly.stdout:read "l" == nil)

-- A child that closes its output but lives is waited for.
local closes = assert(ml.process.spawn {
  "sh", "-c", "exec >&- ; sleep 0.05; exit 4", stdout = "pipe",
})
assert(closes.stdout:read "a" == "")
assert(closes.status == nil and closes:is_valid())
assert(closes:await().code == 4)

-- Many can wait, even when it is over.
local many = assert(ml.process.spawn { "sh", "-c", "exit 5" })
local codes = {}
for i = 1, 3 do codes[i] = loop:task(function() return many:await().code end) end
for i = 1, 3 do assert(codes[i]:await() == 5) end
assert(many:await().code == 5 and many:wait().code == 5 and many.status.code == 5)
assert(not many:is_valid())

-- A stream that is closed is no reason to wait.
local closed = assert(ml.process.spawn { "echo", "x", stdout = "pipe", linger = math.huge })
closed.stdout:close()
closed:await()
