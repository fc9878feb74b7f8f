-- luvi's module for the environment.
local uv = require "uv"

local env = { get = uv.os_getenv, set = uv.os_setenv, unset = uv.os_unsetenv }

function env.keys()
  local names = {}
  for name in pairs(uv.os_environ()) do names[#names + 1] = name end
  return names
end

return env
