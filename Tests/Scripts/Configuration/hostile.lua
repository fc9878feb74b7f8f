-- Bad configurations of every kind, with the whole message of each. None makes anything or hangs,
-- and each reports all mistakes together.
local ml = require "moonloop"
local loop = ml.current()

local folder = os.tmpname()
os.remove(folder)
assert(ml.process.run({ "mkdir", folder }).code == 0)
local function save(name, text)
  local file = assert(io.open(folder .. "/" .. name, "w"))
  file:write(text)
  file:close()
end
save("raises.lua", "error 'bad module'")
save("waits.lua", "require 'moonloop'.sleep(1)")
save("returns_nothing.lua", "")
save("good.lua", "return { beat = function() end }")

local function mistakes(text)
  save("app.lua", text)
  local ok, message = pcall(ml.configure, folder .. "/app.lua")
  assert(not ok, text)
  local place = folder:gsub("%p", "%%%0")
  return (message:gsub(place .. "/app.lua:? ?", ""):gsub(" in $", ""):gsub(place, "."))
end

local T = "{ every = 1, handler = print }"
local AS_HANDLER = 'must be a function or its name, e.g. "handlers.beat", got '
local NO_RETURN = "is not a configuration: it does not end with 'return { … }'\n"
local EFFECTS = "a configuration is data; call %s in a handler"

