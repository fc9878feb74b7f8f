-- Properties: a function is called with many values, and the values of a failure are made smaller.
--
-- What makes a value draws whole numbers, of which 0 is the simplest. The numbers that were drawn
-- are kept; fewer or smaller ones make a simpler value, whatever makes it.
local bed = require "moonloop.testing.bed"
local beds = require "moonloop.testing.beds"
local failure = require "moonloop.testing.failure"
local ml = require "moonloop"
local units = require "moonloop.text.units"
local values = require "moonloop.testing.values"

local properties = {}

-- How many cases are tried to make a failure smaller.
local TRIES = 1000
-- How long a case waits for the tasks that it has made, in seconds of its clock.
local PATIENCE = { real = 1, virtual = 60 }
-- What the awaits of a test that is ended raise.
local OVER = "the test is over"

local maker = { __name = "moonloop.testing.maker" }

local function new_maker(make) return setmetatable({ make = make }, maker) end

-- ── drawing ──

-- A stream of numbers that `math.random` has no part in.
local function random_of(seed)
  local state = seed * 0x9E3779B97F4A7C15
  return function()
    state = state + 0x9E3779B97F4A7C15
    local z = (state ~ (state >> 30)) * 0xBF58476D1CE4E5B9
    z = (z ~ (z >> 27)) * 0x94D049BB133111EB
    return z ~ (z >> 31)
  end
end

