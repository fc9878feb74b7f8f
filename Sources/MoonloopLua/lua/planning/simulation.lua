-- One run of a configuration on its own loop, whose clock skips all waiting. Timers and custom
-- sources are real; anything to be opened is a stand-in that gets events only from `--input`.
local ml = require "moonloop"
local bed = require "moonloop.testing.bed"
local causes = require "moonloop.planning.causes"
local items = require "moonloop.configuration.items"
local plan = require "moonloop.planning.plan"
local sources = require "moonloop.configuration.sources"
local lists = require "moonloop.text.lists"
local units = require "moonloop.text.units"

local simulation = {}

-- Limits: the columns of the timeline, and the events of its close view.
local COLUMNS, DETAILS = 600, 400

-- The settings from the command's options; or nil and a message.
function simulation.settings(options)
  local settings = {
    span = options["for"] or 3600, clock = options.clock or "virtual", inputs = {},
    stops = options["stop-at"] or {}, calls_handlers = not options["no-handlers"],
    from = options.from, window = options.window, pictures = options.html ~= nil,
  }
  if settings.span <= 0 then return nil, "--for: must be more than 0" end
  if settings.window == 0 then return nil, "--window: must be more than 0" end
  if settings.from and settings.from >= settings.span then
    return nil, ("--from: must be before the end of the simulation, %s")
      :format(units.time(settings.span))
  end
  if settings.clock ~= "virtual" and settings.clock ~= "skip_idle" then
    return nil, ("--clock: must be virtual or skip_idle, got '%s'"):format(settings.clock)
  end
  table.sort(settings.stops)
  if options.seed then
    settings.seed = math.tointeger(tonumber(options.seed))
    if not settings.seed then
      return nil, ("--seed: must be a whole number, got '%s'"):format(options.seed)
    end
  end
  for _, text in ipairs(options.input or {}) do
    local name, seconds = text:match "^(.-)=(.+)$"
    seconds = seconds and units.seconds(seconds)
    if not seconds or seconds <= 0 then
      return nil, ("--input: must be a source and a time, e.g. commands=2s, got '%s'")
        :format(text)
    end
    settings.inputs[name] = seconds
  end
  return settings
end

