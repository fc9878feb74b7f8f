-- A table a thousand levels deep goes over a port and back, and so does one that contains itself.
local ml = require "moonloop"
local loop = ml.current()
local worker = assert(ml.worker { source = [[
  local ml = require "moonloop"
  ml.parent:on("message", function(message, reply) reply(message) end)
]] })
loop:task(function()
  local deep, depth = {}, 1000
  for _ = 2, depth do deep = { deep } end
  local back = worker.port:request(deep)
  local count = 0
  while back do back = back[1]; count = count + 1 end
  assert(count == depth, count)
  local ring = {}
  ring.next = { next = ring }
  local copy = worker.port:request(ring)
  assert(copy.next.next == copy and copy ~= ring)
  worker:stop()
end):wait { mode = "default" }
