-- ml.inspect shows any value as text, in bounded time and without running what it shows.
local ml = require "moonloop"
local inspect = ml.inspect

local function is(expected, value, options)
  local text = inspect(value, options)
  assert(text == expected, ("%s, expected %s"):format(text, expected))
end

is("nil", nil)
is("{}", {})
is('"a\\t\\"b\\""', 'a\9"b"')
is("[[\na\nb]]", "a\nb")
is('{ 1, 2.0, "x", a = true, ["b c"] = {} }', { 1, 2.0, "x", a = true, ["b c"] = {} })
is("function (built in)", next)
assert(inspect(is):find "^function %(.*inspect%.lua:%d+%)$")
local ring = { name = "ring" }
ring.next = { ring }
is('{ name = "ring", next = { (this table again) } }', ring)
is('{ (this table again), "x" }', (function(t) t[1], t[2] = t, "x" return t end) {})

-- Depth, elements, width and lines can be set.
is("{ { { { { {...} } } } } }", { { { { { { 1 } } } } } })
is("{ {...} }", { { 1 } }, { depth = 1 })
is("{ 1, 2, ... 8 more }", { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, { items = 2 })
is('{\n  { "a long text, twice" },\n  { "a long text, twice" }\n}',
  { { "a long text, twice" }, { "a long text, twice" } }, { width = 40 })
is('"éé...', ("é"):rep(20), { one_line = true, width = 6 })
is("{ { {...} } }", { { { 1 } } }, { one_line = true })
is("module 'string'", string, { one_line = true })

-- Tables that hold each other many times do not make it endless.
local many = { 1 }
for _ = 1, 40 do many = { many, many } end
assert(#inspect(many, { depth = 50 }) < 4000000)

-- Only `__tostring` runs script code, and its failure is shown.
is("{ 1 }", setmetatable({ 1 }, { __index = error, __len = error, __pairs = error }))
is("a handle", setmetatable({}, { __tostring = function() return "a handle" end }))
is("(table whose __tostring fails: no)",
  setmetatable({}, { __tostring = function() error("no", 0) end }))

-- The modules that are made when they are first asked for are there, too.
for _, name in ipairs { "fs", "http", "json", "log" } do
  assert(inspect(ml):find(" " .. name .. " = "), name)
end

for _, options in ipairs { 1, { dept = 1 }, { depth = 1.5 }, { one_line = 1 } } do
  local ok, problem = pcall(inspect, 1, options)
  assert(not ok and problem:find "^ml.inspect: ", problem)
end
