-- A handler that never returns; the limit of its configuration stops it, and others go on.
return {
  limits = { callout = 0.05 },
  timers = {
    hang = { first = 1, handler = function() while true do end end },
    tick = { every = 2, handler = function() end },
  },
}
