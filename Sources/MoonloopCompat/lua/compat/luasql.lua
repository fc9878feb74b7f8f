-- LuaSQL in a program. Its drivers are in C and wait for their server inside a call, where
-- nothing can suspend them: with moonloop.compat.socket their connections have threads; without it
-- the first such call of each kind is reported. SQLite has no server, mostly waits for nothing, and
-- its statements end when a limit or the end of a worker stops the script.
local posix = require "moonloop.posix"
local report = require "moonloop.compat.socket.report"
local stock = require "moonloop.compat.socket.stock"
local waiting = require "moonloop.compat.socket.waiting"

local luasql = {}

local HINT = "; with require \"moonloop.compat.socket\" before it the loop goes on meanwhile"
-- The methods that wait, by the ends of the names of their classes.
local METHODS = { environment = { "connect" }, connection = { "execute", "commit", "rollback" },
  cursor = {} }

local watched = {}

local function watch(class, name, method)
  local original = class[method]
  if not original then return end
  class[method] = function(...)
    report(name .. ":" .. method, HINT)
    return waiting.original(":" .. method, original, ...)
  end
end

--- LuaSQL's classes, by name: their methods.
function luasql.classes()
  local found = {}
  for name, class in pairs(debug.getregistry()) do
    if type(name) == "string" and METHODS[name:match "^%w+ (%l+)$"] then
      found[name] = class.__index
    end
  end
  return found
end

--- Loads a driver, and puts its connections on threads or watches it.
function luasql.open(name)
  local driver = stock.load(name)
  local has_server = not name:find "sqlite"
  if not has_server then posix.stop_sqlite() end
  if has_server and package.loaded["moonloop.compat.socket"] then
    return require "moonloop.compat.luasql.threads"(name:match "^luasql%.(.*)", driver,
      luasql.classes())
  end
  for class, methods in pairs(luasql.classes()) do
    if has_server and not watched[class] and not class:find "^SQLite" then
      watched[class] = true
      for _, method in ipairs(METHODS[class:match "%l+$"]) do watch(methods, class, method) end
    end
  end
  return driver
end

return luasql
