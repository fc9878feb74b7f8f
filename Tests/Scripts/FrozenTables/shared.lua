-- A frozen table is shared by what gets it in a message: ports, workers, guests. What leaves the
-- process is a copy.
local ml = require "moonloop"
local loop = ml.current()

local frozen = ml.freeze { rates = { 1, 2, 3 }, name = "shared", self = { x = { y = "z" } } }

-- Through a port of this state, the same value comes out.
local got
local port = loop:port { function(_, message) got = message end }
assert(port:send { a = frozen, b = { frozen.rates } })
loop:run { timeout = 0.1 }
assert(got.a == frozen and got.b[1] == frozen.rates)
port:invalidate()

-- A worker reads it, sends it back, and cannot change it.
local worker <close> = ml.worker { name = "reader", args = frozen, source = [[
  local ml = require "moonloop"
  local frozen = ...
  ml.parent:on("message", function(message, reply)
    local fine, problem = pcall(function() message.x = 1 end)
    reply { sum = message.rates[1] + message.rates[2] + message.rates[3], same = message == frozen,
      changed = fine, back = message, made = ml.freeze { "by the worker" } }
  end)
]] }
loop:task(function()
  local answer = assert(worker.port:request(frozen, { timeout = 30 }))
  assert(answer.sum == 6 and answer.same and not answer.changed and answer.back == frozen)
  assert(answer.made[1] == "by the worker")
  worker:stop()
end):wait { mode = "default" }

-- A guest: as an argument, in calls both ways, and in errors.
for _, isolate in ipairs { false, true } do
  local guest <close> = ml.guest {
    isolate = isolate, args = { frozen }, functions = {
      give = function() return frozen end,
      take = function(value) return value == frozen, value.self.x.y end,
    },
    text = [[
      local args = ...
      function read(value) return args[1].rates[3], #value.rates, type(value), value end
      function ask()
        local given = host.give()
        return given.name, host.take(given)
      end
      function fail(value) error(value) end
    ]],
  }
  loop:task(function()
    local last, count, kind, back = guest:call("read", frozen)
    assert(last == 3 and count == 3 and kind == (isolate and "table" or "userdata"), kind)
    assert((back == frozen) == not isolate and back.self.x.y == "z")
    local name, same, deep = guest:call "ask"
    assert(name == "shared" and same == not isolate and deep == "z")
    local fine, raised = pcall(guest.call, guest, "fail", frozen)
    assert(not fine and raised.name == "shared")
  end):wait { mode = "default" }
end

-- Memory: it counts for the state that froze it, once, however many have it; and goes.
local guest <close> = ml.guest { limits = { memory = "4M" }, text = [[
  local ml = require "moonloop"
  function one()
    local text = ("x"):rep(1 << 20)
    kept = ml.freeze { text }
    text = nil
    collectgarbage()
    return kept
  end
  function clean() collectgarbage() collectgarbage() end
  function drop() kept = nil collectgarbage() collectgarbage() end
  function many()
    local text, all = ("x"):rep(1 << 20), {}
    for i = 1, 100 do all[i] = ml.freeze { text } end
  end
]], on_error = function() end }
loop:task(function()
  guest:call "clean"
  local before = guest:usage().memory
  local kept = guest:call "one"
  local held = guest:usage().memory - before
  assert(held > 1000000 and held < 3 << 20, held)
  guest:call "drop"
  assert(guest:usage().memory - before > 1000000, "the host holds it")
  local fine = pcall(guest.call, guest, "many")
  assert(not fine, "a limit holds")
  kept = nil
  collectgarbage() collectgarbage()
  guest:call "drop"
  assert(guest:usage().memory - before < 500000, guest:usage().memory - before)
end):wait { mode = "default" }
