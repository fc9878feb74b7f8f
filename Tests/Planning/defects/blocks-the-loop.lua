-- Planted: the loop waits for a program and for somebody to type.
local ml = require "moonloop"
local loop = ml.current()
local name = io.read "l"
loop:every(1, function()
  os.execute "sleep 1"
  print(name, io.read "l")
end)
