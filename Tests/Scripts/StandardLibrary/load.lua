-- `load` with text, with readers and with mistakes: as in stock Lua 5.4.

assert(load("return 1 + 1")() == 2)
assert(load("x = 5; return x", "name", "t", {})() == 5 and x == nil)
local environment = {}
load("y = 1", "name", "t", environment)()
assert(environment.y == 1)

local function pieces(...)
  local list, i = { ... }, 0
  return function() i = i + 1; return list[i] end
end
assert(load(pieces("ret", "urn ", "4", "2"))() == 42)
assert(load(pieces("return 1", "", "2"))() == 1)
assert(load(function() end)() == nil)

local function fails(message, ...)
  local f, err = load(...)
  assert(f == nil and err:find(message, 1, true), tostring(err))
end
fails('[string "x x..."]:1: syntax error near', "x x\ny")
fails("name:2: ", "\nx x", "=name")
fails("attempt to load a text chunk (mode is 'b')", "x = 1", "x", "b")
fails("attempt to load a binary chunk (mode is 't')", "\27Lua", "x", "t")
fails("reader function must return a string", function() return {} end)
fails("boom", function() error("boom") end)
fails("(load):1:", pieces("x x"))
local value = {}
local _, f, err = pcall(load, function() error(value) end)
assert(f == nil and err == value)
assert(not pcall(load, {}))

-- A text longer than the parser gets at once, cut in the middle of a string.
local long = "return '" .. ("a"):rep(100000) .. "'"
assert(#load(long)() == 100000)
