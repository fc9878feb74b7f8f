-- errors: 3
-- An error in a finalizer is reported like any other, once, and ends nothing.
local ml = require "moonloop"
local loop = ml.current()

local function finalize(f) setmetatable({}, { __gc = f }) end

local told = {}
loop.on_error = function(report) told[#told + 1] = report.handle .. ": " .. report.message end

finalize(function() error "first" end)
collectgarbage()
local fired = 0
loop:timer { every = 1, function(timer)
  fired = fired + 1
  if fired == 1 then same(told, { "a finalizer: error in __gc (errors/finalizer.lua:11: first)" }) end
  finalize(function() error { code = "EX" } end)
  collectgarbage()
  if fired == 2 then
    timer:invalidate()
    loop:perform(function()
      same(#told, 3)
      same(told[3], "a finalizer: error in __gc (error object is not a string)")
    end)
  end
end }
