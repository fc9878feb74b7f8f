-- A handle that the function of `ml.await` returned, and whose handler holds `resume`, is released
-- when the answer has come: the two do not keep each other alive.
local ml = require "moonloop"
local loop = ml.current()
local answer
loop:task(function()
  answer = ml.await(function(resume)
    return loop:after(1, function() resume "adopted" end)
  end)
end)
loop:run()
assert(answer == "adopted")
