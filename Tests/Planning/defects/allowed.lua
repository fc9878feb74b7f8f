-- Planted and allowed: nothing is found.
local ml = require "moonloop"
local loop = ml.current()
loop:perform(function() loop:run() end)  -- moonloop: allow nested-default
-- moonloop: allow shared-wake-up, nested-default
loop:every(0.5, function() loop:run() end)
loop:timer { every = 0.5, first = 0.2, function() end }  -- moonloop: allow shared-wake-up
do  -- What else is called loop may have other methods.
  local loop = { spin = print }
  loop:spin { evry = 1 }
end
