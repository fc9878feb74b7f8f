-- It cannot be evaluated, as `run` would say.
local function build(every)
  return { timers = { beat = { every = every * 2, handler = print } } }
end
return build(nil)
