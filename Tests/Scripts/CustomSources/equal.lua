-- Sources of one identity and order count as one (R143), and a source says what it is about (R144).
local ml = require "moonloop"
local loop = ml.current()
local trace = {}
local function make(name, identity, order)
  return ml.source {
    identity = identity, order = order,
    schedule = function(_, _, mode) trace[#trace + 1] = name .. "+" .. mode end,
    cancel = function(_, _, mode) trace[#trace + 1] = name .. "-" .. mode end,
    perform = function() trace[#trace + 1] = name end,
  }
end
local function expect(text)
  assert(table.concat(trace, " ") == text, table.concat(trace, " "))
  trace = {}
end

local a, b, c = make("a", "jobs"), make("b", "jobs"), make("c", "jobs", 1)
for _, one in ipairs { a, b, c } do loop:add(one) end
assert(loop:contains(b) and #b:modes() == 0)
for _, one in ipairs { a, b, c } do one:signal() end
loop:run { timeout = 0 }
expect "a+default c+default a c"
loop:remove(b)
assert(not loop:contains(a))
loop:add(b)
loop:run { timeout = 0 }
expect "a-default b+default b"
-- The loop kept the source that it took, and keeps it no longer.
b:invalidate() c:invalidate()
a = nil
collectgarbage() collectgarbage()
assert(not loop:dump():find "jobs")
assert(not pcall(ml.source, { identity = {}, perform = print }))

-- A number is an identity too, and the integer is the float.
local one, same = loop:source { identity = 1, print }, loop:source { identity = 1.0, print }
local word <close> = loop:source { identity = "1", print }
assert(#one:modes() == 1 and #same:modes() == 0 and #word:modes() == 1)
one:invalidate() same:invalidate()

local jobs = 3
local described = loop:source { name = "described", describe = function(source)
  assert(source.name == "described")
  return jobs .. " jobs\nwait"
end, print }
assert(loop:dump():find "idle, 3 jobs wait")
jobs = 4
described:signal()
assert(loop:dump():find "signalled, 4 jobs wait")
described:invalidate()

-- A description that fails or waits is reported, and the dump goes on.
local reported = {}
loop.on_error = function(e) reported[#reported + 1] = e.message end
local bad <close> = loop:source { describe = function() error("no luck", 0) end, print }
local slow <close> = loop:source { describe = function() ml.sleep(1) end, print }
assert(loop:dump():find "idle")
assert(reported[1] == "no luck" and reported[2] == "'describe' waits; it must return at once")
loop.on_error = nil
