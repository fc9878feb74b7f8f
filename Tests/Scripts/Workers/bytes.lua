-- A worker's source is what its owner has written, byte for byte.
local ml = require "moonloop"
local loop = ml.current()

loop:task(function()
  local worker <close> = ml.worker { source = "return '\xff\xfe', #'\xff\xfe', ...", args = "\xfd" }
  local bytes, count, back = worker:await()
  assert(bytes == "\xff\xfe" and count == 2 and back == "\xfd")
end):wait { mode = "default" }
