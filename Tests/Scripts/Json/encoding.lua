-- What is written is JSON on one line, and reads as the same value; what has no form is an error.
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
is('"Ã©ÿ"', "é\xff")  -- not UTF-8: each byte is a character
is("[-9223372036854775808,9223372036854775807]", { math.mininteger, math.maxinteger })
is("[0.1,1e+100,-0.0,1e-07,0.30000000000000004]", { 0.1, 1e100, -0.0, 1e-7, 0.1 + 0.2 })
is("[null,null,null]", { 1 / 0, -1 / 0, 0 / 0 })
is('[1,1.5,0.000001,100,3]', { 1, 1.5, 1e-6, 100.0, 2.99999999 }, { decimals = 6 })

-- The same again: texts, and numbers of their kind.
for _, value in ipairs { 0, -1, 1.0, -0.0, 0.1, 1e300, 5e-324, math.pi, 2 ^ 53, "",
  "a\0\n\u{10FFFF}" } do
  local again = assert(json.decode(json.encode(value)))
  assert(again == value and math.type(again) == math.type(value), value)
  assert(1 / (tonumber(value) or 1) == 1 / (tonumber(again) or 1))
end

local circle = { 1 }
circle[2] = { circle }
local function fails(expected, value)
  local ok, problem = pcall(json.encode, value)
  assert(not ok and problem == expected, problem)
end
fails("json: a function has no JSON form", print)
fails("json: a userdata has no JSON form", { io.stdout })
fails("json: a key: a boolean has no JSON form", { [true] = 1 })
fails("json: a cycle has no JSON form", circle)

-- For people who look into a program: anything has a form.
local bad = setmetatable({}, { __tostring = error, __index = error, __len = error })
is('[1,["(a cycle)"]]', circle, { is_lenient = true })
is('{"true":1}', { [true] = 1 }, { is_lenient = true })
is("[[]]", { bad }, { is_lenient = true })
assert(json.encode({ print }, { is_lenient = true }):find '^%["function: ')
-- The same table twice is no cycle.
local shared = { 1 }
is("[[1],[1]]", { shared, shared })
