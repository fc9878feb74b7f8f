-- The events of a stream (R67): open first, more bytes only after a read, the end last and once.
local ml = require "moonloop"
local loop = ml.current()
local from, to = pipe()
local trace = {}
local function passes()   -- until_handled: each event is a source, one a run
  while loop:run { until_handled = true, timeout = 0 } == "handled_source" do end
end
local stream = ml.stream { fd = from, write = false }
local reads = false
stream:on(function(stream, event, ...)
  trace[#trace + 1] = event
  if event == "has_bytes" and reads then trace[#trace + 1] = stream:read_some(1) end
  if event == "end" then stream:close() end
end)
assert(#trace == 0)
write(to, "ab")
passes()
trace[#trace + 1] = "-"
passes()
assert(table.concat(trace, " ") == "open_completed has_bytes -", table.concat(trace, " "))
reads = true
trace[#trace + 1] = stream:read_some(1)
passes()
close(to)
passes()
assert(table.concat(trace, " ") == "open_completed has_bytes - a has_bytes b end",
  table.concat(trace, " "))

-- A handler may wait, and gets no event meanwhile; a writer gets another space event after a write.
local from, to = pipe()
local out, trace = ml.stream { fd = to, read = false }, {}
out:on(function(out, event)
  trace[#trace + 1] = event
  if event == "has_space" and #trace < 4 then
    out:write "x"
    ml.sleep(1)
    trace[#trace + 1] = "slept"
  end
end)
loop:after(10, function() out:close() end)
assert(loop:run() == "finished")
assert(table.concat(trace, " ") == "open_completed has_space slept has_space",
  table.concat(trace, " "))
close(from)

-- For the end alone: bytes come to the task that reads, what it leaves also after the end.
local from, to = pipe()
local trace = {}
local stream = ml.stream { fd = from, write = false }
assert(stream:on(function(_, event) trace[#trace + 1] = event end, "end") == stream)
loop:task(function()
  trace[#trace + 1] = stream:read "l"
  ml.sleep(2)
  trace[#trace + 1] = stream:read "l"
  for _ = 1, 3 do ml.sleep(1) end
  trace[#trace + 1] = "over"
  stream:close()
end)
loop:after(1, function() write(to, "a\nb\n") end)
loop:after(2, function() close(to) end)
assert(loop:run() == "finished")
assert(table.concat(trace, " ") == "a end b over", table.concat(trace, " "))

-- It keeps no stream open that no task uses any more; and a second handler takes its place.
local server = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
  stream:on(function() end, "end")
end })
loop:task(function()
  local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = server.port })
  assert(stream:read "a" == "")
  stream:on(function() error "replaced" end, "end"):on(nil)
  server:invalidate()
end)
assert(loop:run() == "finished")
local from, to = pipe()
close(to)
local _, problem = pcall(function()
  local stream <close> = ml.stream { fd = from, write = false }
  stream:on(print, "open")
end)
assert(problem:find('the events must be "end", got "open"', 1, true), problem)
