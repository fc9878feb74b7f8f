-- Makes what a configuration describes: finds handlers by name, makes items, runs phases.
local ml = require "moonloop"
local evaluation = require "moonloop.configuration.evaluation"
local generation = require "moonloop.generation"
local positions = require "moonloop.configuration.positions"
local rules = require "moonloop.configuration.rules"
local sources = require "moonloop.configuration.sources"
local handles = require "moonloop.text.handles"
local spelling = require "moonloop.text.spelling"
local mistake = require("moonloop.text.host").mistake

local items = {}

-- The function of a name: "app.handlers.beat" is `beat` in the module `app.handlers`. Returns it;
-- or nil, what is wrong, and the module if that is what is wrong.
local function find_handler(name)
  local module, field = name:match "^(.*)%.([^.]+)$"
  local ok, value = evaluation.bounded(require, module)
  if not ok then
    local message = tostring(value)
    if message:find("module '" .. module .. "' not found", 1, true) then
      return nil, ("no module '%s' beside the configuration or in package.path")
        :format(module), module
    end
    return nil, ("module '%s' cannot be loaded: %s"):format(module, message), module
  end
  if type(value) ~= "table" then
    return nil, ("module '%s' must return a table of handlers, got %s")
      :format(module, rules.given(value)), module
  end
  local handler = value[field]
  if type(handler) == "function" then return handler end
  local names = {}
  for key, one in pairs(value) do
    if type(key) == "string" and type(one) == "function" then names[#names + 1] = key end
  end
  table.sort(names)
  return nil, ("module '%s' has no function '%s'%s"):format(module, field,
    #names > 0 and spelling.hint(field, names, "it has") or "")
end

-- Makes `require` look beside the configuration first.
local function with_folder(doc, body)
  local path = package.path
  package.path = doc.folder .. "/?.lua;" .. doc.folder .. "/?/init.lua;" .. path
  local results = table.pack(pcall(body))
  package.path = path
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

local HANDLER_FIELDS = {
  "handler", "on_error", "perform", "schedule", "cancel", "read", "write",
}

local function plain(value)
  return type(value) == "table" and getmetatable(value) == nil and value or {}
end

-- Calls a body with each handler of a document: its table, its key, and its path. Skips values that
-- should be tables and are not.
local function each_handler(value, body)
  local function look(one, path)
    for _, key in ipairs(HANDLER_FIELDS) do
      if one[key] ~= nil then body(one, key, rules.join(path, key)) end
    end
  end
  for _, section in ipairs { "timers", "sources", "observers" } do
    for _, name in ipairs(rules.sorted_keys(plain(value[section]))) do
      look(plain(value[section][name]), { section, name })
    end
  end
  for _, name in ipairs(rules.sorted_keys(plain(value.signals))) do
    local one = value.signals[name]
    if type(one) == "table" then
      look(plain(one), { "signals", name })
    else
      body(value.signals, name, { "signals", name })
    end
  end
  if value.on_error ~= nil and value.on_error ~= "continue" and value.on_error ~= "stop" then
    body(value, "on_error", { "on_error" })
  end
end

-- Reports handlers whose names cannot be resolved. Loads their modules; what is wrong with one of
-- these is reported once, at the first of its handlers.
function items.check_handlers(doc, report)
  local found, broken = {}, {}
  with_folder(doc, function()
    each_handler(doc.value, function(one, key, path)
      if not rules.is_handler_name(one[key]) then return end
      local known = broken[one[key]:match "^(.*)%."]
      if known then
        known.others = known.others + 1
        return
      end
      local handler, problem, module = find_handler(one[key])
      if handler then return end
      found[#found + 1] = { path = path, problem = problem, others = 0 }
      if module then broken[module] = found[#found] end
    end)
  end)
  for _, one in ipairs(found) do
    local others = one.others > 0
      and ("\n\t(%d other handler%s of it)"):format(one.others, one.others > 1 and "s" or "")
    report(one.path, one.problem .. (others or ""))
  end
end

-- A copy of a document's value with functions as handlers; `wrap` may replace them.
local function resolved(doc, wrap)
  -- Only as deep as handlers are: a signal's `stop` value is the script's own.
  local function copy(value, depth)
    if depth == 0 or type(value) ~= "table" or getmetatable(value) ~= nil then return value end
    local fresh = {}
    for key, one in next, value do fresh[key] = copy(one, depth - 1) end
    return fresh
  end
  local value = copy(doc.value, 3)
  with_folder(doc, function()
    each_handler(value, function(one, key)
      if type(one[key]) == "string" then one[key] = assert(find_handler(one[key])) end
      if wrap then one[key] = wrap(one[key]) end
    end)
  end)
  return value
end

local options = sources.options

-- What runs: handles by section and name.
local methods, fields = {}, {}
for _, section in ipairs { "observers", "signals", "sources", "timers" } do
  fields[section] = function(state) return state[section] end
end
local kind = handles.kind("running", methods, fields)

function kind.meta.__tostring(running)
  local state = kind.of(running)
  return ("configuration '%s', which has made %d"):format(state.name, #state.made)
end

-- The handles of a section, by name.
local function section_of(section)
  return setmetatable({}, { __index = function(handles, key)
    local names = rules.sorted_keys(handles)
    mistake(("running.%s: there is no '%s'"):format(section, tostring(key)),
      #names > 0 and spelling.hint(tostring(key), names, "there are") or "")
  end })
end

function methods:close()
  local state = kind.of(self, "close")
  for index = #state.made, 1, -1 do state.made[index]:invalidate() end
  state.made, state.is_closed = {}, true
end

-- The options of `run`: a mode to run instead of the phases, and a timeout for everything.
local function bounds_of(options)
  if options == nil then return end
  if type(options) ~= "table" then
    mistake("running:run: takes a table of options, such as { timeout = 5 }, got "
      .. rules.given(options))
  end
  local found, advice
  rules.fields { mode = rules.mode, timeout = rules.seconds }(function(path, problem)
    if found then return end
    advice = problem:match "^unknown field(.*)"
    found = advice and ("running:run: unknown option '%s'"):format(path[1])
      or ("running:run: '%s' %s"):format(path[1], problem)
  end, {}, options)
  if options.mode == "common" then
    found = "running:run: the loop cannot run in 'common'; name one mode"
  end
  if found then mistake(found, advice) end
  return options.mode, options.timeout
end

-- Runs the phases, each until it is stopped, finished or timed out; or instead only the given mode.
-- The timeout is for all of them together: no phase begins after it. Returns the result of the last
-- one, and the value it was stopped with.
function methods:run(options)
  local state = kind.of(self, "run")
  if state.is_closed then mistake "running:run: the configuration is closed" end
  local loop, why, value = ml.current(), "finished", nil
  local mode, timeout = bounds_of(options)
  local deadline = timeout and ml.now() + timeout
  local number = 0
  while true do
    local phase
    if mode then phase = number == 0 and { mode = mode } else phase = state.phases[number + 1] end
    local left = deadline and math.max(0, deadline - ml.now()) or math.huge
    if not phase or number > 0 and left == 0 then return why, value end
    number = number + 1
    left = math.min(left, phase.timeout or math.huge)
    why, value = loop:run { mode = phase.mode or "default", until_handled = phase.until_handled,
      timeout = left < math.huge and left or nil }
  end
end

-- With `--watch` SIGHUP reloads anyway, and once is enough.
local function reload(signal)
  local reloading = require "moonloop.reload"
  if not (reloading.idle and signal == "hup") then reloading.again() end
end

-- Makes one handle and keeps it; or notes why it cannot be made.
local function add(state, doc, section, name, make)
  local line = positions.line(doc.node, { section, name })
  generation.at(doc.name, line)
  local ok, handle, message = pcall(make)
  if ok and handle then
    state[section][name] = handle
    state.made[#state.made + 1] = handle
    return
  end
  state.failures[#state.failures + 1] = ("%s:%s %s.%s: %s"):format(doc.name,
    line > 0 and line .. ":" or "", section, name, tostring(ok and message or handle))
end

local function make_signals(doc, loop, state, value, makers)
  for _, name in ipairs(rules.sorted_keys(value.signals or {})) do
    local one = value.signals[name]
    local handler = type(one) == "function" and one or one.handler
    if not handler and one.stop ~= nil then
      handler = function() loop:stop(one.stop) end
    elseif not handler then
      local word = name:lower():gsub("^sig", "")
      handler = function() reload(word) end
    end
    add(state, doc, "signals", name, function()
      local handle, message = makers.signal(loop, name,
        { signal = name, handler = handler, modes = type(one) == "table" and one.modes or nil })
      if handle then handle:keep_alive(false) end
      return handle, message
    end)
  end
end

-- Replaces what ran before a reload: the current phase continues, followed by the new ones.
function items.become(running, other)
  local state = kind.of(running)
  for key in pairs(state) do state[key] = nil end
  for key, one in pairs(kind.of(other)) do state[key] = one end
end

-- Makes what a document without mistakes describes. A simulation passes `makers` for kinds of
-- sources and `wrap` for handlers, and sets no limits. The program passes `given`: limits and
-- `on_error` from the command line, which take precedence.
function items.make(doc, world)
  world = world or {}
  local loop, value = ml.current(), resolved(doc, world.wrap)
  local makers = {}
  for kind, one in pairs(sources.kinds) do
    makers[kind] = world.makers and world.makers[kind] or one.make
  end
  local state = { name = doc.name, made = {}, failures = {}, is_closed = false,
    timers = section_of "timers", sources = section_of "sources",
    observers = section_of "observers", signals = section_of "signals",
    phases = value.run or { { mode = "default" } } }
  local common = value.modes and value.modes.common or {}
  for _, mode in ipairs(type(common) == "string" and { common } or common) do
    if mode ~= "default" then assert(loop:add_common_mode(mode)) end
  end
  local given = world.given or {}
  if value.limits and not world.has_no_limits then
    local limits = {}
    for key, one in pairs(value.limits) do
      if not given[key] then limits[key] = key == "memory" and rules.to_bytes(one) or one end
    end
    ml.limit(limits)
  end
  if value.on_error and not given.on_error then loop.on_error = value.on_error end
  local function each(section, make)
    for _, name in ipairs(rules.sorted_keys(value[section] or {})) do
      local one = value[section][name]
      add(state, doc, section, name, function() return make(name, one) end)
    end
  end
  each("observers", function(name, one)
    return loop:observer(options(name, one, { on = one.on, order = one.order,
      repeats = one.repeats }))
  end)
  each("sources", function(name, one)
    return makers[sources.kind_of(one)](loop, name, one)
  end)
  each("timers", function(name, one)
    if one.cron then
      local made = options(name, one, { zone = one.zone, tolerance = one.tolerance })
      made[1], made[2] = one.cron, made[1]
      return loop:cron(made)
    end
    return loop:timer(options(name, one,
      { every = one.every, first = one.first, at = one.at, tolerance = one.tolerance }))
  end)
  make_signals(doc, loop, state, value, makers)
  generation.at()
  local running, failures = kind.make(state), state.failures
  if #failures == 0 then return running end
  running:close()
  if #failures > 1 then
    failures[#failures + 1] = ("%d items of %s cannot be made"):format(#failures, doc.name)
  end
  error(table.concat(failures, "\n"), 0)
end

return items
