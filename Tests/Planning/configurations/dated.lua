-- A timer whose date the file computes.
return { timers = { once = { at = os.time() + 90, handler = function() end } } }
