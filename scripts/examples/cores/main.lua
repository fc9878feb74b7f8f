-- An HTTP server on several cores. Run: moonloop run main.lua [WORKERS [PORT]], then
-- curl http://127.0.0.1:8080/anything
local ml = require "moonloop"
local count, port = math.tointeger(arg[1]) or 2, math.tointeger(arg[2]) or 8080

local workers <close> = assert(ml.workers(count, { "serve.lua", name = "server", args = port }))
print(("%d servers on port %d"):format(#workers, port))
workers:await()
