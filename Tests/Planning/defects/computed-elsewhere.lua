-- It may be a configuration, or a module that is not to be run: only its text is checked.
local function build()
  local config = { timers = {} }
  config.timers.beat = { evry = 1, handler = print }
  return config
end
return build()
