-- The value of a stop: of several the first counts, and a stop without a run leaves none behind.
local ml = require "moonloop"
local loop = ml.current()

local function same(actual, ...)
  local expected = table.pack(...)
  for index = 1, expected.n do assert(actual[index] == expected[index], tostring(actual[index])) end
end

loop:after(1, function()
  assert(loop:stop())
  assert(loop:stop "first")
  assert(loop:stop "second")
end)
same({ loop:run() }, "stopped", "first", true)

loop:after(1, function() end)
local late = loop:observer {
  on = "exit", repeats = false,
  function() assert(not loop:stop "too late") end,
}
same({ loop:run { timeout = 2 } }, "finished", nil, false)
assert(not late:is_valid())

-- A remembered stop applies to the next run, even a nested one.
assert(not loop:stop "nobody runs")
loop:stop_when_next_looking "one"
loop:stop_when_next_looking "two"
loop:after(1, function() end)
same({ loop:run() }, "stopped", "one", true)

loop:after(0, function()
  loop:after(0, function() loop:stop { inner = true } end)
  local result, value = loop:run()
  assert(result == "stopped" and value.inner)
  loop:stop "outer"
end)
same({ loop:run() }, "stopped", "outer", true)
assert(loop:run() == "finished")
