-- W5a, W5b: pipes in a ring, a hundred bytes on the way; each handler reads one and writes it on.
local uv, bench = require "luv", require "harness"
local read, write = bench.probe.read, bench.probe.write
local count, active, pipes = tonumber(arg[1]), 100, bench.pipes(tonumber(arg[1]))
local moved, last = 0, bench.scaled(5e5)

for i, pipe in ipairs(pipes) do
  local from, to = pipe.from, pipes[i % count + 1].to
  uv.new_poll(from):start("r", function()
    local byte = read(from, 1)
    moved = moved + 1
    if moved == last then bench.stop(moved); os.exit(0) end
    write(to, byte)
  end)
end
if arg[2] then uv.new_idle():start(function() end) end  -- a timer would fire for ever
for i = 1, active do write(pipes[i * count // active].to, "x") end
bench.start()
uv.run()
