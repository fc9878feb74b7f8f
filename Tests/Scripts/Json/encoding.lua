-- Output is JSON on one line that decodes to the same value; a value without JSON form is an error.
local json = require "moonloop.json"

local function is(expected, value, options)
  local text = json.encode(value, options)
  assert(text == expected, ("%s, expected %s"):format(text, expected))
end

is("null", nil)
is("[]", {})
is("[1,2.0,[true,false]]", { 1, 2.0, { true, false } })
is('{"a":{"b":[]},"c":"x"}', { c = "x", a = { b = {} } })
is('{"10":"b","9":"a"}', { [9] = "a", [10] = "b" })
is('"\\u0000\\u001f\\"\\\\\\b\\f\\n\\r\\t\\u007fé€𝄞/"', '\0\31"\\\b\f\n\r\t\127é€𝄞/')
is('"Ã©ÿ"', "é\xff", { is_lenient = true })  -- not UTF-8: each byte is a character
is("[-9223372036854775808,9223372036854775807]", { math.mininteger, math.maxinteger })
is("[0.1,1e+100,-0.0,1e-07,0.30000000000000004]", { 0.1, 1e100, -0.0, 1e-7, 0.1 + 0.2 })
is("[null,null,null]", { 1 / 0, -1 / 0, 0 / 0 })
is('[1,1.5,0.000001,100,3]', { 1, 1.5, 1e-6, 100.0, 2.99999999 }, { decimals = 6 })

-- A locale with a decimal comma, where one is installed, changes nothing.
local before = os.setlocale(nil)
for _, name in ipairs { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C" } do
  if os.setlocale(name) then break end
end
is("[1.25,1e-07,2.0]", { 1.25, 1e-7, 2.0 })
is("[1.5]", { 1.5 }, { decimals = 1 })
assert(json.decode("[1.25]")[1] == 1.25)
os.setlocale(before)

-- Round trips: strings, and numbers of either kind.
for _, value in ipairs { 0, -1, 1.0, -0.0, 0.1, 1e300, 5e-324, math.pi, 2 ^ 53, "",
  "a\0\n\u{10FFFF}" } do
  local again = assert(json.decode(json.encode(value)))
  assert(again == value and math.type(again) == math.type(value), value)
  assert(1 / (tonumber(value) or 1) == 1 / (tonumber(again) or 1))
end

local circle = { 1 }
circle[2] = { circle }
local function fails(expected, value, options)
  local ok, problem = pcall(json.encode, value, options)
  problem = problem:gsub(" %(%S*encoding.lua:%d+%)", "")
  assert(not ok and problem == "ml.json.encode: " .. expected, problem)
end
fails("a function has no JSON form", print)
fails("a userdata has no JSON form, at [1]", { io.stdout })
fails("a key: a boolean has no JSON form, at .a[2][true]", { a = { 1, { [true] = 1 } } })
fails("a string that is not UTF-8 has no JSON form, at .a", { a = "\xff" })
fails("a cycle has no JSON form, at [2][1]", circle)
fails("a list has the key 'x' as well; ml.json.object(t) makes an object of it", { 1, x = 2 })
fails("a list has the key '0' as well, at [\"a b\"]; ml.json.object(t) makes an object of it",
  { ["a b"] = { 1, [0] = 2 } })
fails("a list has a gap before [100]; ml.json.null fills one", { 1, [100] = 2 })

-- Mistakes are raised at the caller's line.
local function mistake(expected, ...)
  local given = table.pack(...)
  local ok, problem = pcall(function() local _ = json.encode(table.unpack(given, 1, given.n)) end)
  expected = "ml.json.encode: " .. expected:gsub("HERE", "(Json/encoding.lua:59)")
  assert(not ok and problem == expected, problem)
end
mistake("unknown option 'prety' HERE; did you mean 'pretty'?", 1, { prety = true })
mistake("'pretty' must be a boolean, got 1 HERE", 1, { pretty = 1 })
mistake("takes a table of options, got 2 HERE", 1, 2)
mistake("a thread has no JSON form HERE", coroutine.create(print))

-- Gaps are null; null, and empty objects, are values.
is("[1,null,3]", { 1, nil, 3 })
is('[null,{"a":null}]', { json.null, { a = json.null } })
is('[{},[],{"1":2}]', { json.object(), {}, json.object { 2 } })
for _, text in ipairs { '{"a":{},"b":[{ }]}', '[null,{},[],[[]]]' } do
  is(text:gsub(" ", ""), json.decode(text, { null = json.null }))
end
is("[{}]", json.decode '[{"a":null}]')  -- an object without fields, too
is("[[]]", { setmetatable({}, { __eq = error }) })  -- no metamethod is called
assert(tostring(json.null) == "null" and not pcall(function() json.null.x = 1 end))

-- Each element on a line of its own.
is('{\n  "a": [\n    1,\n    {}\n  ],\n  "b": [],\n  "c": "x"\n}',
  { a = { 1, json.object() }, b = {}, c = "x" }, { pretty = true })

-- Nesting has a limit.
local function nested(depth)
  local value = {}
  for _ = 2, depth do value = { value } end
  return value
end
is(("["):rep(200) .. ("]"):rep(200), nested(200))
assert(select(2, pcall(json.encode, nested(201))):find "nested more than 200 deep, at %[1%]")
assert(select(2, pcall(json.encode, nested(10000))):find "nested more than 200 deep, at %[1%]")
is("[[]]", nested(2), { max_depth = 2 })
assert(not pcall(json.encode, nested(3), { max_depth = 2 }))
for _, depth in ipairs { 0, -1, 10001, 1e6 // 1 | 0 } do
  local ok, problem = pcall(json.encode, {}, { max_depth = depth })
  assert(not ok and problem:find "^ml.json.encode: 'max_depth' must be from 1 to 10000", problem)
end
assert(#json.encode(nested(10000), { max_depth = 10000 }) == 20000)

-- A text that gets too long is refused before it is made: this one has 2^60 leaves.
local doubled = { "x" }
for _ = 1, 60 do doubled = { doubled, doubled } end
fails("longer than 1000 bytes", doubled, { max_size = 1000 })
fails("longer than 4 bytes", { a = 1 }, { max_size = 4 })
is('{"a":1}', { a = 1 }, { max_size = 7 })

-- For inspecting a program: any value has a form.
is('{"1":1,"x":2}', { 1, x = 2 }, { is_lenient = true })
is('[["(nested too deep)"]]', nested(3), { is_lenient = true, max_depth = 2 })
local bad = setmetatable({}, { __tostring = error, __index = error, __len = error })
is('[1,["(a cycle)"]]', circle, { is_lenient = true })
is('{"true":1}', { [true] = 1 }, { is_lenient = true })
is("[[]]", { bad }, { is_lenient = true })
assert(json.encode({ print }, { is_lenient = true }):find '^%["function: ')
-- The same table twice is not a cycle.
local shared = { 1 }
is("[[1],[1]]", { shared, shared })

-- A number as a key is a name; two keys must not have the same one.
is('{"0":1,"7":"a"}', { [0] = 1, [7] = "a" })
fails('a key both as a number and as "2", at [2]', { [2] = "x", ["2"] = "y" })
fails('a key both as a number and as "0.5", at .a[0.5]', { a = { [0.5] = 1, ["0.5"] = 2 } })
is('{"2":"y","[2]":"x"}', { [2] = "x", ["2"] = "y" }, { is_lenient = true })
