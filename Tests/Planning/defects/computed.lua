-- A configuration that is computed: only its text is checked.
local config = { timers = {} }
config.timers.beat = { evry = 1, handler = print }
return config
