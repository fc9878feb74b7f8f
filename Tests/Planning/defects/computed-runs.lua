-- Not a configuration: a module that it loads would run a loop, which no look at it does.
local app = require "computed_app"
app.timers = { beat = 1 }
return app.main()
