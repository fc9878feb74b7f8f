-- W15: lines from standard input to standard output, each changed by a handler.
local cqueues, socket = require "cqueues", require "cqueues.socket"
local function handle(line) return line:upper() end

local queue = cqueues.new()
queue:wrap(function()
  local input = socket.fdopen(0)
  input:setmode("b", "b")
  for line in input:lines() do io.write(handle(line), "\n") end
end)
assert(queue:loop())
