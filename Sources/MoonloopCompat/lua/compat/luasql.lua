-- LuaSQL as it is, in a program. Its drivers are in C and wait for their server inside of a call,
-- where nothing can suspend them; the first such call of each kind is reported. SQLite has no
-- server, and mostly waits for nothing.
local report = require "moonloop.compat.socket.report"
local stock = require "moonloop.compat.socket.stock"
local waiting = require "moonloop.compat.socket.waiting"

local luasql = {}

local HINT = "; in a worker (ml.worker) the loop goes on meanwhile"
-- The methods that wait, by the ends of the names of their classes.
local METHODS = { environment = { "connect" }, connection = { "execute", "commit", "rollback" } }

local watched = {}

local function watch(class, name, method)
  local original = class[method]
  if not original then return end
  class[method] = function(...)
    report(name .. ":" .. method, HINT)
    return waiting.original(":" .. method, original, ...)
  end
end

--- Loads a driver, and watches it.
function luasql.open(name)
  local driver = stock.load(name)
  for class_name, class in pairs(debug.getregistry()) do
    local kind = type(class_name) == "string" and class_name:match "^%a+ (%l+)$"
    if METHODS[kind] and not watched[class_name] and not class_name:find "^SQLite" then
      watched[class_name] = true
      for _, method in ipairs(METHODS[kind]) do watch(class.__index, class_name, method) end
    end
  end
  return driver
end

return luasql
