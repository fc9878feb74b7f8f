-- Records as lines: levels, fields, forms, rates. A record is never more than one line.
local ml = require "moonloop"
local loop = ml.current()

local lines = {}
local function take(line) lines[#lines + 1] = line end
local function is(expected)
  local text = table.remove(lines, 1)
  if text ~= expected then error(("%s, expected %s"):format(text, expected), 2) end
end

local log = ml.log { to = take, format = "journal" }
log:debug "not shown"
log:info("listening", { port = 80, host = "::1", name = "a b", list = { 1, 2 }, ok = true })
is '<6>listening host=::1 list="[1,2]" name="a b" ok=true port=80'
log:warn "slow"
is "<4>slow"
log:error("broken", { why = 'a "reason"\nin two lines', [1] = "x", ["a b="] = 1 })
is [[<3>broken 1=x a_b_=1 why="a \"reason\"\nin two lines"]]
log:info "two\nlines \27[31m and\0more \"quoted\""
is [[<6>two\nlines \x1b[31m and\x00more "quoted"]]
log:info("", { empty = "", nan = 0 / 0 > 0, ["f"] = setmetatable({}, { __index = error }) })
is '<6> empty="" f="[]" nan=false'
assert(#lines == 0)

-- The level can be set; a log with added fields has its own.
local request = log:with { request = 7 }
log.level = "debug"
log:debug "now"
is "<7>now"
request:debug "not this one"
request:info("started", { step = 1 })
is "<6>started request=7 step=1"
request:with({ request = 8, user = "ada" }):info "other"
is "<6>other request=8 user=ada"
assert(log.level == "debug" and request.level == "info" and #lines == 0)

-- Text has the time of the loop's wall clock, JSON has everything as fields.
local text = ml.log { to = take, fields = { app = "shop" } }
text:info("paid", { order = 7 })
local line = table.remove(lines)
assert(line:find "^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%d%.%d%d%dZ info  paid app=shop order=7$", line)
local data = ml.log { to = take, format = "json" }
data:error("failed", { code = 7.0, list = {}, message = "not this", f = print, [true] = 1 })
local record = ml.json.decode(table.remove(lines))
assert(record.level == "error" and record.message == "failed" and record.code == 7.0)
assert(record.time:find "Z$" and record.f:find "^function")
assert(record["fields.message"] == "not this")

-- Fields that are called like what each record has keep their values, under longer names.
data:info("hi", { level = "mine", time = 5, message = "z", ["fields.level"] = "x" })
record = ml.json.decode(table.remove(lines))
assert(record.level == "info" and record.message == "hi" and record.time:find "Z$")
assert(record["fields.level"] == "x" and record["fields.fields.level"] == "mine")
assert(record["fields.time"] == 5 and record["fields.message"] == "z")

-- A record has a limit.
log:info(("x"):rep(100000))
assert(#table.remove(lines) == 65536)

-- At most 'rate' records with the same message a second; how many were held back is reported at its
-- end, with the fields of the log that had the first of them.
local calm = ml.log { to = take, format = "journal", rate = 2, fields = { app = 1 } }
loop:task(function()
  for number = 1, 5 do calm:info("again", { number = number }) end
  calm:info "other"
  for number = 1, 3 do calm:with({ part = number }):warn "late" end
  is "<6>again app=1 number=1"
  is "<6>again app=1 number=2"
  is "<6>other app=1"
  is "<4>late app=1 part=1"
  is "<4>late app=1 part=2"
  assert(#lines == 0 and calm.suppressed == 4)
  ml.sleep(0.99)
  assert(#lines == 0)
  ml.sleep(0.01)
  is "<6>again app=1 suppressed=3"
  is "<4>late app=1 part=1 suppressed=1"
  assert(#lines == 0)
  calm:info("again", { number = 6 })
  is "<6>again app=1 number=6"
  -- A flush and a close tell it too, and begin no new second.
  for _ = 1, 2 do calm:info "again" end
  is "<6>again app=1"
  assert(#lines == 0 and calm:flush())
  is "<6>again app=1 suppressed=1"
  calm:info "again"
  assert(#lines == 0)
  ml.sleep(1)
  is "<6>again app=1 suppressed=1"
  for _ = 1, 3 do calm:info "again" end
  calm:close()
  is "<6>again app=1"
  is "<6>again app=1"
  is "<6>again app=1 suppressed=1"
  ml.sleep(1)
  assert(#lines == 0)
  calm = ml.log { to = take, format = "journal", rate = 2 }
  for number = 1, 3000 do calm:info("message " .. number) end
  assert(#lines == 3000)
end)

-- Mistakes are raised at the caller's line; failures of the system are values.
for _, call in ipairs {
  function() ml.log { level = "loud" } end, function() ml.log { format = "xml" } end,
  function() ml.log { to = 1 } end, function() ml.log { rate = 0 } end,
  function() ml.log { fields = 1 } end, function() ml.log { leve = "info" } end,
  function() log:info(1) end, function() log:info("x", 1) end, function() log:with(1) end,
  function() log.level = "loud" end, function() log.dropped = 1 end,
  function() return log.inf end, function() log:flush { timeot = 1 } end,
} do
  local ok, problem = pcall(call)
  assert(not ok and problem:find "%(Log/records.lua:%d+%)", problem)
end
local _, problem, code = ml.log { to = "/nowhere/log" }
assert(code == "ENOENT" and problem:find "^ml%.log: '/nowhere/log': open failed: ", problem)
assert(not problem:find("ml.log", 2, true), problem)

-- To a file, by a thread: a disk that does not answer holds no loop.
local folder = os.tmpname()
os.remove(folder)
local file = ml.log { to = folder, format = "journal" }
file:info "one"
file:info "two"
assert(file:flush())
local read <close> = assert(io.open(folder))
assert(read:read "a" == "<6>one\n<6>two\n")
os.remove(folder)

-- A closed log takes no more; what it took is in the file.
local path = os.tmpname()
local file <close> = ml.log { to = path, format = "journal" }
local child = file:with { part = 1 }
file:info "one"
child:info "two"
assert(file:flush())
child:close()
file:info "three"
assert(file.dropped == 1 and file:flush() and child:close() == nil)
for line in io.lines(path) do take(line) end
is "<6>one"
is "<6>two part=1"
assert(#lines == 0)
os.remove(path)
