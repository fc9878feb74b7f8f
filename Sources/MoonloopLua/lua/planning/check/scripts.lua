-- The rules for handlers and scripts, applied to their text.
local sources = require "moonloop.configuration.sources"
local lifetimes = require "moonloop.planning.check.lifetimes"
local names = require "moonloop.planning.check.names"
local slips = require "moonloop.planning.check.slips"
local source = require "moonloop.planning.check.source"
local lists = require "moonloop.text.lists"
local spelling = require "moonloop.text.spelling"
local units = require "moonloop.text.units"
local values = require "moonloop.planning.check.values"

local scripts = {}

local function list(value) return type(value) == "table" and value or { value } end

-- ── in handlers: of scripts, configurations and modules ─────────────────────────────────────────

-- Whether a call is one of a loop's methods, as far as the receiver's name shows it.
function scripts.is_loop(file, call)
  return call.is_method and (call.receiver == "loop" or call.receiver == "lp"
    or call.receiver == "()" or names.receiver(file, call) == "loop")
end
local is_loop = scripts.is_loop

local function nested_default(file, report)
  for _, call in ipairs(file.calls) do
    if call.name == "run" and is_loop(file, call) and file:handler_at(call.index)
      and file:run_mode(call) == "default" then
      report("nested-default", call.line, "a handler runs its loop in the default mode")
    end
  end
end

local BLOCKING = { ["io.read"] = true, ["io.popen"] = true, ["os.execute"] = true }

local function blocking(file, report)
  for _, call in ipairs(file.calls) do
    local name = call.receiver .. "." .. call.name
    if BLOCKING[name] and not call.is_method and file:handler_at(call.index) then
      report("blocks-the-loop", call.line, ("a handler calls %s"):format(name))
    end
  end
end

local function signal_without_wake_up(file, report)
  for _, call in ipairs(file.calls) do
    local fn = call.name == "signal" and call.is_method and not call.is_table
      and #call.items == 0 and file:handler_at(call.index)
    local on = fn and (fn.activities or fn.handler_of == "observer" and fn.call
      and list(file:literal(fn.call.fields.on)))
    if on and lists.contains(on, "before_waiting")
      and not file:calls_between("wake_up", fn.from, fn.to) then
      report("signal-without-wake-up", call.line,
        ("an observer of before_waiting signals '%s' without waking the loop")
          :format(call.receiver))
    end
  end
end

local MADE = sources.by_method "made"
MADE.every, MADE.observer = "a repeating timer", "an observer"

local function never_invalidated(file, report)
  for _, call in ipairs(file.calls) do
    local kind = source.maker(call)
    local outer = file:handler_at(call.start)
    local is_once = call.fields["repeats"]
      and file.list[call.fields["repeats"].from].text == "false"
    if MADE[kind] and (call.is_method or call.receiver == "ml") and not is_once and outer
      and outer.repeats and file:is_statement(call)
      and not file:calls_between("invalidate", call.index, call.last)
      and not file:calls_between("close", call.index, call.last) then
      report("never-invalidated", call.line,
        ("a handler makes %s and drops the handle"):format(MADE[kind]))
    end
  end
end

-- Functions that call themselves again at once: loop:after(0, f) in f.
local function spinning(file, report)
  for _, call in ipairs(file.calls) do
    local fn = call.name == "after" and call.is_method and file:function_at(call.index)
    local name = fn and fn.name and call.items[2] and file.list[call.items[2].from].text
    if name == (fn and fn.name) and name and file:literal(call.items[1]) == 0 then
      report("zero-interval", call.line, ("'%s' calls itself again without a delay"):format(name))
    end
  end
end

-- Whether a file gives a table a field of this name itself.
local function defines(file, name)
  for index, token in ipairs(file.list) do
    local before, after = file.list[index - 1], file.list[index + 1]
    if token.text == name and token.kind == "name" and before
      and (before.text == "." or before.text == ":")
      and (after.text == "=" or file.list[index - 3] and file.list[index - 3].text == "function")
    then
      return true
    end
  end
  return false
end

-- Functions, methods and options that do not exist.
local function unknown_names(file, report)
  for _, call in ipairs(file.calls) do
    local entry, receiver, entries, name = names.entry(file, call)
    if entry then
      for _, one in ipairs(names.unknown_options(file, call, entry)) do
        report("unknown-name", one.line, ("%s has no option '%s'%s"):format(
          names.written(receiver, call.name), one.name,
          spelling.hint(one.name, one.known, "the options are")))
      end
    elseif receiver and not defines(file, name) then
      local meant = spelling.nearest(name, entries.list)
      report("unknown-name", call.line, ("there is no %s%s"):format(
        names.written(receiver, name), meant and ("; did you mean '%s'?"):format(meant) or ""))
    end
  end
