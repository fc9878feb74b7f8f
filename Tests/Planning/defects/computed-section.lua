-- A section that is computed.
local function timer(every) return { every = every, handler = print } end
local timers = { beat = timer(-1) }
return { timers = timers }
