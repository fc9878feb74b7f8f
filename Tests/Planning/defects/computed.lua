-- A configuration that is computed, from sections alone: it is read as `run` does.
local config = { timers = {} }
for _, name in ipairs { "beat", "tick" } do
  config.timers[name] = { evry = 1, handler = print }
end
return config
