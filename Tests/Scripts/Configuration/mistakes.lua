-- Every mistake in a configuration is found before anything is made, with its line and its path.
local ml = require "moonloop"
local loop = ml.current()

-- The mistakes in a text, without the name of the file.
local function mistakes(text)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  local ok, message = pcall(ml.configure, path)
  os.remove(path)
  assert(not ok, text)
  return (message:gsub(path:gsub("%p", "%%%0") .. ":? ?", ""):gsub(" in $", ""))
end

local KINDS = "one of fd, listen, perform, port, pressure, process, signal, watch"

local function is(text, expected)
  expected = expected:gsub("KINDS", KINDS)
  local given = mistakes(text)
  assert(given == expected, "\n" .. given .. "\n" .. expected)
end

is([[return {
  -- a comment, { that = "is none" }
  modes = { common = { "default", 5 } },
  ["limits"] = { memory = "64K", handels = 3, nesting = 61 },
  on_error = "continu",
  timers = {
    beat = { every = -5, handler = "no" }, late = { handler = print },
    [1] = { every = 1, handler = function() return { every = 0 } end },
  },
  run = { { mode = "common" }, { timout = 1 }, last = {} },
}]], [[3: modes.common[2]: must be the name of a mode, got 5
4: limits.handels: unknown field; did you mean 'handles'?
4: limits.memory: must be a size of at least 1M, e.g. "64M", got "64K"
4: limits.nesting: must be a whole number from 1 to 60, got 61
5: on_error: unknown value "continu"; did you mean 'continue'?
7: timers.beat.every: must be > 0 seconds, got -5
7: timers.beat.handler: must be a function or its name, e.g. "handlers.beat", got "no"
7: timers.late: needs 'every' or 'first', in seconds, 'at' or 'cron'
8: timers[1]: a timer needs a name: write name = { … }
10: run[1].mode: 'common' is a set of modes; run one of them
10: run[2].timout: unknown field; did you mean 'timeout'?
10: run.last: phases have no names: write run = { { mode = … }, … }
12 mistakes]])

is([[return {
  sources = {
    a = { lisen = "unix:x", handler = print },
    b = { fd = 0 },
    c = { perform = print, fd = 0 },
    d = { listen = "8080", handler = print },
    e = { signal = "usr1" },
    f = {},
    g = 5, h = { port = "a/b", handler = print },
  },
  observers = { o = { on = { "entry", "before_wating" }, handler = print }, p = {} },
  signals = { term = { stop = true, reload = true }, hup = { relaod = true }, usr1 = 5 },
}]], [[3: sources.a.lisen: unknown field; did you mean 'listen'?
4: sources.b: needs a handler: 'read', 'write' or both
5: sources.c.perform: is a different kind of source than 'fd'; make two sources
6: sources.d.listen: must be an address, e.g. "unix:app.sock" or "tcp:127.0.0.1:8080", got "8080"
7: sources.e: 'handler' is missing
8: sources.f: needs a field for its kind: KINDS
9: sources.g: must be a table, got 5
9: sources.h.port: must be the name of a port, e.g. "org.example.app", got "a/b"
11: observers.o.on[2]: unknown value "before_wating"; did you mean 'before_waiting'?
11: observers.p: 'on' is missing
11: observers.p: 'handler' is missing
12: signals.hup.relaod: unknown field; did you mean 'reload'?
12: signals.term: can have only one of 'stop', 'reload' and 'handler'
12: signals.usr1: must be a function or its name, e.g. "handlers.beat", got 5
14 mistakes]])

is("return {\n  sections = {} }",
  "2: sections: unknown field; the fields are limits, modes, observers, on_error, run, "
    .. "signals, sources, timers")
is("return {\n signals = { trem = { stop = true },\n SIGTERM = { stop = true },\n"
  .. " kill = { stop = true } } }",
  [[2: signals.trem: signal "trem" is unknown; did you mean 'term'?
4: signals.kill: signal "kill" cannot be handled
2 mistakes]])
is("return { sources = { a = { signal = { 'usr1', 'rtmin+3' }, handler = print },\n"
  .. " b = { signal = 'usr3', handler = print } } }",
  "2: sources.b.signal: signal \"usr3\" is unknown; did you mean 'usr1'?")
is("return { sources = { a = { foo = 1 },\n b = { signal = 'pipe', handler = print } } }",
  "1: sources.a.foo: unknown field; the kinds are fd, listen, perform, port, pressure, process, "
    .. "signal, watch\n2: sources.b.signal: signal \"pipe\" cannot be handled\n2 mistakes")
is("return 5", "1: must return a table (the configuration), got 5")
is("return {\n timers = { a = { every = 1,\n handler = 'no_such_module.beat' } } }",
  "3: timers.a.handler: no module 'no_such_module' beside the configuration or in "
    .. "package.path")
is("return {\n timers = { a = { every = 1,\n handler = 'string.formt' } } }",
  "3: timers.a.handler: module 'string' has no function 'formt'; did you mean 'format'?")
assert(mistakes("return {"):find "unexpected symbol near <eof>")
assert(mistakes("error 'no luck'"):find "1: no luck$")
assert(select(2, pcall(ml.configure, "/no/such/file")):find "No such file")
assert(select(2, pcall(ml.configure, 5))
  == "ml.configure: takes the path of a file or a table, got 5"
  or select(2, pcall(ml.configure, 5)):find "takes the path of a file or a table, got 5")

-- A computed table has the line of its context; none of these made anything.
is("local t = { a = { every = 0, handler = print } }\nreturn {\n timers = t }",
  "3: timers.a.every: must be > 0 seconds, got 0 (in what this line computes)")
assert(loop:dump():find "; no handles$", loop:dump())
