-- What is JSON (RFC 8259) is decoded, anything else rejected: the kinds of cases of JSONTestSuite.
local json = require "moonloop.json"

local NULL = {}

-- Values in one text, with different kinds of numbers kept apart.
local function text(value)
  if value == NULL then return "null" end
  if type(value) == "string" then return ("%q"):format(value) end
  if math.type(value) == "float" then return ("%.17g"):format(value) .. "f" end
  if type(value) ~= "table" then return tostring(value) end
  local names, parts = {}, {}
  for name in pairs(value) do names[#names + 1] = name end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  for place, name in ipairs(names) do parts[place] = tostring(name) .. "=" .. text(value[name]) end
  return "{" .. table.concat(parts, ",") .. "}"
end

local ACCEPTED = {
  ["[]"] = "{}", ["{}"] = "{}", [" [ ] "] = "{}", ["\t{\r\n}\n"] = "{}",
  ["null"] = "null", ["true"] = "true", [" false "] = "false", ['""'] = '""',
  ["[1,2]"] = "{1=1,2=2}", ["[1 , [ 2 ] ]"] = "{1=1,2={1=2}}",
  ["[null,1,null]"] = "{1=null,2=1,3=null}",
  ['{"a":1}'] = "{a=1}", ['{"":0}'] = "{=0}", ['{"a" : {"b":[]}}'] = "{a={b={}}}",
  ['{"a":1,"a":2}'] = "{a=2}", ['{"a\\u0000b":1}'] = "{a\0b=1}",
  ["0"] = "0", ["-1"] = "-1", ["42"] = "42", ["-0"] = "-0f", ["0.0"] = "0f", ["1.0"] = "1f",
  ["-0.5"] = "-0.5f", ["1e2"] = "100f", ["1E+2"] = "100f", ["25e-1"] = "2.5f", ["0e1"] = "0f",
  ["0e+1"] = "0f", ["1.5e3"] = "1500f", ["1e-400"] = "0f",
  ["9223372036854775807"] = "9223372036854775807", ["-9223372036854775808"] =
    "-9223372036854775808",
  ["9223372036854775808"] = "9.2233720368547758e+18f",
  ["-123456789012345678901"] = "-1.2345678901234568e+20f",
  ['"a\\"\\\\\\/\\b\\f\\n\\r\\t"'] = '"a\\"\\\\/\\8\\12\\\n\\13\\9"',
  ['"\\u0041\\u00e9\\u20AC"'] = '"Aé€"', ['"\\ud834\\udd1e"'] = '"𝄞"',
  ['"\\uDBFF\\uDFFF"'] = '"\u{10FFFF}"', ['"é€𝄞"'] = '"é€𝄞"', ['"\127"'] = '"\\127"',
  ['"\u{2028}"'] = '"\u{2028}"', ['"a\\u0000"'] = '"a\\0"', ['"\\\\u0041"'] = '"\\\\u0041"',
}
for source, expected in pairs(ACCEPTED) do
  local value, problem = json.decode(source, { null = NULL })
  assert(not problem and text(value) == expected,
    ("%q: %s, expected %s"):format(source, problem or text(value), expected))
end

local REJECTED = {
  "", " ", "[", "]", "{", "}", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1,,2]", "[1 2]", "[1}", "[1]]",
  "[1]x", "[]{}", "1 2", "[\"a\"", "[\"a", "[[]", "[1:2]", "[a]", "[*]", "[ \f]",
  "\v1", "\u{a0}1",
  "[\u{2060}]", "\u{feff}{}", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}",
  "{\"a\" 1}", "{\"a\",1}", "{\"a\"::1}", "{,\"a\":1}", "{\"a\":1,,\"b\":2}", "{a:1}", "{'a':1}",
  "{1:1}", "{null:1}", "{[1]:1}", "{\"a\":1]", "{\"a\":1}}", "{\"a\":1}#", "{\"a\":1 \"b\":2}",
  "nul", "nulll", "Null", "True", "TRUE", "tru", "truee", "falsy", "undefined", "NaN", "nan",
  "-NaN",
  "Infinity", "-Infinity", "inf", "01", "-01", "00", "1.", "-1.", ".5", "-.5", "1.e1", "1e", "1e+",
  "1E-", "1eE2", "1e1.5", "+1", "++1", "--1", "-", "- 1", "0x10", "1_000", "1a", "1.2.3", "1-2",
  "0e", "1e400", "-1e400", "٣", "\"", "\"a", "\"a\\", "\"a\\\"", "'a'", "a", "\"\\a\"", "\"\\x41\"",
  "\"\\'\"", "\"\\0\"", "\"\\\t\"", "\"\\u\"", "\"\\u12\"", "\"\\u123\"", "\"\\u12g4\"",
  "\"\\U0041\"",
  "\"\\u 041\"", "\"\\u+041\"", "\"\0\"", "\"\t\"", "\"\n\"", "\"a\31\"", "\"\\ud834\"",
  "\"\\udd1e\"", "\"\\ud834\\u0041\"", "\"\\ud834x\"", "\"\\ud834\\ud834\"", "\"\\udd1e\\ud834\"",
  "\"\xff\"", "\"\xc3\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\xff", "\0",
  "[1]\0", "// c\n1", "/**/1", "1//", "[1/**/]", "<null>", "\"a\" \"b\"", "[\"a\":1]",
  "[\"a\",\n4\n,1,",
}
for _, source in ipairs(REJECTED) do
  local value, problem = json.decode(source)
  assert(value == nil and problem and problem:find "^json:%d+:%d+: ",
    ("%q: %s"):format(source, problem or text(value)))