end

-- The rules for the handlers in a file.
function scripts.handlers(file, report)
  nested_default(file, report)
  blocking(file, report)
  signal_without_wake_up(file, report)
  never_invalidated(file, report)
  spinning(file, report)
  unknown_names(file, report)
  values.check(file, report)
  lifetimes.never_added(file, report)
  slips.check(file, report)
end

-- ── whole scripts ───────────────────────────────────────────────────────────────────────────────

-- The repeating timers with literal intervals.
local function timers(file)
  local found = {}
  for _, call in ipairs(file.calls) do
    if source.maker(call) == "every" and (call.is_method or call.receiver == "ml") then
      local every = call.fields.every or not call.is_table and call.items[1]
      found[#found + 1] = { call = call, every = file:literal(every or nil),
        tolerance = file:literal(call.fields.tolerance), first = file:literal(call.fields.first),
        modes = call.fields.modes, is_literal = true,
        mode = file:literal(call.fields.modes), scope = file:function_at(call.index) }
      local timer = found[#found]
      for _, key in ipairs { "tolerance", "first" } do
        if call.fields[key] and type(timer[key]) ~= "number" then timer.is_literal = false end
      end
    end
  end
  return found
end

local function intervals(file, report)
  for _, timer in ipairs(timers(file)) do
    local every = timer.every
    if type(every) == "number" and every < 0.001 then
      report("zero-interval", timer.call.line,
        ("a timer repeats every %s"):format(units.time(math.max(0, every))))
    end
    local tolerance = timer.tolerance
    if type(every) == "number" and type(tolerance) == "number" and tolerance >= every then
      report("wide-tolerance", timer.call.line,
        ("a timer repeats every %s and may be late by %s"):format(units.time(every),
          units.time(tolerance)))
    end
  end
end

local function same_modes(a, b)
  if a.modes == nil and b.modes == nil then return true end
  return type(a.mode) == "string" and a.mode == b.mode
end

-- How long before each date of another timer one of equal interval has its own; nil if a wake-up
-- serves both. What is made together starts together.
local function apart(one, other)
  local every, first = one.every, (other.first or 0) - (one.first or 0)
  local ahead = first % every
  local is_same = ahead < every * 1e-6 or ahead > every * (1 - 1e-6)
  if is_same or ahead <= (one.tolerance or 0) or every - ahead <= (other.tolerance or 0) then
    return nil
  end
  return math.min(ahead, every - ahead)
end

-- Calls a function with each timer that shares no wake-up with those before it, though their
-- intervals are equal; with one of them, and how far they are apart.
-- @param timers tables with every, first and tolerance
-- @param meet whether two of them are served in the same run
function scripts.each_alone(timers, meet, body)
  for place, one in ipairs(timers) do
    local found, distance
    for before = 1, one.every and place - 1 or 0 do
      local other = timers[before]
      if other.every == one.every and meet(one, other) then
        local far = apart(one, other)
        if not far then
          found = nil
          break
        end
        if not found then found, distance = other, far end
      end
    end
    if found then body(one, found, distance) end
  end
end

local function shared_wake_ups(file, report)
  local known = {}
  for _, timer in ipairs(timers(file)) do
    if timer.is_literal and type(timer.every) == "number" and timer.every > 0 then
      known[#known + 1] = timer
    end
  end
  scripts.each_alone(known, function(one, other)
    return same_modes(one, other) and one.scope == other.scope
  end, function(one, other, distance)
    report("shared-wake-up", one.call.line, ("this timer and that of line %d repeat every %s, %s "
      .. "apart, and no tolerance covers that"):format(other.call.line,
      units.time(one.every), units.time(distance)))
  end)
end

-- A script's use of modes: where items are put, where runs are, and whether all of it is literal.
local function mode_uses(file)
  local uses = { items = {}, runs = {}, dynamic_items = false, dynamic_runs = false, counts = {} }
  local function note(entry, into, line)
    local value = file:literal(entry)
    if type(value) ~= "string" and type(value) ~= "table" then return false end
    for _, name in ipairs(list(value)) do
      into[#into + 1] = { name = name, line = line }
      uses.counts[name] = (uses.counts[name] or 0) + 1
    end
    return true
  end
  for _, call in ipairs(file.calls) do
    local line = call.line
    if call.fields.modes and not note(call.fields.modes, uses.items, line) then
      uses.dynamic_items = true
    end
    local ran = call.fields.mode
    if call.name == "run" and call.is_method and not call.is_table then ran = call.items[1] end
    if (call.name == "run" or call.name == "wait") and ran and not note(ran, uses.runs, line) then
      uses.dynamic_runs = true
    end
    if call.name == "add" and call.is_method and call.items[2] then
      if not note(call.items[2], uses.items, line) then uses.dynamic_items = true end
    end
    if call.name == "add_common_mode" and call.items[1] then
      local name = file:literal(call.items[1])
      if type(name) == "string" then uses.counts[name] = (uses.counts[name] or 0) + 1 end
    end
  end
  return uses
end

local function modes(file, report)
  local uses = mode_uses(file)
  local ran, filled = {}, {}
  for _, run in ipairs(uses.runs) do
    ran[run.name] = true
    if run.name == "common" then
      report("runs-common", run.line, "a run in mode 'common'")
    end
  end
  for _, item in ipairs(uses.items) do filled[item.name] = true end
  if file:is_module() then return end
  local told = {}
  for _, item in ipairs(uses.items) do
    local name = item.name
    local is_elsewhere = file:count_string(name) > (uses.counts[name] or 0)
    if name ~= "default" and name ~= "common" and not ran[name] and not uses.dynamic_runs
      and not is_elsewhere and not told[name] then
      told[name] = true
      report("mode-never-run", item.line, ("nothing runs the loop in mode '%s'"):format(name))
    end
  end
  for _, run in ipairs(uses.runs) do
    local name = run.name
    if name ~= "default" and name ~= "common" and not filled[name] and not uses.dynamic_items
      and file:count_string(name) == uses.counts[name] and not told[name] then
      told[name] = true
      report("ends-at-once", run.line, ("no item is in mode '%s'"):format(name))
    end
  end
end

-- What may end a run, or what keeps it open, from inside.
local ENDING = lists.set "stop exit invalidate close cancel keep_alive disable"
local HOLDING = sources.by_method "holding"
HOLDING.every = "timer"

-- Runs at the top level, with code after them, that never end.
local function never_ends(file, report)
  for _, call in ipairs(file.calls) do
    if ENDING[call.name] then return end
  end
  if file:count_string "stop" > 0 then return end
  local function in_mode(call, mode)
    local modes = call.fields.modes and file:literal(call.fields.modes) or "default"
    if call.fields.modes and file:literal(call.fields.modes) == nil then return false end
    return lists.contains(list(modes), mode)
      or mode == "default" and lists.contains(list(modes), "common")
  end
  for _, run in ipairs(file.calls) do
    local below = run.last + 1
    while file.list[below].text == "end" and file.list[below].kind == "name" do
      below = below + 1
    end
    local mode = file:run_mode(run)
    if run.name == "run" and is_loop(file, run) and file:is_statement(run)
      and not file:function_at(run.index) and not run.fields.timeout
      and not run.fields.until_handled and mode
      and file.list[below].kind ~= "end" then
      for _, call in ipairs(file.calls) do
        local kind = HOLDING[source.maker(call)]
        if kind and call.is_method and call.index < run.index and in_mode(call, mode)
          and not file:function_at(call.index) then
          report("never-ends", run.line, ("this run in mode '%s' never ends: the %s of line %d "
            .. "keeps it open and nothing stops it, so the code below never runs")
            :format(mode, kind, call.line))
          break
        end
      end
    end
  end
end

-- Sources that a script keeps to itself and never signals.
local function never_signalled(file, report)
  local escapes = file:is_module()
  for _, call in ipairs(file.calls) do
    if call.name == "signal" and not call.is_table and #call.items == 0 then return end
  end
  for _, token in ipairs(file.list) do
    if token.kind == "string" and token.text == "signal" then escapes = true end
  end
  if escapes then return end
  for _, call in ipairs(file.calls) do
    if call.name == "source" and call.fields.perform then
      local name = file:literal(call.fields.name)
      report("never-signalled", call.line,
        ("nothing signals the source%s"):format(type(name) == "string" and " '" .. name .. "'"
          or ""))
    end
  end
end

-- All rules for a script.
function scripts.check(file, report)
  if not file:is_ours() then return end
  scripts.handlers(file, report)
  intervals(file, report)
  shared_wake_ups(file, report)
  modes(file, report)
  never_ends(file, report)
  never_signalled(file, report)
  lifetimes.closed_at_once(file, report)
end

return scripts
