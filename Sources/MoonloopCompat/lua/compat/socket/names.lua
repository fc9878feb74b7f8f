-- Names and addresses: looked up while the loop goes on.
local ml = require "moonloop"
local posix = require "moonloop.posix"
local waiting = require "moonloop.compat.socket.waiting"

local names = {}

-- LuaSocket's words.
local WORDS = { EAI_AGAIN = "temporary failure in name resolution",
  EAI_FAIL = "non-recoverable failure in name resolution",
  EAI_NONAME = "host or service not provided, or not known",
  EAI_MEMORY = "memory allocation failure", ETIMEDOUT = "timeout" }

--- Whether an address is numeric, so that it needs no lookup.
function names.is_address(host) return posix.address((host:gsub("%%.*", ""))) ~= nil end

--- The addresses of a host; or nil and LuaSocket's words.
-- @param family "inet" or "inet6"; nil: any
function names.look_up(host, family, timeout)
  if names.is_address(host) then return { host } end
  local found, message, code = waiting.call("socket.dns", ml.net.resolve, host,
    { family = family or "any", timeout = timeout })
  if found then return found end
  return nil, WORDS[code] or message
end

--- Replaces the functions of socket.dns that look names up.
function names.install(dns)
  local original = {}
  for name, fn in pairs(dns) do original[name] = fn end

  function dns.toip(host)
    if type(host) ~= "string" or names.is_address(host) then
      return waiting.original("toip", original.toip, host)
    end
    local found = names.look_up(host, "inet")
    if not found then return nil, "host not found" end
    return found[1], { name = host, alias = {}, ip = found }
  end

  function dns.getaddrinfo(host)
    if type(host) ~= "string" or names.is_address(host) then
      return waiting.original("getaddrinfo", original.getaddrinfo, host)
    end
    local found, why = names.look_up(host)
    if not found then return nil, why end
    local list = {}
    for place, address in ipairs(found) do
      list[place] = { family = posix.address(address), addr = address }
    end
    return list
  end

  -- In a worker: the system has no such call that does not wait.
  local function apart(name)
    dns[name] = function(...)
      local worker = function(...)
        return assert(ml.worker { name = "socket.dns." .. name, args = table.pack(...),
          source = ([[
local given = ...
local dns = require("socket.core").dns
return dns.%s(table.unpack(given, 1, given.n))]]):format(name) }):await()
      end
      return waiting.call("socket.dns", worker, ...)
    end
  end
  apart "tohostname"
  apart "getnameinfo"
end

return names
