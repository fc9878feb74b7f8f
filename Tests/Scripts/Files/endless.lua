-- A file without an end is refused, by every way of reading.
local ml = require "moonloop"
local function refused(code, value, message, found)
  assert(value == nil and found == code, message)
end
ml.current():task(function()
  refused("EFBIG", ml.fs.read("/dev/zero", { limit = 1 << 20 }))
  refused("EFBIG", ml.worker { "/dev/zero" })
  refused("EFBIG", ml.guest { file = "/dev/zero" })
end):wait()