-- { text, expected }: T is a correct timer.
local rows = {
  -- What it returns.
  { "local x = 5", "1: must return a table (the configuration), got nothing" },
  { "", "1: must return a table (the configuration), got nothing" },
  { "\nreturn false", "2: must return a table (the configuration), got false" },
  { "return {}, {}", "1: must return a table (the configuration), got 2 values" },
  { "return { { every = 1 } }", "1: [1]: unknown field; fields need names here" },
  { "return {\n timer = { beat = T } }", "2: timer: unknown field; did you mean 'timers'?" },
  -- What it does.
  { "\nprint 'x'\nreturn {}", "2: " .. EFFECTS:format "print" },
  { "io.stdout:write 'x'\nreturn {}", "1: " .. EFFECTS:format "file:write" },
  { "io.open('/dev/null', 'w')\nreturn {}", "1: " .. EFFECTS:format "io.open" },
  { "os.exit(3)\nreturn {}", "1: " .. EFFECTS:format "os.exit" },
  { "pcall(os.exit)\nreturn {}", "1: " .. EFFECTS:format "os.exit" },
  { "return os.execute 'true' and {}", "1: " .. EFFECTS:format "os.execute" },
  { "local ml = require 'moonloop'\nml.current():timer { every = 1, print }\nreturn {}",
    "2: " .. EFFECTS:format "loop:timer" },
  { "local function f()\n require 'moonloop'.sleep(1)\nend\nf()\nreturn {}",
    "2: " .. EFFECTS:format "ml.sleep" },
  { "\ncoroutine.yield()\nreturn {}", "2: a configuration is data and cannot wait" },
  { "while true do end", NO_RETURN .. "1: does not end: stopped after 100 million instructions" },
  { "while true do\n pcall(function() while true do end end) end",
    NO_RETURN .. "2: does not end: stopped after 100 million instructions" },
  { "local x\nreturn { timers = x.y }", "2: attempt to index a nil value (local 'x')" },
  { "\nerror { code = 5 }", NO_RETURN .. "2: raised a table instead of a message" },
  { "return {\n timers = { a = , } }", "2: unexpected symbol near ','" },
  -- Values that are not tables.
  { "return setmetatable({}, {})", "1: must be a plain table, got one with a metatable" },
  { "return {\n timers = setmetatable({}, { __pairs = function() return print end }) }",
    "2: timers: must be a plain table, got one with a metatable" },
  { "return {\n timers = { a = setmetatable(T, { __index = error }) } }",
    "2: timers.a: must be a plain table, got one with a metatable" },
  { "local t = T\nt.modes = t\nreturn {\n timers = {\n a = t } }",
    ("5: timers.a.modes.every: a list has no names: write { a, b } COMPUTED\n"
      .. "5: timers.a.modes.handler: a list has no names: write { a, b } COMPUTED\n"
      .. "5: timers.a.modes.modes: a list has no names: write { a, b } COMPUTED\n"
      .. "3 mistakes"):gsub("COMPUTED", "(in what this line computes)") },
  { "return { timers = function() end }", "1: timers: must be a table, got a function" },
  { "return { timers = {\n [true] = T,\n [1.5] = T, [print] = T, b = 1, [2] = T, c = 1 } }",
    "1: timers[a function]: a timer needs a name: write name = { … }\n"
      .. "1: timers[true]: a timer needs a name: write name = { … }\n"
      .. "3: timers[1.5]: a timer needs a name: write name = { … }\n"
      .. "3: timers[2]: a timer needs a name: write name = { … }\n"
      .. "3: timers.b: must be a table, got 1\n3: timers.c: must be a table, got 1\n6 mistakes" },
  -- Names.
  { "return { timers = {\n beat = T,\n tick = T,\n beat = T } }",
    "4: timers.beat: appears twice, first in line 2" },
  { "return { timers = {\n beat = { every = 1,\n every = 2, handler = print } } }",
    "3: timers.beat.every: appears twice, first in line 2" },
  { "return { signals = {\n hup = { stop = true },\n SIGHUP = { reload = true } } }",
    "2: signals.hup: is the same signal as 'SIGHUP'" },
  { "return { ['a\\nb'] = 1, ['\\255'] = 2, [('x'):rep(99)] = 3 }",
    "1: [\"a\\nb\"]: unknown field; FIELDS\n1: [\"" .. ("x"):rep(40)
      .. "…\"]: unknown field; FIELDS\n1: [\"\\xff\"]: unknown field; FIELDS\n3 mistakes" },
  -- Numbers and their units.
  { "return { timers = { a = { every = '5s', first = '2 min', tolerance = '10%',\n"
    .. " handler = print } } }",
    "1: timers.a.every: must be > 0 seconds, got \"5s\"; write 5\n"
      .. "1: timers.a.first: must be seconds, a finite number, got \"2 min\"; write 120\n"
      .. "1: timers.a.tolerance: must be seconds, a number >= 0, got \"10%\"\n3 mistakes" },
  { "return { timers = { a = { every = 0/0, first = math.huge,\n tolerance = -1,\n"
    .. " handler = print } } }",
    "1: timers.a.every: must be > 0 seconds, got nan\n"
      .. "1: timers.a.first: must be seconds, a finite number, got inf\n"
      .. "2: timers.a.tolerance: must be seconds, a number >= 0, got -1\n3 mistakes" },
  { "return { timers = { a = { every = 1e-300, handler = print } } }",
    "1: timers.a.every: must be > 0 seconds, got 1e-300" },
  { "return { limits = { memory = '64 MB',\n callout = 0, handles = 1.5, nesting = '3',\n"
    .. " instructions = 1e300 } }",
    "1: limits.memory: must be a size of at least 1M, e.g. \"64M\", got \"64 MB\"; "
      .. "write \"64M\"\n"
      .. "2: limits.callout: must be > 0 seconds, got 0\n"
      .. "2: limits.handles: must be a whole number >= 1, got 1.5\n"
      .. "2: limits.nesting: must be a whole number from 1 to 60, got \"3\"\n"
      .. "3: limits.instructions: must be a whole number from 1000 to 2147483647, got 1e+300\n"
      .. "5 mistakes" },
  { "return { limits = { memory = '9999999999G' } }",
    "1: limits.memory: must be a size of at least 1M, e.g. \"64M\", got \"9999999999G\"" },
  -- Handlers, including those of items with other mistakes.
  { "return { timers = {\n a = { evry = 1, handler = 'nowhere.beat' },\n b = { every = 1,\n"
    .. " handler = 'good.baet' } } }",
    "2: timers.a.evry: unknown field; did you mean 'every'?\n"
      .. "2: timers.a.handler: no module 'nowhere' beside the configuration or in "
      .. "package.path\n4: timers.b.handler: module 'good' has no function 'baet'; "
      .. "did you mean 'beat'?\n3 mistakes" },
  { "return { timers = { a = { every = 1, handler = 5 }, b = { every = 1, handler = {} },\n"
    .. " c = { every = 1, handler = 'math.pi' .. ' ' } } }",
    "1: timers.a.handler: " .. AS_HANDLER .. "5\n1: timers.b.handler: " .. AS_HANDLER
      .. "a table\n2: timers.c.handler: " .. AS_HANDLER .. "\"math.pi \"\n3 mistakes" },
  { "return { timers = { a = { every = 1, handler = 'raises.x' },\n"
    .. " b = { every = 1, handler = 'waits.x' },\n"
    .. " c = { every = 1, handler = 'returns_nothing.x' } } }",
    "1: timers.a.handler: module 'raises' cannot be loaded: ./raises.lua:1: bad module\n"
      .. "2: timers.b.handler: module 'waits' cannot be loaded: ml.sleep: cannot wait here: inside "
      .. "a module that require loads; use :wait on a task (./waits.lua:1)\n"
      .. "3: timers.c.handler: module 'returns_nothing' must return a table of handlers, "
      .. "got true\n3 mistakes" },
  -- A broken module is one mistake, however many handlers it has.
  { "return { timers = { a = { every = 1, handler = 'raises.x' },\n"
    .. " b = { every = 1, handler = 'raises.y' }, c = { every = 1, handler = 'nowhere.x' } },\n"
    .. " on_error = 'raises.z' }",
    "1: timers.a.handler: module 'raises' cannot be loaded: ./raises.lua:1: bad module\n"
      .. "\t(2 other handlers of it)\n2: timers.c.handler: no module 'nowhere' beside the "
      .. "configuration or in package.path\n2 mistakes" },
  { "return { sources = { a = { perform = print, handler = print } } }",
    "1: sources.a.handler: unknown field; the fields are cancel, keep_alive, modes, on_error, "
      .. "order, perform, schedule" },
  { "return { timers = { a = { every = 1, print } } }",
    "1: timers.a[1]: unknown field; fields need names here\n1: timers.a: 'handler' is missing\n"
      .. "2 mistakes" },
  -- Modes.
  { "return { timers = { a = { every = 1, modes = 'defualt', handler = print },\n"
    .. " b = { every = 1, modes = { 'comon', 5 }, handler = print } } }",
    "1: timers.a.modes: mode \"defualt\" never runs; did you mean 'default'?\n"
      .. "2: timers.b.modes[1]: mode \"comon\" never runs; did you mean 'common'?\n"
      .. "2: timers.b.modes[2]: must be the name of a mode, got 5\n3 mistakes" },
  { "return { timers = { a = { every = 1, modes = { default = true }, handler = print },\n"
    .. " b = { every = 1, modes = { 'x', nil, 'y' }, handler = print } } }",
    "1: timers.a.modes.default: a list has no names: write { a, b }\n"
      .. "2: timers.b.modes[3]: is unreachable, because [2] is nil\n2 mistakes" },
  { "return { modes = { common = { 'common' }, others = {} } }",
    "1: modes.common[1]: 'common' is the set itself; name the modes in it\n"
      .. "1: modes.others: unknown field; the fields are common\n2 mistakes" },
  { "return { run = { { mode = 'a' }, nil, { mode = 'b' } } }",
    "1: run[3]: is unreachable, because [2] is nil" },
  -- Sources.
  { "return { sources = { a = { process = 'ls -l' }, b = { process = {} },\n"
    .. " c = { process = { 'ls', 5 } } } }",
    "1: sources.a.process: must be a list of the program and its arguments, got \"ls -l\"; "
      .. "there is no shell\n1: sources.b.process: must be a list of the program and its "
      .. "arguments, got an empty table\n2: sources.c.process[2]: must be a string, got 5\n"
      .. "3 mistakes" },
  { "return { sources = { a = { fd = 1 << 40, read = print },\n"
    .. " b = { listen = 'tcp:0', backlog = 1e9, handler = print },\n"
    .. " c = { listen = 'tcp:app.example:80', handler = print },\n"
    .. " d = { listen = 'unix:" .. ("x"):rep(108) .. "', handler = print },\n"
    .. " e = { port = 'x', capacity = 1 << 60, handler = print },\n"
    .. " f = { watch = 'a\\0b', handler = print } } }",
    "1: sources.a.fd: must be a descriptor number, got 1099511627776\n"
      .. "2: sources.b.backlog: must be a whole number from 1 to 65535, got 1000000000.0\n"
      .. "3: sources.c.listen: must be an address, e.g. \"unix:app.sock\" or "
      .. "\"tcp:127.0.0.1:8080\", got \"tcp:app.example:80\"\n"
      .. "4: sources.d.listen: must be an address, e.g. \"unix:app.sock\" or "
      .. "\"tcp:127.0.0.1:8080\", got a string of 113 bytes\n"
      .. "5: sources.e.capacity: must be a whole number from 1 to 16777216, "
      .. "got 1152921504606846976\n6: sources.f.watch: must be a string, got \"a\\x00b\"\n"
      .. "6 mistakes" },
  { "return { observers = { a = { on = {}, handler = print },\n"
    .. " b = { on = { 'exit', x = 1 }, handler = print } } }",
    "1: observers.a.on: must be an activity or a list, got an empty table\n"
      .. "2: observers.b.on.x: a list has no names: write { a, b }\n2 mistakes" },
}

