---@meta _
-- Compatibility
--
-- `require "moonloop.compat.uv"` and `require "moonloop.compat.socket"`. The other names of the
-- first are those of luv 1.44.2, with luv's arguments and results: see [compat.md](../compat.md),
-- luv's own documentation, and the annotations for luv that come with the Lua language server.

---luv's API on our loop, for programs that say `require "luv"`.
---@class moonloop.compat.uv
local uv = {}

---Makes `require "luv"` and `require "uv"` return this module from now on.
---```lua
---local uv = require("moonloop.compat.uv").install()
---print(require "luv" == uv)   --> true
---```
---@param options? { exepath: string } The result of `uv.exepath()`.
---@return moonloop.compat.uv uv The module itself.
function uv.install(options) end

---LuaSocket, if it is installed, on our loop: a call that would wait suspends its task.
---`require "moonloop.compat.socket"` returns LuaSocket's module. It replaces the methods of its
---sockets, of LuaSec's connections and of Unix sockets, and `gettime`, `sleep`, `select`, `connect`
---and the functions of `dns`. Names, arguments, results and error messages are LuaSocket's.
---@class moonloop.compat.socket
