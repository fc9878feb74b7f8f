-- W3a, W3b: coroutines, a condition each: two signal each other, or one signals a hundred.
local cqueues, condition = require "cqueues", require "cqueues.condition"
local bench = require "harness"
local sources, queue = tonumber(arg[1]), cqueues.new()
local performed, last = 0, bench.scaled(1e6)

local function finish_at_last()
  performed = performed + 1
  if performed == last then bench.stop(performed); os.exit(0) end
end

local function ping_pong()
  local mine, theirs = condition.new(), condition.new()
  local function player(hear, answer)
    while hear:wait() do
      finish_at_last()
      answer:signal()
    end
  end
  queue:wrap(player, mine, theirs)
  queue:wrap(player, theirs, mine)
  queue:wrap(function() cqueues.poll(0); mine:signal() end)
end

local function fan_out()
  local signalled = {}
  for i = 1, sources do
    local source = condition.new()
    signalled[i] = source
    queue:wrap(function() while source:wait() do finish_at_last() end end)
  end
  queue:wrap(function()
    while true do
      cqueues.poll(0)
      for i = 1, sources do signalled[i]:signal() end
    end
  end)
end

if sources == 1 then ping_pong() else fan_out() end
local idle = bench.idle_descriptor()
if idle then queue:wrap(function() cqueues.poll { pollfd = idle, events = "r" } end) end
bench.start()
assert(queue:loop())
