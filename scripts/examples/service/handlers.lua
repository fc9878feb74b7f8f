-- The handlers of the service, under the names in service.lua.
local ml = require "moonloop"

local handlers = {}
local batch ---@type moonloop.Source
local samples, written = {}, 0

function handlers.remember(source) batch = source end

function handlers.sample()
  samples[#samples + 1] = ml.now()
  if #samples == 8 then batch:signal() end
end

function handlers.write()
  written = written + #samples
  print(("wrote %d samples"):format(#samples))
  samples = {}
end

function handlers.report() print(("%d written, %d waiting"):format(written, #samples)) end

function handlers.closing()
  print "closing"
  batch:signal()
  ml.current():stop()
end

function handlers.ending() print("the phase '" .. ml.current().mode .. "' ends") end

return handlers
