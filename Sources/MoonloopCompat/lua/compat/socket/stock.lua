-- LuaSocket as it is, in a program: `require "socket.core"` gets it from here. While one of its
-- calls waits, the whole loop does; the first of each kind is reported.
local names = require "moonloop.compat.socket.names"
local report = require "moonloop.compat.socket.report"
local waiting = require "moonloop.compat.socket.waiting"

local stock = {}

local HINT = "; with require \"moonloop.compat.socket\" the loop goes on meanwhile"
-- The methods that wait for others. What is sent seldom waits, and `connect` comes before it.
local METHODS = { "accept", "connect", "receive", "receivefrom" }
local CLASSES = { "tcp{master}", "tcp{client}", "tcp{server}", "udp{connected}",
  "udp{unconnected}" }

-- What was replaced: a table, a name, the function that was there.
local replaced = {}

local function replace(library, name, label, waits)
  local original = library[name]
  if not original then return end
  replaced[#replaced + 1] = { library, name, original }
  library[name] = function(...)
    if waits(...) then report(label, HINT) end
    return waiting.original(label:match ":%w+$" or name, original, ...)
  end
end

local function watch_methods(methods)
  local gettimeout = methods.gettimeout
  local function waits(socket)
    local ok, block, total = pcall(gettimeout, socket)
    return ok and block ~= 0 and total ~= 0
  end
  for _, name in ipairs(METHODS) do replace(methods, name, "socket:" .. name, waits) end
end

local function always() return true end

-- Numeric addresses need no lookup.
local function asks(host) return type(host) ~= "string" or not names.is_address(host) end

local function watch(core)
  for _, name in ipairs(CLASSES) do
    local class = debug.getregistry()[name]
    if class then watch_methods(class.__index) end
  end
  replace(core, "select", "socket.select", function(_, _, seconds) return seconds ~= 0 end)
  replace(core, "sleep", "socket.sleep", always)
  replace(core, "connect", "socket.connect", always)
  for name in pairs(core.dns) do
    if name ~= "gethostname" then replace(core.dns, name, "socket.dns." .. name, asks) end
  end
end

--- Loads a module in C, as Lua's own search finds it.
function stock.load(name)
  local reasons = {}
  for place = 2, #package.searchers do
    local loader, extra = package.searchers[place](name)
    if type(loader) == "function" then return loader(name, extra) end
    reasons[#reasons + 1] = loader
  end
  error(("module '%s' not found:%s"):format(name, table.concat(reasons)), 0)
end

--- Loads LuaSocket, and watches it.
function stock.open(name)
  local core = stock.load(name)
  watch(core)
  return core
end

--- Puts everything back: its calls are to be replaced by ours.
function stock.restore()
  for place = #replaced, 1, -1 do
    local library, name, original = table.unpack(replaced[place])
    library[name], replaced[place] = original, nil
  end
end

return stock
