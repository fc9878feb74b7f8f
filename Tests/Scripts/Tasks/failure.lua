-- Where a failure goes: to an awaiter, else the handle's handler, else the loop's (D24, D54, D57).
local ml = require "moonloop"
local loop = ml.current()

local heard = {}
loop.on_error = function(e) heard[#heard + 1] = e; return "continue" end
local function messages(expected)
  local found = {}
  for i, e in ipairs(heard) do found[i] = e.message end
  heard = {}
  same(found, expected)
end
local function failing(message) return function() error(message, 0) end end

-- Awaited by then: only the awaiter gets it, by `await` and by `wait`.
local task = loop:task(failing "awaited")
same({ pcall(task.await, task) }, { false, "awaited" })
task = loop:task(failing "waited for")
same({ pcall(task.wait, task) }, { false, "waited for" })
ml.sleep(1)
messages {}

-- Not awaited: reported in the next pass, and raised again for each later awaiter.
task = loop:task({ name = "alone" }, failing "alone")
ml.sleep(1)
assert(heard[1].handle:find "^task 'alone' %(made at .*failure.lua:%d+%)$", heard[1].handle)
messages { "alone" }
same({ pcall(task.await, task) }, { false, "alone" })

-- A detached task is reported at once; so is one whose handle is gone.
loop:task({ owner = "none" }, failing "detached")
ml.sleep(1)
messages { "detached" }

-- The task's own handler comes first.
local own
task = loop:task({ on_error = function(e) own = e.message; return "continue" end }, failing "own")
ml.sleep(1)
same({ own, task.on_error ~= nil }, { "own", true })
messages {}

-- A cancelled task is not a failure; one that fails while it is cancelled is.
task = loop:task(function() ml.sleep(10) end)
ml.sleep(0)
task:cancel()
ml.sleep(0)
same(task.status, "cancelled")
task = loop:task(function() pcall(ml.sleep, 10); error("clean-up failed", 0) end)
ml.sleep(0)
task:cancel()
ml.sleep(1)
same(task.status, "failed")
messages { "clean-up failed" }

-- An error in `__close` is reported if the task was cancelled; otherwise it replaces the error.
task = loop:task(function()
  local x <close> = setmetatable({}, { __close = function() error("close failed", 0) end })
  ml.sleep(10)
end)
ml.sleep(0)
task:cancel()
ml.sleep(1)
messages { "close failed" }

-- A failing error handler is reported to stderr, and not called again for that.
loop.on_error = nil
loop:task({
  owner = "none",
  on_error = function() error "the handler fails too" end,
}, failing "with a failing handler")
