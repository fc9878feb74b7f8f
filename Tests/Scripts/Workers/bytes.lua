-- A worker's source is what its owner has written, byte for byte.
local ml = require "moonloop"
local loop = ml.current()

loop:task(function()
  local worker <close> = ml.worker { source = "return '\xff\xfe', #'\xff\xfe', ...", args = "\xfd" }
  local bytes, count, back = worker:await()
  assert(bytes == "\xff\xfe" and count == 2 and back == "\xfd")
end):wait { mode = "default" }

-- So are its errors: raised by await, and told to handlers.
local function raising(text)
  return {
    ("error(%q, 0)"):format(text),
    ("error(setmetatable({}, { __tostring = function() return %q end }))"):format(text),
    ("error { message = %q }"):format(text),
  }
end

local function check(text, source)
  local seen = {}
  local function hear(e)
    seen[#seen + 1] = e
    return "continue"
  end
  loop:perform(assert(load(source)))
  loop.on_error = hear
  loop:timer { first = 0, on_error = hear, assert(load(source)) }
  loop:task({ on_error = hear }, assert(load(source)))
  local first = ml.worker { source = source, on_error = hear }
  ml.worker { on_error = hear, source =
    ("require('moonloop').current():after(0, function() %s end)"):format(source) }
  assert(loop:run() == "finished" and not first:is_valid())
  loop.on_error = nil
  assert(#seen == 5)
  for _, e in ipairs(seen) do
    assert(e.message == text and e.traceback:find("\nstack traceback:", 1, true))
    assert(#text > 4096 or e.traceback:find(text, 1, true) == 1)
  end
end

for _, text in ipairs { "a\xff\xfe\0b\xc3\27[m", "\xff" .. ("x"):rep(5000) } do
  loop:task(function()
    local worker <close> = ml.worker { source = raising(text)[1] }
    local ok, raised = pcall(worker.await, worker)
    assert(not ok and raised == text)
  end):wait { mode = "default" }
  for _, source in ipairs(raising(text)) do check(text, source) end
end
