-- W15: lines from standard input to standard output, each changed by a handler.
local ml = require "moonloop"
local function handle(line) return line:upper() end

local input = ml.current():stream { fd = 0, write = false }
for line in input:lines() do io.write(handle(line), "\n") end
