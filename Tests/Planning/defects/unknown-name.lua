-- Planted: options, methods and modules that do not exist.
local ml, unused = require "moonloop", nil
local loop <const> = ml.current()
loop:timer { evry = 1, print }
loop:evry(1, print)
ml.current():timer {
  every = 2, keepalive = false, function() print "tick" end,
}
ml.net.lisen { port = 0, print }
ml.fs.read("data", { timout = 1 })
ml.nett.listen { port = 0, print }
require("moonloop").current():observr { on = "exit", print }
function ml.mine() return 5 end
ml.mine()
local app = { foo = print }
app:foo { bar = unused }
