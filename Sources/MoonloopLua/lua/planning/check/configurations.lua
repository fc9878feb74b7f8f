-- The rules for configurations: by their plan, by the text of their handlers, and, on request, by a
-- simulated run.
local configuration = require "moonloop.configuration"
local positions = require "moonloop.configuration.positions"
local literals = require "moonloop.planning.check.literals"
local scripts = require "moonloop.planning.check.scripts"
local source = require "moonloop.planning.check.source"
local plan = require "moonloop.planning.plan"
local layout = require "moonloop.text.layout"
local units = require "moonloop.text.units"
local spelling = require "moonloop.text.spelling"

local configurations = {}

local HANDLER_KEYS = { handler = true, perform = true, read = true, write = true }

-- ── handlers ────────────────────────────────────────────────────────────────────────────────────

local function marked(fn, item)
  fn.handler_of = item.section
  fn.repeats = item.section ~= "timers" or item.every ~= nil
  if item.section == "observers" then
    local on = item.value.on
    fn.activities = type(on) == "table" and on or { on }
  end
end

-- Marks the functions in the configuration itself, by the lines of their fields.
local function mark_inline(doc, made, file)
  for _, item in ipairs(made.items) do
    if type(item.value) == "table" then
      for key in pairs(HANDLER_KEYS) do
        local line = positions.line(doc.node, { item.section, item.name, key })
        for _, fn in ipairs(file.functions) do
          if fn.field == key and fn.line == line and type(item.value[key]) == "function" then
            marked(fn, item)
          end
        end
      end
    end
  end
end

