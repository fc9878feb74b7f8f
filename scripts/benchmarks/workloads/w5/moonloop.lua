-- W5a, W5b: pipes in a ring, a hundred bytes on the way; each handler reads one and writes it on.
local ml, bench = require "moonloop", require "harness"
local loop = ml.current()
local count, active, pipes = tonumber(arg[1]), 100, bench.pipes(tonumber(arg[1]))
local moved, last = 0, bench.scaled(5e5)

local function nothing() end

local outs = {}
for i, pipe in ipairs(pipes) do outs[i] = loop:fd { fd = pipe.to, write = nothing } end
for i, pipe in ipairs(pipes) do
  local to = outs[i % count + 1]
  loop:fd { fd = pipe.from, read = function(from)
    local byte = from:read(1)
    moved = moved + 1
    if moved == last then bench.stop(moved); loop:stop() end
    to:write(byte)
  end }
end
if arg[2] then loop:after(0, function(timer) timer:again(0) end) end  -- always due
for i = 1, active do outs[i * count // active]:write "x" end
bench.start()
loop:run()