local FIELDS = "the fields are limits, modes, observers, on_error, run, signals, sources, "
  .. "timers"
local path = package.path
for _, row in ipairs(rows) do
  local given = mistakes((row[1]:gsub("%f[%w]T%f[%W]", T)))
  local expected = row[2]:gsub("FIELDS", FIELDS)
  assert(given == expected, "\n" .. row[1] .. "\n" .. given .. "\n" .. expected)
end
assert(package.path == path)

-- Everything that cannot be opened is reported, with lines; nothing is left afterwards.
local given = mistakes [[return { sources = {
  a = { fd = 1000003, read = print },
  b = { process = { "/no/such/program" } } },
  timers = { t = { every = 1, handler = print } },
}]]
assert(given:find "^2: sources.a: .*EBADF.*\n3: sources.b: cannot run ", given)
assert(given:find "\n2 items of  ?cannot be made$", given)
assert(not loop:dump():find "app.lua", loop:dump())

-- Reading may use time, environment and files; and a signal's value may be any table, even one with
-- a cycle, which is passed on unchanged.
save("app.lua", [[
local value = { os.getenv "HOME", os.time(), io.open("/dev/null"):read "a" }
value.value = value
return { signals = { usr1 = { stop = value } }, run = { { timeout = 5 } },
  timers = { t = { every = 1, handler = "good.beat" } } }]])
for _ = 1, 3 do
  local running <close> = ml.configure(folder .. "/app.lua")
  loop:after(0.5, function() ml.process.kill(ml.process.id(), "usr1") end)
  local why, value = running:run()
  assert(why == "timed_out" or why == "stopped" and value.value == value, why)
end
package.loaded.good = nil

-- Many mistakes of one kind are reported quickly.
local text = "local t = {}\nfor i = 1, 3000 do t['t' .. i] = { evry = i, handler = print } end\n"
local message = mistakes(text .. "return { timers = t }")
assert(message:find "3000 mistakes$" and message:find "t3000.evry: unknown field; did you mean")
assert(ml.process.run({ "rm", "-r", folder }).code == 0)
