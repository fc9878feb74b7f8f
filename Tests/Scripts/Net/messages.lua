-- An error names what failed once, and a deadline says what was waited for.
local ml = require "moonloop"
local loop = ml.current()

local function same(actual, expected)
  for key = 1, math.max(#actual, #expected) do
    local one, other = tostring(actual[key]), tostring(expected[key])
    assert(one == other, ("%s is not %s"):format(one, other))
  end
end

loop:task(function()
  local server = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
    stream:read "a"
  end })
  local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
  local place = "127.0.0.1:" .. server.port
  same({ select(2, stream:read("l", { timeout = 0.01 })) },
    { ("timed out: waited for a line of stream '%s'"):format(place), "ETIMEDOUT" })
  local port = server.port
  server:invalidate()
  local none, message, code = ml.net.connect { host = "127.0.0.1", port = port }
  same({ none == nil, message, code }, { true,
    ("connect to %s failed: Connection refused (ECONNREFUSED)"):format(place), "ECONNREFUSED" })
end):wait()

-- A report has the message of an error table, and the code unless the message has it.
local heads = {}
loop.on_error = function(e)
  heads[#heads + 1] = e.traceback:match "^[^\n]*"
  return "continue"
end
for _, one in ipairs {
  { code = "E3", message = "no paper" }, { code = "E3", message = "E3: no paper" },
  { message = "no paper" },
} do
  loop:perform(error, one)
end
loop:run()
same(heads, { "no paper (E3)", "E3: no paper", "no paper" })
