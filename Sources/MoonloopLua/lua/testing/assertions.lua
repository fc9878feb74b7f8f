-- luassert in the runner: finds it, and makes it fail tests instead of raising errors.
local failure = require "moonloop.testing.failure"

local assertions = {}

local parts = {
  { "assert", "luassert" }, { "spy", "luassert.spy" }, { "stub", "luassert.stub" },
  { "mock", "luassert.mock" }, { "match", "luassert.match" },
}

local missing = [[
the library luassert, whose asserts tests are written with, is not installed.
  Debian and Ubuntu: apt-get install lua-luassert
  LuaRocks:          luarocks install luassert
(%s)]]

--- Gives a function its own globals, in which `error` is `replacement`.
-- Functions of a chunk share their globals, and only this one must see another `error`.
local function replace_error(fn, replacement)
  for index = 1, 255 do
    local name, globals = debug.getupvalue(fn, index)
    if not name then return end
    if name == "_ENV" then
      local own = setmetatable({ error = replacement }, { __index = globals, __newindex = globals })
      debug.upvaluejoin(fn, index, function() return own end, 1)
      return
    end
  end
end

--- Loads luassert.
-- @return assert, spy, stub, mock and match by name; or nil and what to do
function assertions.load()
  local found = {}
  for _, part in ipairs(parts) do
    local ok, library = pcall(require, part[2])
    if not ok then return nil, missing:format((tostring(library):match("^[^\n]*"))) end
    found[part[1]] = library
  end
  replace_error(debug.getmetatable(found.assert).__call, failure.fail)
  replace_error(debug.getmetatable(found.assert.is_true).__call, failure.fail)
  return found
end

return assertions
