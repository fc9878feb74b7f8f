-- Planted: the table has a name before it is returned.
local config = {
  timers = { beat = { evry = 1, handler = print } },
}
return config
