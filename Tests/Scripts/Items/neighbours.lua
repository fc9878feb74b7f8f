-- A wrong name is answered with the right one.
local ml = require "moonloop"
local loop = ml.current()

local function same(actual, expected)
  for key = 1, math.max(#actual, #expected) do
    local one, other = tostring(actual[key]), tostring(expected[key])
    assert(one == other, ("%s is not %s"):format(one, other))
  end
end

local function message(fn, ...)
  local ok, text = pcall(fn, ...)
  assert(not ok, "it went well")
  return text
end
local function says(text, fn, ...)
  local found = message(fn, ...)
  assert(found:find(text, 1, true), found)
end

-- A field that the module does not have.
says("did you mean 'sleep'?", function() ml.slep(1) end)
says("the loop of this thread is ml.current()", function() ml.loop() end)
says("the loop of this thread is ml.current()", function() ml.lop() end)
says("loops have it: ml.current():every(…)", function() ml:every(1, print) end)
says("loops have it: ml.current().on_error", function() return ml.on_error end)
says("did you mean 'listen'?", function() ml.net.lisen {} end)
says("did you mean 'list'?", function() ml.fs.lists "." end)
says("did you mean 'serve'?", function() ml.http.server {} end)
says("did you mean 'encode'?", function() ml.json.encoder() end)
local _, count = message(function() ml.qqqqqqqq() end):gsub("%f[%w]http%f[%W]", "")
same({ count }, { 1 })
same({ ml[1] == nil, rawget(ml, "loop") == nil }, { true, true })

-- Names for ending a handle in other libraries.
local timer = loop:every(1, print)
local source = loop:source { perform = print }
for _, word in ipairs { "cancel", "stop", "close" } do
  says("did you mean 'invalidate'?", function() return timer[word](timer) end)
  says("did you mean 'invalidate'?", function() return source[word](source) end)
end
timer:invalidate()
source:invalidate()

-- 'handler', as in configurations, wherever the handler has no name.
local heard = {}
local function hear(word) return function() heard[#heard + 1] = word end end
local made = {
  loop:timer { first = 0, handler = hear "timer" },
  loop:observer { on = "exit", repeats = false, handler = hear "observer" },
  loop:watch { ".", handler = print },
}
loop:run { timeout = 0.01 }
table.sort(heard)
same(heard, { "observer", "timer" })
for _, one in ipairs(made) do one:invalidate() end
says("there are two handlers: an element without a name, and 'handler'",
  loop.timer, loop, { first = 0, handler = print, print })
says("the handler must be a function, got 5", loop.timer, loop, { first = 0, handler = 5 })
