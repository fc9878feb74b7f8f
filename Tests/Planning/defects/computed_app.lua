-- The application of computed-runs.lua.
local ml = require "moonloop"
local app = {}

function app.main()
  ml.current():every(1, print)
  ml.current():run()
  return 0
end

return app
