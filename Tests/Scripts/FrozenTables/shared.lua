-- A frozen table is shared by what gets it in a message: ports, workers, guests. An isolated guest
-- gets a frozen one of its own; whatever else leaves the process is a plain copy.
local ml = require "moonloop"
local loop = ml.current()

local rates = { 1, 2, 3 }
local frozen = ml.freeze {
  rates = rates, again = rates, name = "shared", self = { x = { y = "z" } },
}

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

-- A guest: as an argument, in calls both ways, in errors, and in messages.
for _, isolate in ipairs { false, true } do
  local heard
  local guest <close> = ml.guest {
    isolate = isolate, args = { frozen }, functions = {
      give = function() return frozen end,
      take = function(value) return value == frozen, value.self.x.y end,
      heard = function(...) heard = { ... } end,
    },
    text = [[
      local args = ...
      local ml = require "moonloop"
      local loop = ml.current()
      local function changes(value)
        local rates = value.rates
        assert(value.rates == rates and value.again == rates)
        return pcall(function() value.x = 1 end) or pcall(function() rates[1] = 99 end)
          or pcall(rawset, rates, 1, 99) or value.x or rates[1] ~= 1
      end
      function read(value) return args[1].rates[3], #value.rates, type(value), value end
      function change(value, plain)
        plain.x = 1
        return changes(args[1]) or changes(value) or changes(host.give()) or changes(plain.a[1])
          or plain.b.rates ~= plain.a[1].rates or plain.b.rates ~= value.rates
      end
      function listen()
        return loop:port { function(port, message)
          host.heard(changes(message), type(message))
          port:invalidate()
        end }
      end
      function ask()
        local given = host.give()
        return given.name, host.take(given)
      end
      function fail(value) error(value) end
    ]],
  }
  loop:task(function()
    local last, count, kind, back = guest:call("read", frozen)
    assert(last == 3 and count == 3 and kind == "userdata", kind)
    assert((back == frozen) == not isolate and back.self.x.y == "z")
    local name, same, deep = guest:call "ask"
    assert(name == "shared" and same == not isolate and deep == "z")
    local fine, raised = pcall(guest.call, guest, "fail", frozen)
    assert(not fine and raised.name == "shared")
    assert(not guest:call("change", frozen, { a = { frozen }, b = frozen }), "it was changed")
    guest:call("listen"):send(frozen)
    while not heard do ml.sleep(0.001) end
    assert(heard[1] == false and heard[2] == "userdata")
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
