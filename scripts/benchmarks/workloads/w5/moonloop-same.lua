-- W5a, W5b on our loop, with the functions by which the peers read and write.
local ml, bench = require "moonloop", require "harness"
local loop, read, write = ml.current(), bench.probe.read, bench.probe.write
local count, active, pipes = tonumber(arg[1]), 100, bench.pipes(tonumber(arg[1]))
local moved, last = 0, bench.scaled(5e5)

for i, pipe in ipairs(pipes) do
  local from, to = pipe.from, pipes[i % count + 1].to
  loop:fd { fd = from, read = function()
    local byte = read(from, 1)
    moved = moved + 1
    if moved == last then bench.stop(moved); loop:stop() end
    write(to, byte)
  end }
end
for i = 1, active do write(pipes[i * count // active].to, "x") end
bench.start()
loop:run()
