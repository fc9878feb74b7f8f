-- Errors: values of any type, levels, message handlers, tracebacks, errors in errors.
for _, value in ipairs { 1, 1.5, true, "text", print, {}, coroutine.create(print), io.stdout } do
  local ok, err = pcall(error, value)
  assert(not ok and rawequal(err, value))
  ok, err = coroutine.resume(coroutine.create(error), value)
  assert(not ok and rawequal(err, value))
  ok, err = xpcall(error, function(e) return e end, value)
  assert(not ok and rawequal(err, value))
  ok, err = pcall(coroutine.wrap(function() error(value, 0) end))
  assert(not ok and (rawequal(err, value) or type(value) == "string"))
end
local ok, err = pcall(error)
assert(ok == false and err == nil)
ok, err = pcall(error, nil)
assert(ok == false and err == nil)

local function at(level) error("here", level) end
local line = debug.getinfo(1, "l").currentline
ok, err = pcall(function() at(1) end)
assert(err:find(":" .. line - 1 .. ": here$"), err)
ok, err = pcall(function() at(2) end)
assert(err:find(":" .. line + 3 .. ": here$"), err)
ok, err = pcall(function() at(0) end)
assert(err == "here")

-- The interpreter's messages name the variable.
local t = {}
local function says(text, f, ...)
  local done, message = pcall(f, ...)
  assert(not done and message:find(text, 1, true), message)
end
says("attempt to index a nil value (field 'x')", function() return t.x.y end)
says("attempt to call a nil value (method 'nope')", function() return t:nope() end)
says("attempt to call a nil value (global 'undefined')", function() return undefined() end)
says("attempt to perform arithmetic on a table value (upvalue 't')", function() return t + 1 end)
says("attempt to compare number with string", function() return 1 < "x" end)
says("attempt to perform 'n%0'", function(n) return n % 0 end, 1)
says("number has no integer representation", function(n) return n | 1.5 end, 1)
says("(string expected, got no value)", string.rep)
says("number expected, got table", ("x").rep, "x", {})
says("(table expected, got number)", setmetatable, 1, {})
says("'for' step is zero", function() for _ = 1, 10, 0 do end end)

-- Message handlers.
local depth = 0
ok, err = xpcall(function() error "first" end, function(m)
  depth = depth + 1
  if depth < 3 then error "in the handler" end
  return "handled " .. depth
end)
assert(not ok and err == "handled 3", err)
ok, err = xpcall(function() error "x" end, function(m) error(m) end)
assert(not ok)  -- liblua ends it by an error of its own
local trace
ok, err = xpcall(function() local function inner() error "deep" end inner() end, debug.traceback)
assert(err:find("deep\nstack traceback:\n\t[C]: in function 'error'", 1, true), err)
assert(err:find("in local 'inner'", 1, true), err)
ok = { xpcall(function(...) return select("#", ...), ... end, print, nil, nil) }
assert(ok[1] == true and ok[2] == 2)

-- Endless recursion is an error like any other.
local function endless() return 1 + endless() end
ok, err = pcall(endless)
assert(not ok and err:find("stack overflow", 1, true))
local function endless_c() return (("x"):gsub("x", endless_c)) end
ok, err = pcall(endless_c)
assert(not ok and err:find("C stack overflow", 1, true), err)

-- assert and error objects with metatables.
local object = setmetatable({}, { __tostring = function() return "an object" end })
assert(select(2, pcall(assert, false, object)) == object)
assert(select(2, pcall(assert, nil)) == "assertion failed!")
assert(select(2, pcall(assert)):find("bad argument #1 to 'assert' (value expected)", 1, true))
assert(tostring(select(2, pcall(error, object))) == "an object")
