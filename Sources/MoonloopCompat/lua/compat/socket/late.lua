-- Modules in C that a script may load later: LuaSec, and LuaSocket's Unix sockets. What loads them
-- is put before Lua's own search.
local datagrams = require "moonloop.compat.socket.datagrams"
local stock = require "moonloop.compat.socket.stock"
local streams = require "moonloop.compat.socket.streams"
local taped = require "moonloop.compat.socket.taped"
local waiting = require "moonloop.compat.socket.waiting"

local late = {}

local patches = {}

patches["ssl.context"] = function(_, _, module) taped.module(module, { create = "SSL:Context" }) end

patches["ssl.x509"] = function(class, _, module)
  taped.module(module, { load = "SSL:Certificate" })
  class "SSL:Certificate"
end

patches["ssl.core"] = function(class, _, module)
  taped.module(module, { create = "SSL:Connection" })
  local methods, c = class "SSL:Connection"
  methods.receive, methods.send = streams.receive(c), streams.send(c)
  methods.dohandshake = streams.repeated(c, "dohandshake")
  methods.close, methods.settimeout = streams.close(c), streams.settimeout(c)
  module.create = waiting.opening("tls", module.create)
end

patches["socket.unix"] = function(class, patch_all, module)
  taped.module(module, { stream = "unixstream", dgram = "unixdgram", tcp = "unixstream",
    udp = "unixdgram", __call = "unixstream" })
  for _, name in ipairs { "stream", "dgram", "tcp", "udp", "__call" } do
    if module[name] then module[name] = waiting.opening("unix", module[name]) end
  end
  for _, name in ipairs { "master", "client", "server" } do
    local methods, c = class(("unixstream{%s}"):format(name))
    patch_all(methods, c)
    if name == "client" then
      methods.receive, methods.send = streams.receive(c), streams.send(c)
    elseif name == "server" then
      methods.accept = waiting.opening("unix", streams.repeated(c, "accept"))
    end
  end
  for _, name in ipairs { "connected", "unconnected" } do
    local methods, c = class(("unixdgram{%s}"):format(name))
    patch_all(methods, c)
    datagrams.patch(c, methods)
  end
end

function late.install(class, patch_all)
  for name, patch in pairs(patches) do
    if package.loaded[name] then
      patch(class, patch_all, package.loaded[name])
    else
      package.preload[name] = function()
        package.preload[name] = nil
        local module = stock.load(name)
        patch(class, patch_all, module)
        return module
      end
    end
  end
end

return late
