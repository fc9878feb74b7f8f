-- A child gets more of our descriptors, under its own numbers; error messages name what is wrong.
local ml = require "moonloop"
local from, to = pipe()

local child = assert(ml.process.spawn { "sh", "-c", "echo seven >&7; (echo bad >&5) 2>/dev/null",
  descriptors = { [7] = to } })
local ran = assert(ml.process.run { "sh", "-c", "true >&7 && echo open",
  descriptors = { [7] = to } })
assert(ran.stdout == "open\n", ran.stderr)
close(to)
local status = child:wait()
assert(status.code ~= 0, "5 is closed")
local said
ml.current():fd { fd = from, close = true, read = function(fd)
  said = fd:read "l"
  fd:invalidate()
end }
ml.current():run()
assert(said == "seven", said)

for _, case in ipairs {
  { { [2] = 1 }, "numbers go from 3 to 255, got 2" }, { { [256] = 1 }, "got 256" },
  { { x = 1 }, "numbers go from 3" }, { { [3] = "x" }, "the descriptor" },
  { 5, "must be a table" },
} do
  local ok, message = pcall(ml.process.spawn, { "true", descriptors = case[1] })
  assert(not ok and message:find(case[2], 1, true), message)
end
local made, message, code = ml.process.spawn { "true", descriptors = { [3] = 1 << 20 } }
assert(made == nil and code == "EBADF" and message:find "cannot run 'true'", message)
