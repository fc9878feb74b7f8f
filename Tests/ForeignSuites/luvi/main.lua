-- Stands for luvi, the program that luvit and lit run in; takes its arguments. What luvi has in Lua
-- is luvi's own (src/lua of a checkout, in LUA_PATH); beside this file is what it has in C. Runs
-- under lua5.4 with lua-luv too, so that results can be compared.
package.loaded.uv = require "luv"
unpack, loadstring = table.unpack, load
bit = require "bit"

-- lua-openssl, if there is one: luaossl's module has the same name.
local openssl = package.searchpath("openssl", package.cpath)
package.preload.openssl = openssl and package.loadlib(openssl, "luaopen_openssl")
  or function() error "no lua-openssl" end

os.exit(require "init"(arg))
