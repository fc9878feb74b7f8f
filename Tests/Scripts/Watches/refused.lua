-- Wrong arguments, how a watch is described, and modes.
local ml = require "moonloop"
local loop = ml.current()

local function nothing() end
local function mistake(text, options)
  local ok, message = pcall(loop.watch, loop, options)
  assert(not ok and message:gsub(" %(%S+:%d+%)", ""):find(text, 1, true), message)
end
mistake("takes a table of options", "file")
mistake("the path, the first element of the table, must be a string, got nothing", {})
mistake("must be a string, got \"\"", { "", nothing })
mistake("the handler, the second element of the table, must be a function", { "x" })
mistake("unknown option 'recursiv'; did you mean 'recursive'?", { "x", nothing, recursiv = true })
mistake("unknown option 'path'; the path is the first element: { \"app.lua\", function",
  { path = "x" })
mistake("unknown option 'watch'; the path is the first element", { watch = "x", nothing })
mistake("'debounce' must be seconds", { "x", nothing, debounce = -1 })

local path = os.tmpname()
local count = 0
local watch = loop:watch { path, modes = "private", debounce = 0, name = "one",
  function() count = count + 1 end }
assert(loop:dump():find("watch  one   private", 1, true), loop:dump())
assert(loop:why(watch):find("private", 1, true), loop:why(watch))
io.open(path, "w"):write("x"):close()
ml.sleep(1)
assert(count == 0)
while count == 0 do loop:run { mode = "private", timeout = 0 } end
assert(count == 1, count)
loop:add(watch, "default")
loop:remove(watch, "private")
io.open(path, "w"):write("xx"):close()
while count == 1 do ml.sleep(0) end
assert(loop:why(watch):find("nothing has changed since the last report", 1, true), loop:why(watch))

-- Closed from inside; another one goes on.
local other <close> = loop:watch { path, debounce = 0, function(w) w:invalidate() end }
watch:invalidate()
os.remove(path)
while other:is_valid() do ml.sleep(0) end
