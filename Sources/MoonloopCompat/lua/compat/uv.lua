-- luv's API on our loop. `require "moonloop.compat.uv".install()` makes `require "luv"` and
-- `require "uv"` return it; `moonloop run --uv` does that before the script. See docs/compat.md.
local core = require "moonloop.compat.uv.core"

for _, part in ipairs { "requests", "timer", "stages", "async", "poll", "signal", "stream",
  "socket", "tcp", "pipe", "tty", "udp", "process", "fs_event", "fs_poll", "dns", "work", "fs",
  "system" } do
  require("moonloop.compat.uv." .. part)
end

core.publish()
local uv = core.uv
uv.constants = require "moonloop.compat.uv.constants"

-- Makes `require "luv"` and `require "uv"` return this module.
-- `options.exepath` is the result of uv.exepath(), for programs that restart themselves.
function uv.install(options)
  if options and options.exepath then core.exepath = options.exepath end
  package.loaded.luv, package.loaded.uv = uv, uv
  return uv
end

return uv
