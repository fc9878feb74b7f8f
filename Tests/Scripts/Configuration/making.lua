-- A configuration makes items, finds handlers by name, and runs its phases; stop moves on (D41).
local ml = require "moonloop"
local loop = ml.current()
local trace = {}
local function note(text) trace[#trace + 1] = text end

package.loaded.configured = { beat = function(timer) note("beat " .. timer.name) end }
local function configuration()
  return {
    modes = { common = { "default", "drain" } },
    limits = { handles = 1000, nesting = 32 },
    on_error = "continue",
    timers = {
      beat = { every = 5, handler = "configured.beat", modes = "common" },
      stop = { first = 12, handler = function() loop:stop "enough" end },
    },
    sources = {
      hand = { order = 1, perform = function(source) note("performed " .. source.name) end },
    },
    observers = {
      flush = { on = "exit", modes = "common", handler = function(_, activity)
        note(activity .. " " .. loop.mode)
      end },
    },
    run = { {}, { mode = "drain", timeout = 10 } },
  }
end

local running = ml.configure(configuration())
running.sources.hand:signal()
local why, value = running:run()
assert(why == "timed_out" and value == nil, why)
running:close()
local expected = "performed hand, beat beat, beat beat, exit default, beat beat, beat beat, "
  .. "exit drain"
assert(table.concat(trace, ", ") == expected, table.concat(trace, ", "))
assert(not running.timers.beat:is_valid())

-- It is pure data: made twice, it makes everything twice; a failure half-way leaves nothing.
do
  local first <close> = ml.configure(configuration())
  local second <close> = ml.configure(configuration())
  assert(first.timers.beat ~= second.timers.beat)
end
local bad = configuration()
bad.sources.closed = { fd = 1000003, read = print }
local ok, message = pcall(ml.configure, bad)
assert(not ok and message:find "^[^:]*making.lua:%d+: sources.closed: .*EBADF", message)
assert(loop:dump():find "; no handles$", loop:dump())
ml.limit { handles = 1000000 }

-- What runs says what it has.
do
  local running = ml.configure { timers = { beat = { every = 1, handler = print } } }
  local function wrong(expected, f)
    local ok, message = pcall(f)
    assert(not ok and message:gsub(" %([^()]*%)", "") == expected, message)
  end
  assert(tostring(running):find "^configuration '.*:%d+', which has made 1$", tostring(running))
  wrong("running: unknown field 'rn'; did you mean 'run'?", function() running:rn() end)
  wrong("running.timers: there is no 'bet'; did you mean 'beat'?",
    function() return running.timers.bet end)
  wrong("running.sources: there is no 'bet'", function() return running.sources.bet end)
  running:close()
  wrong("running:run: the configuration is closed", function() running:run() end)
end

-- A named port: its handler gets the same arguments as any port's.
do
  local running <close> = ml.configure {
    sources = { control = { port = "org.example.test.configured", capacity = 3,
      handler = function(port, message, reply) reply(port.name .. " " .. message) end } },
  }
  assert(running.sources.control.capacity == 3)
  local client <close> = assert(ml.port.connect "org.example.test.configured")
  table.sort({ 1, 2 }, function()
    local reply = client:request("hears", { mode = "default" })
    assert(reply == "org.example.test.configured hears", reply)
    return false
  end)
end
