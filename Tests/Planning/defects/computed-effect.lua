-- What no configuration may do, in a file that may be one.
local function build()
  print "building"
  return { timers = { beat = { every = 1, handler = print } } }
end
local config = { timers = build().timers }
return build(config)
