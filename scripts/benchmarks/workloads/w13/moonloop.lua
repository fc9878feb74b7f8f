-- W13: a configuration of 1,000 items: the time until it is read, checked and made; until a program
-- that is this configuration has started, made a pass and ended; and what a reload takes.
local ml, bench = require "moonloop", require "harness"
local wall = bench.probe.wall

local function write(path, run)
  local lines = { "return {", run, "timers = {" }
  local function add(format, ...) lines[#lines + 1] = format:format(...) end
  for i = 1, 600 do
    add("  timer%d = { every = %d, tolerance = 0.5, handler = function() end },", i, 60 + i)
  end
  lines[#lines + 1] = "}, sources = {"
  for i = 1, 300 do add("  source%d = { perform = function() end, order = %d },", i, i) end
  lines[#lines + 1] = "}, observers = {"
  for i = 1, 100 do add("  observer%d = { on = 'exit', handler = function() end },", i) end
  lines[#lines + 1] = "} }"
  local file <close> = assert(io.open(path, "w"))
  file:write(table.concat(lines, "\n"), "\n")
end

local kept = ml.reload.state "w13"
kept.path = kept.path or os.tmpname()
local path = kept.path
if ml.reload.generation() == 1 then write(path, "") end
local before = wall()
ml.configure(path)
local load = wall() - before
if ml.reload.generation() > 1 then return end

local function measure()
  local begin = wall()
  local done = assert(ml.reload())
  local reload = wall() - begin
  assert(done.kept == 1000, done.kept)
  local program = path .. ".lua"
  write(program, "run = { { timeout = 0 } },")
  begin = wall()
  assert(ml.process.run { arg[-1], "run", program, check = true })
  bench.report { load_ms = load / 1e6, reload_ms = reload / 1e6, start_ms = (wall() - begin) / 1e6 }
  os.remove(program)
  os.remove(path)
  os.exit(0)
end
-- What the file makes belongs to the generation that ends; this task does not.
ml.current():after(0, function() ml.current():task(measure) end)
