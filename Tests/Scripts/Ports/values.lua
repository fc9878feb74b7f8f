-- Messages are copies: types, cycles and shared tables are kept (D34).
local ml = require "moonloop"
local loop = ml.current()
local got
local port = loop:port { name = "values", function(port, message, reply)
  got = table.pack(message)
  loop:stop()
end }
local function through(value)
  assert(port:send(value))
  assert(port.waiting == 1)
  assert(loop:run() == "stopped")
  return got[1]
end
local plain = { true, false, 0, -1, math.mininteger, 1.5, -0.0, 1e308, math.huge, "", "a\0b\xff" }
-- Short texts lie in the message, longer ones beside it.
for length = 14, 18 do plain[#plain + 1] = ("x"):rep(length - 1) .. "\0" end
plain[#plain + 1] = ("y"):rep(70000)
for _, value in ipairs(plain) do
  local copy = through(value)
  assert(copy == value and math.type(copy) == math.type(value), tostring(value))
end
assert(through(nil) == nil and got.n == 1)
local nan = through(0 / 0)
assert(nan ~= nan)
local shared = { 1 }
local message = { shared, shared, name = "x", [1.5] = true, [shared] = "key" }
message.self = message
local copy = through(message)
assert(copy ~= message and copy.self == copy and copy[1] == copy[2] and copy[1] ~= shared)
assert(copy[copy[1]] == "key" and copy[1.5] and copy.name == "x" and copy[1][1] == 1)
local deep = {}
for _ = 1, 100000 do deep = { deep } end
local depth, inner = 0, through(deep)
while inner[1] do depth, inner = depth + 1, inner[1] end
assert(depth == 100000)
assert(getmetatable(through(setmetatable({}, { __pairs = error, __index = error }))) == nil)
port:invalidate()
