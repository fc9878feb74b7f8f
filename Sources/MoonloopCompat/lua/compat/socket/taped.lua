-- LuaSocket and LuaSec in a program that is recorded: the recording has what their functions in C
-- answer. A replay calls none of them; its sockets are blank, with the methods of their classes.
local posix = require "moonloop.posix"
local tape = package.loaded["moonloop.taped"]

local taped = {}

local registry = debug.getregistry()
local metas = {}

-- Of the classes between which LuaSocket moves a socket, those later in this list have the methods
-- that wait; but only one can be bound, and one accepts.
local SIDES = { "unconnected", "connected", "server", "master", "client" }
local OWNERS = { accept = "server", bind = "master", setsockname = "master" }

local function methods_of(kind)
  if registry[kind] then return registry[kind].__index end
  local all = {}
  for _, side in ipairs(SIDES) do
    local class = registry[("%s{%s}"):format(kind, side)]
    for name, method in pairs(class and class.__index or {}) do
      if not all[name] or (OWNERS[name] or side) == side then all[name] = method end
    end
  end
  return all
end

local function blank(kind)
  metas[kind] = metas[kind] or { __name = kind, __index = methods_of(kind) }
  return debug.setmetatable(posix.blank(), metas[kind])
end

-- In a replay, an object that was made outside is a file without contents; it may be in a list.
local function replaced(kind, first, ...)
  if io.type(first) then return blank(kind), ... end
  for place, each in ipairs(type(first) == "table" and first or {}) do
    first[place] = replaced(kind, each)
  end
  return first, ...
end

--- A function as the recording has it.
-- @param kind what it makes, if anything: "tcp", "SSL:Connection"
function taped.call(fn, name, kind)
  if not tape or type(fn) ~= "function" then return fn end
  local kept = tape(fn, name)
  if not kind then return kept end
  return function(...) return replaced(kind, kept(...)) end
end

-- What methods make, unless it is plain values.
local MADE = { getpeercertificate = "SSL:Certificate", getpeerchain = "SSL:Certificate" }

--- A method of a class, such as "tcp{server}".
function taped.method(class, name, fn)
  return taped.call(fn, name, name == "accept" and class:match "^%w+" or MADE[name])
end

--- The functions of a module.
-- @param makes kinds, by the names of functions
function taped.module(module, makes)
  for name, value in pairs(module) do
    -- This one changes the class, in a replay too.
    if name ~= "setmethod" then module[name] = taped.call(value, name, makes[name]) end
  end
end

return taped
