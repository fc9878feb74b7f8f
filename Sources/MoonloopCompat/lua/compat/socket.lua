-- LuaSocket on the loop: a call that would wait suspends its task, and the loop goes on. The
-- sockets stay LuaSocket's own; their classes get other methods. See docs/compat.md.
local ml = require "moonloop"
local connecting = require "moonloop.compat.socket.connecting"
local datagrams = require "moonloop.compat.socket.datagrams"
local names = require "moonloop.compat.socket.names"
local nested = require "moonloop.compat.socket.nested"
local stock = require "moonloop.compat.socket.stock"
local streams = require "moonloop.compat.socket.streams"
local taped = require "moonloop.compat.socket.taped"
local waiting = require "moonloop.compat.socket.waiting"
local socket = require "socket"

stock.restore()
nested.install()
local registry = debug.getregistry()

-- The methods of a class, and those that it had.
local function class(name)
  local meta = registry[name]
  if not meta then return nil end
  local methods, original = meta.__index, {}
  for key, value in pairs(methods) do
    methods[key] = taped.method(name, key, value)
    original[key] = methods[key]
  end
  return methods, original
end

local function patch_all(methods, c)
  methods.close, methods.settimeout = streams.close(c), streams.settimeout(c)
  if c.gettimeout then methods.gettimeout = streams.gettimeout(c) end
  methods.setfd = waiting.setfd(c)
end

local function patch_streams()
  for _, name in ipairs { "tcp{master}", "tcp{client}", "tcp{server}" } do
    local methods, c = class(name)
    patch_all(methods, c)
    methods.connect, methods.setpeername = connecting.connect(c), connecting.connect(c)
    if name == "tcp{master}" then
      methods.bind = connecting.bind(c, "bind")
      methods.setsockname = connecting.bind(c, "setsockname")
    elseif name == "tcp{client}" then
      methods.receive, methods.send = streams.receive(c), streams.send(c)
    else
      methods.accept = waiting.opening("tcp", streams.repeated(c, "accept"))
    end
  end
end

local function patch_datagrams()
  for _, name in ipairs { "udp{connected}", "udp{unconnected}" } do
    local methods, c = class(name)
    patch_all(methods, c)
    datagrams.patch(c, methods)
    methods.setpeername = connecting.setpeername(c)
    methods.setsockname = connecting.bind(c, "setsockname")
  end
end

patch_streams()
patch_datagrams()
names.install(socket.dns)
for _, name in ipairs { "tcp", "tcp4", "tcp6", "udp", "udp4", "udp6" } do
  local kind = name:sub(1, 3)
  socket[name] = waiting.opening(kind, taped.call(socket[name], name, kind))
end
connecting.install(socket)
socket.select = require "moonloop.compat.socket.select"

local sleep = socket.sleep

function socket.gettime() return ml.wall_time() end

function socket.sleep(seconds)
  if type(seconds) ~= "number" then return waiting.original("sleep", sleep, seconds) end
  if seconds > 0 then waiting.call("socket.sleep", ml.sleep, seconds) end
end

-- Modules of LuaSocket and LuaSec that come later are patched when they are loaded.
require("moonloop.compat.socket.late").install(class, patch_all)

return socket