-- The files of the handlers' modules, with the handlers marked; and the fields that are named as
-- handlers, by file.
local function handler_files(doc, made, files)
  local found, by_path, named = {}, {}, {}
  local path = doc.folder .. "/?.lua;" .. doc.folder .. "/?/init.lua;" .. package.path
  for _, item in ipairs(made.items) do
    for key in pairs(HANDLER_KEYS) do
      local name = type(item.value) == "table" and item.value[key]
        or type(item.value) == "string" and key == "handler" and item.value
      local module, field = type(name) == "string" and name:match "^(.*)%.([^.]+)$" or nil, nil
      if module then
        field = name:match "[^.]+$"
        local where = package.searchpath(module, path)
        if where then
          local file = by_path[where]
          if not file then
            file = files(where:gsub("^%./", ""), configuration.text(where) or "")
            by_path[where], found[#found + 1], named[file] = file, file, {}
          end
          named[file][field] = true
          for _, fn in ipairs(file.functions) do
            if fn.field == field then marked(fn, item) end
          end
        end
      end
    end
  end
  return found, named
end

-- The functions of a module that a configuration may call, as a set: those that it names, and all
-- whose names appear in these.
local function used_functions(file, named)
  local used, queue, by_field = {}, {}, {}
  local function use(field)
    for _, fn in ipairs(by_field[field] or {}) do
      if not used[fn] then used[fn], queue[#queue + 1] = true, fn end
    end
  end
  for _, fn in ipairs(file.functions) do
    if fn.field and not file:function_at(fn.from) then
      by_field[fn.field] = by_field[fn.field] or {}
      table.insert(by_field[fn.field], fn)
    end
  end
  for field in pairs(named) do use(field) end
  while #queue > 0 do
    local fn = table.remove(queue)
    for index = fn.from + 1, fn.to do
      if file.list[index].kind == "name" then use(file.list[index].text) end
    end
  end
  return used
end

-- What the text of the handlers shows, in all files: called methods, and strings. In the
-- configuration's own file, strings outside of functions count only if `is_outside` is set, as for
-- scripts.
local function evidence(file, modules, is_outside)
  local seen = { calls = {}, strings = {}, run_modes = {}, makes = false }
  local function look(one, is_own)
    for _, call in ipairs(one.calls) do
      seen.calls[call.name] = true
      if source.maker(call) then seen.makes = true end
      if call.name == "run" and scripts.is_loop(one, call) then
        local mode = one:run_mode(call)
        if mode then seen.run_modes[mode] = true else seen.any_mode = true end
      end
    end
    for index, token in ipairs(one.list) do
      if token.kind == "string" and (not is_own or is_outside and is_outside(index)
        or one:function_at(index)) then
        seen.strings[token.text] = true
      end
    end
  end
  look(file, true)
  for _, one in ipairs(modules) do look(one, false) end
  return seen
end

-- ── by the plan ─────────────────────────────────────────────────────────────────────────────────

local function label(item) return ("%s '%s'"):format(item.section:sub(1, -2), item.name) end

local function modes_run(made)
  local ran, names = {}, {}
  for _, phase in ipairs(made.phases) do
    if not ran[phase.mode] then names[#names + 1] = phase.mode end
    ran[phase.mode] = true
  end
  return ran, names
end

local function modes_never_run(doc, made, seen, report)
  local ran, names = modes_run(made)
  for _, item in ipairs(made.items) do
    local is_run = seen.any_mode or false
    for _, mode in ipairs(item.modes) do
      is_run = is_run or ran[mode] or seen.run_modes[mode] or seen.strings[mode] or false
    end
    if not is_run then
      report("mode-never-run", positions.line(doc.node, { item.section, item.name, "modes" }),
        ("%s is in mode '%s', which no phase runs%s"):format(label(item),
          table.concat(item.modes, "', '"),
          spelling.hint(item.modes[1], names, "the phases run")))
    end
  end
end

-- An item that stays in a mode until something ends it; nil if there is none.
local function holds_for_ever(made, name)
  for _, item in ipairs(made.items) do
    local is_once = item.section == "timers" and not item.every or item.kind == "process"
    if item.holds and not is_once then
      for _, mode in ipairs(item.modes) do
        if mode == name then return item end
      end
    end
  end
end

local function stops(doc, seen)
  if seen.calls.stop or seen.calls.exit then return true end
  for _, one in pairs(doc.value.signals or {}) do
    if type(one) ~= "table" or one.stop ~= nil or one.handler then return true end
  end
  return false
end

local function phases(doc, made, seen, report)
  for place, phase in ipairs(made.phases) do
    local mode
    for _, one in ipairs(made.modes) do
      if one.name == phase.mode then mode = one end
    end
    local line = phase.line or doc.node.line
    local holder = holds_for_ever(made, phase.mode)
    if place < #made.phases and holder and not phase.timeout and not phase.until_handled
      and not stops(doc, seen) then
      report("never-ends", line, ("phase %d in mode '%s' never ends: %s keeps it open and nothing "
        .. "stops it, so phase %d never begins"):format(place, phase.mode, label(holder),
        place + 1))
    end
    local may_be_filled = seen.strings[phase.mode] or phase.mode == "default" and seen.makes
    if mode.holders == 0 and not may_be_filled then
      report("ends-at-once", line, ("phase %d ends at once: nothing in mode '%s' keeps it open")
        :format(place, phase.mode))
    end
  end
end

-- Runs of handlers in modes that nothing is in and that no other text of `all` names.
-- @param named the fields that are handlers of this configuration, by the file of their module
local function empty_runs(made, files, all, named)
  local filled, names, runs = {}, {}, {}
  for _, item in ipairs(made.items) do
    for _, mode in ipairs(item.modes) do
      if not filled[mode] then names[#names + 1] = mode end
      filled[mode] = true
    end
  end
  table.sort(names)
  filled.common, filled.default = true, true
  local counts = {}
  for _, file in ipairs(files) do
    local used = named[file] and used_functions(file, named[file])
    for _, call in ipairs(file.calls) do
      local mode = call.name == "run" and scripts.is_loop(file, call) and file:run_mode(call)
      if mode and not filled[mode] then
        local outer = file:outermost_at(call.index)
        if not (used and outer) or used[outer] then
          runs[#runs + 1] = { file = file, line = call.line, mode = mode }
        end
        counts[mode] = (counts[mode] or 0) + 1
      end
    end
  end
  for _, run in ipairs(runs) do
    local named = 0
    for _, file in ipairs(all) do named = named + file:count_string(run.mode) end
    if named == counts[run.mode] then
      run.file.report("ends-at-once", run.line, ("no item is in mode '%s'%s"):format(run.mode,
        #names == 0 and "" or spelling.hint(run.mode, names, "there are items in")))
    end
  end
end

local function never_signalled(made, seen, report)
  if seen.calls.signal then return end
  for _, item in ipairs(made.items) do
    if item.kind == "perform" then
      report("never-signalled", item.line, ("nothing signals %s"):format(label(item)))
    end
  end
end

local function intervals(doc, made, report)
  for _, item in ipairs(made.items) do
    local every, tolerance = item.every, item.every and item.value.tolerance
    local function line(key) return positions.line(doc.node, { item.section, item.name, key }) end
    if every and every < 0.001 then
      report("zero-interval", line "every",
        ("%s repeats every %s"):format(label(item), units.time(every)))
    end
    if every and tolerance and tolerance >= every then
      report("wide-tolerance", line "tolerance", ("%s repeats every %s and may be late by %s")
        :format(label(item), units.time(every), units.time(tolerance)))
    end
  end
end

local function meet(one, other)
  for _, mode in ipairs(one.modes) do
    for _, name in ipairs(other.modes) do
      if mode == name then return true end
    end
  end
  return false
end

local function shared_wake_ups(made, report)
  local all = {}
  for _, item in ipairs(made.items) do
    all[#all + 1] = { every = item.every, first = item.value.first,
      tolerance = item.value.tolerance, item = item }
  end
  scripts.each_alone(all, function(one, other) return meet(one.item, other.item) end,
    function(one, other, apart)
      report("shared-wake-up", one.item.line, ("timers '%s' and '%s' repeat every %s, %s apart, "
        .. "and no tolerance covers that"):format(other.item.name, one.item.name,
        units.time(one.every), units.time(apart)))
    end)
end

-- ── by a run ────────────────────────────────────────────────────────────────────────────────────

-- Whether a row was ever late because of another.
local function is_made_late(result, row, other)
  for _, place in ipairs(row.made_late_by) do
    if result.items[place] == other then return true end
  end
  return false
end

-- Runs the configuration, in real time while busy; reports why timers miss fires.
local function by_run(doc, made, seconds, report)
  local simulation = require "moonloop.planning.simulation"
  local result, message =
    simulation.run(doc, simulation.settings { ["for"] = seconds, clock = "skip_idle" })
  if not result then return report("mistake", doc.node.line, message) end
  local rows = {}
  for place, item in ipairs(made.items) do rows[item] = result.rows[place] end
  for _, item in ipairs(made.items) do
    local starved = {}
    for _, other in ipairs(made.items) do
      if other ~= item and other.every and rows[other].missed > 0 and meet(item, other)
        and rows[item].busy_max >= other.every
        and is_made_late(result, rows[other], rows[item]) then
        starved[#starved + 1] = ("'%s' (every %s)"):format(other.name, units.time(other.every))
      end
    end
    if #starved > 0 then
      report("starves-others", item.line, ("one call of the handler of %s took longer than an "
        .. "interval of %s, which missed fires"):format(label(item), layout.list(starved)))
    end
  end
  for _, cause in ipairs(result.causes) do
    if cause.line then report(cause.rule, cause.line, cause.text) end
  end
end

-- The rules that use the plan of a valid document.
local function check_document(doc, file, report, files, others, is_outside)
  local made = plan.make(doc)
  mark_inline(doc, made, file)
  local modules, named = handler_files(doc, made, files)
  local all = table.move(others, 1, #others, 1, table.move(modules, 1, #modules, #others + 1, {}))
  local seen = evidence(file, all, is_outside)
  scripts.handlers(file, report)
  for _, one in ipairs(modules) do scripts.handlers(one, one.report) end
  modes_never_run(doc, made, seen, report)
  -- A script may run its loop in its own way.
  if doc.value.run or not is_outside then phases(doc, made, seen, report) end
  if not is_outside then
    empty_runs(made, table.move(modules, 1, #modules, 2, { file }),
      table.move(all, 1, #all, 2, { file }), named)
  end
  never_signalled(made, seen, report)
  intervals(doc, made, report)
  shared_wake_ups(made, report)
  return made
end

local function report_mistakes(found, report)
  for _, mistake in ipairs(found) do
    report("mistake", mistake.line,
      (mistake.path == "" and "" or mistake.path .. ": ") .. mistake.problem)
  end
  return #found > 0
end

-- All rules for a configuration. `files(path, text)` returns the analysis of a file and its report.
function configurations.check(path, file, options, report, files, others)
  configuration.set_arguments(path)
  local doc, message = configuration.read(path)
  if not doc then
    local line, text = message:match ":(%d+): (.*)$"
    return report("mistake", tonumber(line) or 1, text or message)
  end
  if report_mistakes(configuration.mistakes(doc), report) then return end
  local made = check_document(doc, file, report, files, others)
  if options["for"] then by_run(doc, made, options["for"], report) end
end

-- The rules for the tables that a script passes to `ml.configure`, as far as they are literal.
function configurations.check_script(file, report, files, others)
  for _, one in ipairs(literals.of(file)) do
    if not report_mistakes(configuration.mistakes(one.doc, true), report) then
      if one.is_whole then
        check_document(one.doc, file, report, files, others, function(index)
          return index < one.from or index > one.to
        end)
      else
        local made = plan.make(one.doc)
        mark_inline(one.doc, made, file)
        intervals(one.doc, made, report)
        shared_wake_ups(made, report)
      end
    end
  end
end

return configurations
