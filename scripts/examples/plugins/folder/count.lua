-- Counts its visitors.
local count = 0

function answer(path, body)
  count = count + 1
  host.log("visitor " .. count)
  return ("visitors: %d, the last at %s with %d bytes\n"):format(count, path, #body)
end
