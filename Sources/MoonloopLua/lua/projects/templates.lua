-- The files that `moonloop new` writes. NAME stands for the project's name.
local templates = {}

templates.script = {
  try = { "moonloop main.lua", "moonloop test" },
  { path = "main.lua", runs = true, text = [[
#!/usr/bin/env moonloop
-- Says hello three times, a second apart.
local ml = require "moonloop"
local greeter = require "NAME"

greeter.start(ml.current(), { every = 1, times = 3, say = print })
]] },
  { path = "NAME.lua", text = [[
local greeter = {}

--- Says hello `times` times, `every` seconds apart. Returns the timer.
function greeter.start(loop, options)
  local count = 0
  return loop:timer { every = options.every, name = "greeter", function(timer)
    count = count + 1
    options.say("hello number " .. count)
    if count == options.times then timer:invalidate() end
  end }
end

return greeter
]] },
  { path = "spec/NAME_spec.lua", text = [[
local greeter = require "NAME"

describe("NAME", function()
  it("says hello twice, a second apart", { clock = "virtual" }, function(loop, clock)
    local said = {}
    greeter.start(loop, { every = 1, times = 2, say = function(text) said[#said + 1] = text end })
    clock:advance(1)
    assert.same({ "hello number 1" }, said)
    clock:advance(10)
    assert.same({ "hello number 1", "hello number 2" }, said)
  end)
end)
]] },
}

templates.service = {
  try = { "moonloop main.lua", "curl http://127.0.0.1:8080/?name=moon", "moonloop test" },
  { path = "main.lua", runs = true, text = [[
#!/usr/bin/env moonloop
-- Answers over HTTP, until it is asked to end.
local ml = require "moonloop"
local loop = ml.current()
local answers = require "NAME"

local server = assert(ml.http.serve {
  host = "127.0.0.1", port = tonumber(os.getenv "PORT") or 8080, name = "NAME", answers.answer,
})
print("listens at port " .. server.port)

loop:signal { { "int", "term" }, keep_alive = false, function() server:invalidate() end }
]] },
  { path = "NAME.lua", text = [[
local answers = {}

--- Answers a request: a status, a body, headers.
function answers.answer(request)
  if request.method ~= "GET" then return 405, "only GET\n" end
  return 200, ("hello, %s\n"):format(request.query.name or "world"),
    { ["Content-Type"] = "text/plain" }
end

return answers
]] },
  { path = "spec/NAME_spec.lua", text = [[
local ml = require "moonloop"
local answers = require "NAME"

describe("NAME", function()
  it("greets", function(loop, clock, t)
    local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, answers.answer })
    t:defer(function() server:invalidate() end)
    local address = (":%d/"):format(server.port)
    t:get(address .. "?name=moon"):expect(200, "hello, moon")
    t:post(address, "text"):expect(405)
  end)
end)
]] },
  { path = "NAME.service", text = [[
# Copy this folder to /usr/local/lib/NAME, and this file to /etc/systemd/system.
[Unit]
Description=NAME

[Service]
Type=notify
WorkingDirectory=/usr/local/lib/NAME
ExecStart=moonloop run --watch main.lua
ExecReload=/bin/kill -HUP $MAINPID
WatchdogSec=10s
Restart=on-failure
DynamicUser=yes
ProtectSystem=strict
NoNewPrivileges=yes

[Install]
WantedBy=multi-user.target
]] },
}

templates.config = {
  try = { "moonloop moonloop.lua", "moonloop plan moonloop.lua",
    "moonloop simulate moonloop.lua --for 1m", "moonloop test" },
  { path = "moonloop.lua", text = [[
-- What the loop of NAME does. 'moonloop plan' and 'simulate' show it before it runs.
return {
  limits  = { memory = "64M", callout = 2.0 },
  timers  = { heartbeat = { every = 5, tolerance = 0.5, handler = "NAME.beat" } },
  signals = { int = { stop = true }, term = { stop = true } },
}
]] },
  { path = "NAME.lua", text = [[
local handlers = { beats = 0 }

--- Called every five seconds; `missed` counts those that it is too late for.
function handlers.beat(_, missed)
  handlers.beats = handlers.beats + 1 + missed
  print("beat " .. handlers.beats)
end

return handlers
]] },
  { path = "spec/NAME_spec.lua", text = [[
local ml = require "moonloop"
local handlers = require "NAME"

describe("NAME", function()
  it("beats every five seconds", { clock = "virtual" }, function(loop, clock)
    local running <close> = ml.configure "moonloop.lua"
    clock:advance(12)
    assert.equal(2, handlers.beats)
  end)
end)
]] },
}

templates.tests = {
  try = { "moonloop test", "moonloop test --watch" },
  { path = "spec/NAME_spec.lua", text = [[
describe("NAME", function()
  it("waits without taking time", { clock = "virtual" }, function(loop, clock)
    local fired = false
    loop:after(60, function() fired = true end)
    clock:advance(60)
    assert.is_true(fired)
  end)

  it("talks to a program", function(loop, clock, t)
    local p = t:spawn { "cat", stdin = "pipe" }
    p.stdin:write "hello\n"
    p:expect "hello"
  end)

  it("holds for many values", function(loop, clock, t)
    t:forall({ t.any.list(t.any.integer()) }, function(list)
      table.sort(list)
      for index = 2, #list do assert(list[index - 1] <= list[index]) end
    end)
  end)
end)
]] },
  { path = ".busted", text = [[
return {
  _all = { timeout = 10 },
}
]] },
}

templates.plugin = {
  try = { "moonloop --watch main.lua", "moonloop test" },
  { path = "main.lua", runs = true, text = [[
#!/usr/bin/env moonloop
-- Loads the plugin. With --watch, a change of NAME.lua takes effect at once, and keeps its state.
local ml = require "moonloop"
local plugin = require "NAME"

plugin.start(ml.current(), print)
]] },
  { path = "NAME.lua", text = [[
local ml = require "moonloop"
local plugin = {}

-- This table outlives a reload; everything else is made again.
local state = ml.reload.state("NAME", { ticks = 0 })

--- Begins to tick. The timer has a name, so that a reload keeps its phase. Returns it.
function plugin.start(loop, say)
  return loop:timer { every = 1, name = "NAME", function(timer)
    state.ticks = state.ticks + 1
    say("tick " .. state.ticks)
    if state.ticks % 60 == 0 then timer:invalidate() end
  end }
end

return plugin
]] },
  { path = "spec/NAME_spec.lua", text = [[
local plugin = require "NAME"

describe("NAME", function()
  it("ticks once a second", { clock = "virtual" }, function(loop, clock)
    local said = {}
    local timer <close> = plugin.start(loop, function(text) said[#said + 1] = text end)
    clock:advance(2)
    assert.same({ "tick 1", "tick 2" }, said)
  end)
end)
]] },
}

return templates
