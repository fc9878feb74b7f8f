-- A configuration may not inherit its sections.
return setmetatable({}, { __index = { timers = { beat = { every = 1, handler = print } } } })