-- A source of random numbers; some of them small, and some as large as may be, where mistakes are.
local function random_source(seed)
  local random, source = random_of(seed), { drawn = {} }
  function source.draw(most)
    local kind, number = math.abs(random() % 16), random()
    local range = kind < 4 and math.min(most, 4) or most
    number = kind == 15 and most or range == math.maxinteger and number & math.maxinteger
      or (number & math.maxinteger) % (range + 1)
    source.drawn[#source.drawn + 1] = number
    return number
  end
  return source
end

-- A source of given numbers, then of 0.
local function given_source(numbers)
  local source = { drawn = {} }
  function source.draw(most)
    local number = math.min(numbers[#source.drawn + 1] or 0, most)
    source.drawn[#source.drawn + 1] = number
    return number
  end
  return source
end

-- ── what makes values ──

local any = {}
properties.any = any

local function check_maker(name, one)
  if getmetatable(one) == maker then return one end
  error(("t.any.%s: needs a maker of values, such as t.any.integer(), got %s"):format(
    name, values.format(one)), 3)
end

--- Whole numbers from `least` to `most`; the simplest is the one next to 0.
function any.integer(least, most)
  least, most = math.tointeger(least or -1000), math.tointeger(most or 1000)
  if not least or not most or least > most or most - least < 0 then
    error("t.any.integer: needs two whole numbers, the smaller one first", 2)
  end
  local middle = math.max(least, math.min(most, 0))
  return new_maker(function(source)
    if middle == least then return middle + source.draw(most - middle) end
    if middle == most or source.draw(1) == 1 then return middle - source.draw(middle - least) end
    return middle + source.draw(most - middle)
  end)
end

--- Numbers from `least` to `most`.
function any.number(least, most)
  least, most = least or 0, most or 1
  return new_maker(function(source)
    return least + (most - least) * (source.draw(1 << 20) / (1 << 20))
  end)
end

function any.boolean() return new_maker(function(source) return source.draw(1) == 1 end) end

--- One of some values; what makes a value stands for a value of that.
function any.one_of(list)
  if type(list) ~= "table" or #list == 0 then
    error("t.any.one_of: needs a list of values, such as { \"a\", \"b\" }", 2)
  end
  return new_maker(function(source)
    local one = list[source.draw(#list - 1) + 1]
    return getmetatable(one) == maker and one.make(source) or one
  end)
end

--- Lists of at most `most` values.
function any.list(item, most)
  check_maker("list", item)
  return new_maker(function(source)
    local list = {}
    while #list < (most or 10) and source.draw(7) > 0 do list[#list + 1] = item.make(source) end
    return list
  end)
end

--- Texts of at most `most` bytes, of all bytes or of those in `alphabet`.
function any.string(most, alphabet)
  local byte = any.integer(0, alphabet and #alphabet - 1 or 255)
  local list = any.list(byte, most)
  return new_maker(function(source)
    local bytes = list.make(source)
    for index, number in ipairs(bytes) do
      -- From 'a' on: a letter is simpler than a control character.
      bytes[index] = alphabet and alphabet:sub(number + 1, number + 1)
        or string.char((number + 97) % 256)
    end
    return table.concat(bytes)
  end)
end

--- Tables with these fields.
function any.table(fields)
  local names = {}
  for name, one in pairs(fields) do
    check_maker("table", one)
    names[#names + 1] = name
  end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  return new_maker(function(source)
    local made = {}
    for _, name in ipairs(names) do made[name] = fields[name].make(source) end
    return made
  end)
end

--- What a function makes of values.
function any.map(one, fn)
  check_maker("map", one)
  return new_maker(function(source) return fn(one.make(source)) end)
end

-- ── checking ──

local function arguments(makers, source)
  local list = { n = #makers }
  for index, one in ipairs(makers) do list[index] = one.make(source) end
  return list
end

-- What pcall returns; the end of the test, and of a test that is pending, is no failure of a case.
local function checked(ok, result)
  if not ok and (failure.kind(result) == "pending" or result == OVER) then error(result, 0) end
  return ok, result
end

local function await_all(tasks)
  for _, task in ipairs(tasks) do task:await() end
end

-- Calls the function, and lets what it has begun go on: handlers that are due; tasks, for a while.
-- Returns what pcall does, and the first error that was reported meanwhile.
local function call(fn, list)
  local _, before = bed.reports()
  bed.tasks(true)
  local ok, result = checked(pcall(fn, table.unpack(list, 1, list.n)))
  local are_well, raised = checked(pcall(ml.timeout, PATIENCE[beds.clock()] or PATIENCE.virtual,
    await_all, bed.tasks()))
  if ok and not are_well then ok, result = are_well, raised end
  ml.sleep(0)
  ml.sleep(0)
  local report = bed.reports(before)[1]
  return ok, result, report and failure.reported(report).message
end

-- Calls the function with what a source makes. Returns nil; or the arguments, shown before the call
-- may change them, and the error.
local function failing(makers, fn, source)
  local list = arguments(makers, source)
  local shown = {}
  for index = 1, list.n do shown[index] = values.format(list[index]) end
  local ok, result, reported = call(fn, list)
  if ok and result ~= false and not reported then return nil end
  return table.concat(shown, ", "), not ok and failure.text(result) or reported
    or "it returned false"
end

local function is_simpler(a, b)
  if #a ~= #b then return #a < #b end
  for index = 1, #a do
    if a[index] ~= b[index] then return a[index] < b[index] end
  end
  return false
end

-- Calls a function with lists in which one number is 0 for the good of a later one: of two values
-- whose sum matters, one can go then.
local function each_moved(list, try)
  for index = 1, #list - 1 do
    for other = index + 1, list[index] > 0 and #list or 0 do
      local changed = table.move(list, 1, #list, 1, {})
      changed[index], changed[other] = 0, list[other] + list[index]
      if changed[other] > 0 and try(changed) then return true end
    end
  end
  return false
end

-- Calls a function with lists in which one number is smaller, halving the distance to the
-- smallest one for which it returns true. Returns whether there is one.
local function bisected(list, index, try)
  local function is_simpler_with(number)
    local changed = table.move(list, 1, #list, 1, {})
    changed[index] = number
    return try(changed)
  end
  local low, high = 0, list[index]
  if high == 0 or is_simpler_with(low) then return high > 0 end
  while high - low > 1 do
    local middle = low + (high - low) // 2
    if is_simpler_with(middle) then high = middle else low = middle end
  end
  return high < list[index]
end

-- Calls a function with lists that may be simpler than a list, until it returns true.
local function each_simpler(list, try)
  for _, size in ipairs { 8, 4, 2, 1 } do
    for first = 1, #list - size + 1 do
      local shorter = table.move(list, 1, first - 1, 1, {})
      if try(table.move(list, first + size, #list, first, shorter)) then return true end
    end
  end
  for index = 1, #list do
    if bisected(list, index, try) then return true end
  end
  return each_moved(list, try)
end

-- The simplest failure that is found from the numbers of one; `tell` is called with each.
local function shrink(makers, fn, found, tell)
  local tries, is_better = 0, nil
  local function try(numbers)
    tries = tries + 1
    if tries > TRIES then return true end
    local source = given_source(numbers)
    local shown, message = failing(makers, fn, source)
    if not shown or not is_simpler(source.drawn, found.drawn) then return false end
    found = { shown = shown, message = message, drawn = source.drawn, steps = found.steps + 1 }
    tell(found)
    is_better = true
    return true
  end
  repeat
    is_better = false
    each_simpler(found.drawn, try)
  until not is_better or tries > TRIES
  return found
end

local function check_arguments(makers, fn, options)
  if type(makers) ~= "table" or getmetatable(makers) == maker or #makers == 0 then
    error("t:forall: needs a list with a maker for each argument, such as { t.any.integer() }", 4)
  end
  for _, one in ipairs(makers) do
    if getmetatable(one) ~= maker then
      error("t:forall: the list must hold makers of values, such as t.any.integer(); got "
        .. values.format(one), 4)
    end
  end
  if type(fn) ~= "function" then
    error(("t:forall: needs a function, got %s"):format(type(fn)), 4)
  end
  for name in pairs(options) do
    if name ~= "runs" and name ~= "seed" then
      error(("t:forall: unknown option '%s'; there are runs, seed"):format(tostring(name)), 4)
    end
  end
  local runs = options.runs
  if runs ~= nil and (math.type(runs) ~= "integer" or runs < 1) then
    error(("t:forall: 'runs' must be a whole number > 0, got %s"):format(values.format(runs)), 4)
  end
end

--- Calls a function with values until it fails, which it does by an error or by returning false.
-- @param seed that of the command line: only the case of this seed is run
-- @param tell called with each failure that is found, the last one the simplest: { seed, text }
function properties.check(makers, fn, options, seed, tell)
  check_arguments(makers, fn, options)
  local first, runs = seed or options.seed or 1, seed and 1 or options.runs or 100
  for index = 1, runs do
    local source = random_source(first + index - 1)
    local shown, message = failing(makers, fn, source)
    if shown then
      local function tell_of(found)
        tell { seed = first + index - 1,
          text = ("it does not hold for %s\n  %s\n  in case %d of %d, simplified %s"):format(
            found.shown, found.message, index, runs, units.plural(found.steps, "time")) }
      end
      local found = { shown = shown, message = message, drawn = source.drawn, steps = 0 }
      tell_of(found)
      return shrink(makers, fn, found, tell_of)
    end
  end
end

return properties