-- What is wrong with the sources that `--input` names: one of the documents must have them.
function simulation.check_inputs(docs, settings)
  for name in pairs(settings.inputs) do
    local names, found = {}, false
    for _, doc in ipairs(docs) do
      for key in pairs(doc.value.sources or {}) do
        names[#names + 1] = key
        found = found or key == name
      end
    end
    if not found then
      table.sort(names)
      return ("--input: no source '%s'; %s"):format(name,
        #names == 0 and "the configuration has none" or "there are " .. table.concat(names, ", "))
    end
  end
end

-- ── what handlers see ───────────────────────────────────────────────────────────────────────────

-- Makes handlers print to standard error and end the simulation with os.exit; saves globals and
-- modules, since the next configuration may have other modules with the same names. Returns a
-- function that undoes this.
local function insulate(ended)
  local globals, loaded = lists.copy(_G), lists.copy(package.loaded)
  local path, cpath = package.path, package.cpath
  local stdout, exit, output = io.stdout, os.exit, io.output()
  output:flush()
  io.stdout = io.stderr
  io.output(io.stderr)
  function _G.print(...)
    local texts = table.pack(...)
    for place = 1, texts.n do texts[place] = tostring(texts[place]) end
    io.stderr:write(table.concat(texts, "\t"), "\n")
  end
  function os.exit()
    ended.by_exit = true
    ml.current():stop()
    error(ended, 0)
  end
  return function()
    io.stdout, os.exit = stdout, exit
    io.output(output)
    for key in next, lists.copy(_G) do rawset(_G, key, globals[key]) end
    for key in next, lists.copy(package.loaded) do
      local is_ours = type(key) == "string" and key:find "^moonloop%f[%.\0]"
      if not is_ours then package.loaded[key] = loaded[key] end
    end
    package.path, package.cpath = path, cpath
  end
end

-- ── the world of a simulation ───────────────────────────────────────────────────────────────────

local function nothing() end

-- A source that is never signalled, or, with an input, a timer in its place.
local function stand_in(loop, name, one, every)
  local common = { name = name, modes = one.modes, keep_alive = one.keep_alive }
  if every then
    common.every, common[1] = every, nothing
    return loop:timer(common)
  end
  common.perform = nothing
  return loop:source(common)
end

local function make_world(settings)
  local makers = {}
  for name, kind in pairs(sources.kinds) do
    makers[name] = not kind.simulated and function(loop, source, one)
      return stand_in(loop, source, one, settings.inputs[source])
    end or nil
  end
  return { makers = makers, has_no_limits = true,
    wrap = not settings.calls_handlers and function() return nothing end or nil }
end

-- Timers that signal the custom sources named by `--input`.
local function feed(running, doc, settings)
  for name, every in pairs(settings.inputs) do
    local one = doc.value.sources and doc.value.sources[name]
    if one and sources.kind_of(one) == "perform" then
      local source = running.sources[name]
      ml.current():timer { every = every, name = "input of " .. name, modes = one.modes,
        keep_alive = false, function() source:signal() end }
    end
  end
end

-- ── what became of each item ────────────────────────────────────────────────────────────────────

local RECORDED = {
  timers = "timer", sources = "source", observers = "observer", signals = "source",
}

-- Names the origin of items that are not in the plan.
local function name_other(item)
  local fed, waited = item.name:match "^input of (.*)$", item.name:match "^(%a+ '.-') %(made at "
  item.section = fed and "inputs" or waited and "after a wait" or "made by handlers"
  item.name = fed or waited or item.name == "" and "every " .. item.kind or item.name
  item.label = fed and "input of " .. fed or waited and waited .. " waited" or nil
  return item
end

-- The recorded items: first in the order of the plan, then the others.
local function rows_of(result, settings)
  local known, rows, others = {}, {}, {}
  for _, item in ipairs(result.items) do known[item.kind .. " " .. item.name] = item end
  for _, item in ipairs(result.plan.items) do
    local kind = RECORDED[item.section]
    local is_fed = item.section == "sources" and item.kind ~= "perform"
      and settings.inputs[item.name]
    local key = (is_fed and "timer " or kind .. " ") .. item.name
    local found = known[key]
    known[key] = nil
    rows[#rows + 1] = found or { fires = 0, missed = 0, late_max = 0, late_sum = 0, held_max = 0,
      held_missed = 0, own_missed = 0, held = {}, nests = {}, wake_ups = 0, busy = 0, busy_max = 0,
      columns = {}, busy_columns = {}, held_columns = {} }
    local row = rows[#rows]
    row.section, row.name, row.line, row.every = item.section, item.name, item.line, item.every
    row.stand_in = item.section == "signals"
      or item.section == "sources" and item.kind ~= "perform" or nil
  end
  for _, item in ipairs(result.items) do
    if not item.section then
      others[#others + 1] = name_other(item)
    end
  end
  table.sort(others, lists.by("section", "name"))
  table.move(others, 1, #others, #rows + 1, rows)
  for _, row in ipairs(rows) do
    row.late_mean = row.fires > 0 and row.late_sum / row.fires or 0
  end
  return rows
end

-- How sentences name a row: by the section of the configuration, or as whatever made it does.
local function label(row)
  return row.line and ("%s '%s'"):format(row.section:sub(1, -2), row.name)
    or row.label or ("'%s'"):format(row.name)
end

-- What `causes.of` says of each timer; the line is that of the timer, or else of what held it back,
-- if the configuration has one of them.
local function causes_of(result)
  local all = {}
  for _, row in ipairs(result.rows) do
    for _, nest in ipairs(row.nests) do
      nest.by = result.items[nest.item]
      nest.label = label(nest.by)
    end
    local timer = { label = label(row), every = row.every, fires = row.fires,
      own_missed = row.own_missed, held = row.held, nests = row.nests }
    for _, cause in ipairs(causes.of(timer)) do
      cause.line = row.line or cause.by and cause.by.line
      all[#all + 1] = cause
    end
  end
  return all
end

-- ── running ─────────────────────────────────────────────────────────────────────────────────────

-- When to stop the run that begins now, and whether because of `--stop-at`.
local function end_of_run(now, settings)
  for _, at in ipairs(settings.stops) do
    if at > now and at < settings.span then return at, true end
  end
  return settings.span, false
end

-- Runs the phases until the time is over. Returns the outcome of each that began.
local function run_phases(made, settings, ended)
  local loop, origin, phases = ml.current(), ml.now(), {}
  for place, phase in ipairs(made.phases) do
    local from = ml.now() - origin
    local until_then, by_stop = end_of_run(from, settings)
    local limit = until_then - from
    if limit <= 0 or ended.by_exit then break end
    local is_own = phase.timeout and phase.timeout <= limit
    local why = loop:run { mode = phase.mode, until_handled = phase.until_handled,
      timeout = is_own and phase.timeout or limit }
    if why == "timed_out" and not is_own then why = by_stop and "stopped" or "goes_on" end
    if ended.by_exit then why = "exit" end
    phases[place] = { mode = phase.mode, from = from, to = ml.now() - origin, why = why }
  end
  return phases
end

-- The reports of failures; those that an error handler took have none, and are counted.
local function failures_of(record, ended, count)
  local failures = {}
  for _, text in ipairs(record.reports) do
    if text:find(tostring(ended), 1, true) then
      count = count - 1
    else
      failures[#failures + 1] = text
    end
  end
  local taken = count - #failures
  if taken > 0 then
    failures[#failures + 1] = units.plural(taken, "error") .. " that an error handler took"
  end
  return failures
end

-- Calls a function at the time at which a simulation begins, as shown by `os.time`.
function simulation.on_its_clock(settings, fn, ...)
  bed.enter { clock = settings.clock, name = "the loop that a simulation is read on" }
  local results = table.pack(fn(...))
  bed.leave()
  return table.unpack(results, 1, results.n)
end

-- Runs a document. Returns what happened: { name, span, time, phases, items, … }; or nil and why it
-- could not be made.
function simulation.run(doc, settings)
  local ended = setmetatable({}, { __tostring = function() return "the program ended itself" end })
  local made = plan.make(doc)
  local restore = insulate(ended)
  bed.enter { clock = settings.clock, name = doc.name }
  bed.order(settings.seed)
  math.randomseed(settings.seed or 1)
  local callout = doc.value.limits and doc.value.limits.callout
  if callout then ml.limit { callout = callout } end
  local errors = bed.errors()
  local ok, running = pcall(items.make, doc, make_world(settings))
  local result
  if ok then
    feed(running, doc, settings)
    bed.record { span = settings.span, columns = settings.pictures and COLUMNS or 0,
      from = settings.from, window = settings.window, details = settings.pictures and DETAILS or 0,
      progress = bed.is_terminal(2) }
    local phases = run_phases(made, settings, ended)
    result = bed.recorded()
    result.phases = phases
    result.failures = failures_of(result, ended, bed.errors() - errors)
    running:close()
  end
  bed.leave()
  if callout then ml.limit { callout = math.huge } end
  restore()
  if not ok then return nil, tostring(running) end
  result.name, result.plan = doc.name, made
  result.span, result.clock = settings.span, settings.clock
  result.from, result.window = settings.from, settings.window
  result.rows = rows_of(result, settings)
  result.causes = causes_of(result)
  return result
end

return simulation
