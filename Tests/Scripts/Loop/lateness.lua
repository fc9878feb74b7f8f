-- What a loop pays to be on time; the values are checked, and kept to the nanosecond.
local ml = require "moonloop"
local loop = ml.current()
local slack = loop.timer_slack
assert(loop.spin == 0)
loop.timer_slack, loop.spin = 2e-6, 1e-4
assert(loop.timer_slack == 2e-6 and loop.spin == 1e-4)
loop.timer_slack = 0  -- the least that there is
assert(loop.timer_slack == 1e-9)
loop.timer_slack, loop.spin = slack, 0
for _, case in ipairs {
  { function() loop.spin = -1 end, "loop.spin: the value must be seconds, a number >= 0, got -1" },
  { function() loop.timer_slack = "1us" end,
    'loop.timer_slack: the value must be seconds, a number >= 0, got "1us"' },
  { function() loop.timer_slack = math.huge end, "loop.timer_slack: must be at most 1 s, got inf" },
} do
  local ok, message = pcall(case[1])
  assert(not ok and message:find(case[2], 1, true) == 1, message)
end
local said = {}
local guest = ml.guest {
  text = [[
    local loop = require "moonloop".current()
    for _, name in ipairs { "spin", "timer_slack" } do
      print(select(2, pcall(function() loop[name] = 1 end)))
    end
  ]],
  on_output = function(_, text) said[#said + 1] = text end,
}
loop:run { timeout = 1 }
guest:stop()
said = table.concat(said)
assert(select(2, said:gsub("this guest may not do that", "")) == 2, said)
assert(loop.timer_slack == slack and loop.spin == 0)

-- It is the loop's: a program that it starts sleeps as before.
loop.timer_slack = 1
local done = loop:task(function()
  return ml.process.run { "cat", "/proc/self/timerslack_ns" }
end)
done:wait { mode = "default" }
assert(tonumber(done:await().stdout) < 1000000000)
