-- A loop over lines ends at the end of file; failures are raised in the loop, and never
-- taken for the end.
local ml = require "moonloop"
local posix = require "moonloop.posix"
local loop = ml.current()

local function over(stream)
  local got = {}
  local ok, message = pcall(function()
    for line in stream:lines() do got[#got + 1] = line end
  end)
  return table.concat(got, ","), ok, message
end

loop:task(function(scope)
  -- The end of file: also of a last line without newline.
  local from, to = pipe()
  local input = ml.stream { fd = from, close = true, name = "input" }
  write(to, "one\ntwo")
  close(to)
  local got, ok = over(input)
  assert(got == "one,two" and ok and input.failure == nil)
  input:close()

  -- A reset.
  local server = assert(ml.net.listen { host = "127.0.0.1", port = 0 })
  local one = assert(ml.net.connect { host = "127.0.0.1", port = server.port, name = "one" })
  local other = assert(server:accept())
  other:write "one\nhalf a l"
  local waiting = scope:task(function() return table.pack(over(one)) end)
  for _ = 1, 5 do ml.sleep(0) end
  assert(posix.reset_on_close(other.fd))
  other:invalidate()
  local result = waiting:await()
  assert(result[1] == "one" and result[2] == false, result[1])
  assert(result[3].message:find "stream 'one': .*ECONNRESET" and result[3].code == "ECONNRESET")
  one:close()

  -- A deadline: the part of the line that had arrived is still there.
  one = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
  other = assert(server:accept())
  one.timeout = 2
  other:write "one\nhalf"
  local message
  got, ok, message = over(one)
  assert(got == "one" and not ok and tostring(message):find "timed out", message)
  assert(message.code == "ETIMEDOUT" and one.failure == "ETIMEDOUT")
  other:write " a line\n"
  assert(one:read "l" == "half a line")
  one:close() other:close()

  -- A line beyond the limit.
  one = assert(ml.net.connect { host = "127.0.0.1", port = server.port, line_limit = 10 })
  other = assert(server:accept())
  other:write("short\n", ("x"):rep(100), "\nnext\n")
  got, ok, message = over(one)
  assert(got == "short" and not ok and message.message:find "longer than 10 bytes")
  assert(message.code == "EMSGSIZE" and one:read "l" == "next")

  -- When the script closes the stream, that is an end.
  waiting = scope:task(function() return table.pack(over(one)) end)
  ml.sleep(0)
  one:close()
  result = waiting:await()
  assert(result[1] == "" and result[2] == true, result[3])
  other:close()
  server:invalidate()
end):wait()

-- A task that reads what comes faster than it reads does not starve the others.
local numbers = ml.process.spawn { "seq", "100000", stdout = "pipe" }
local count, seen = 0, {}
local passes = loop:observer { on = "before_timers", function() seen[#seen + 1] = count end }
loop:task(function()
  for _ in numbers.stdout:lines() do count = count + 1 end
end)
loop:run()
passes:invalidate()
local between = 0
for place = 2, #seen do between = between + (seen[place] > seen[place - 1] and 1 or 0) end
assert(count == 100000 and between >= 5, between)