end

-- A message gives the place, in lines and columns.
local function problem_of(source, options) return select(2, json.decode(source, options)) end
assert(problem_of '{"a": tru}' == "json:1:7: a value expected")
assert(problem_of '[1,\n  2\n  3]' == "json:3:3: ',' or ']' expected")
assert(problem_of '[1]\n{}' == "json:2:1: more text follows the value")
assert(problem_of '"a\\ud834"' == "json:1:5: half of a surrogate pair")
-- Also after a long line, at once.
assert(problem_of('"' .. ("x"):rep(1 << 19) .. '"\n ]') == "json:2:2: more text follows the value")

-- By default null is nil: no field, or a gap in a list whose other elements keep their places.
local plain = json.decode '{"a":null,"b":[1,null,3]}'
assert(plain.a == nil and plain.b[1] == 1 and plain.b[2] == nil and plain.b[3] == 3)

-- Depth and size have limits.
local function nested(depth) return ("["):rep(depth) .. ("]"):rep(depth) end
assert(json.decode(nested(200)))
assert(problem_of(nested(201)) == "json:1:201: nested more than 200 deep")
assert(problem_of(("["):rep(100000)) == "json:1:201: nested more than 200 deep")
assert(problem_of(('{"a":'):rep(100000)):find "nested more than 200 deep")
assert(json.decode(nested(3), { max_depth = 3 }))
assert(problem_of(nested(4), { max_depth = 3 }) == "json:1:4: nested more than 3 deep")
assert(json.decode("[10]", { max_size = 4 }))
assert(problem_of("[100]", { max_size = 4 }) == "json:1:5: longer than 4 bytes")
assert(#json.decode('"' .. ("x"):rep(1 << 20) .. '"') == 1 << 20)

-- An error has a code; script mistakes are raised.
assert(select(3, json.decode "{") == "EBADMSG")
for _, given in ipairs { { 1 }, { "1", 1 }, { "1", { nul = 1 } }, { "1", { max_depth = 1.5 } },
  { "1", { max_size = -1 } }, { "1", { max_size = 0 } }, { "1", { max_depth = 10001 } } } do
  assert(not pcall(json.decode, given[1], given[2]), given[1])
end

-- The place of a mistake is found at once, however long the line before it.
do
  local _, problem = json.decode('"' .. ("\\u0041"):rep(400000))
  assert(problem == "json:1:2400002: the string does not end", problem)
end
