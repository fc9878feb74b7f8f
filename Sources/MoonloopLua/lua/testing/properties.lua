-- Properties: a function is called with many values, and the values of a failure are made smaller.
--
-- What makes a value draws whole numbers, of which 0 is the simplest. The numbers that were drawn
-- are kept; fewer or smaller ones make a simpler value, whatever makes it. A list draws a mark in
-- front of each item, 1 for another one, so that items can be left out.
local bed = require "moonloop.testing.bed"
local beds = require "moonloop.testing.beds"
local diff = require "moonloop.testing.diff"
local failure = require "moonloop.testing.failure"
local ml = require "moonloop"
local spelling = require "moonloop.text.spelling"
local units = require "moonloop.text.units"
local values = require "moonloop.testing.values"

local properties = {}

-- How many cases are tried to make a failure smaller, and how many numbers they may draw together.
local TRIES, DRAWS = 1000, 5000000
-- Items of a list, unless more are asked for; and of most lists, however long they may be.
local ITEMS = 10
-- How long a case waits for the tasks that it has made, in seconds of its clock.
local PATIENCE = { real = 1, virtual = 60 }
-- What the awaits of a test that is ended raise.
properties.OVER = "the test is over"

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
  local random, source = random_of(seed), { drawn = {}, marks = {} }
  -- How long a list is to be: as long as it may be at times, where mistakes are.
  function source.size(most)
    local kind, number = math.abs(random() % 16), random() & math.maxinteger
    if kind == 0 then return most end
    return number % ((kind < 4 and most or math.min(most, ITEMS)) + 1)
  end
  function source.mark(goes_on)
    source.drawn[#source.drawn + 1] = goes_on and 1 or 0
    source.marks[#source.drawn] = true
    return goes_on
  end
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
  local source = { drawn = {}, marks = {} }
  function source.size(most) return most end
  function source.draw(most)
    local number = math.min(numbers[#source.drawn + 1] or 0, most)
    source.drawn[#source.drawn + 1] = number
    return number
  end
  function source.mark(may_go_on)
    local goes_on = source.draw(may_go_on and 1 or 0) == 1
    source.marks[#source.drawn] = true
    return goes_on
  end
  return source
end

-- ── what makes values ──

local any = {}
properties.any = setmetatable({}, { __index = function(_, name)
  return any[name] or spelling.no_field("t.any", name, {}, any)
end })

local function check_maker(name, one)
  if getmetatable(one) == maker then return one end
  error(("t.any.%s: needs a maker of values, such as t.any.integer(), got %s"):format(
    name, values.format(one)), 3)
end

--- Whole numbers from `least` to `most`; the simplest is the one next to 0.
function any.integer(least, most)
  least, most = math.tointeger(least or -1000), math.tointeger(most or 1000)
  if not least or not most or least > most then
    error("t.any.integer: needs two whole numbers, the smaller one first", 2)
  end
  local middle = math.max(least, math.min(most, 0))
  return new_maker(function(source)
    if middle == least then return middle + source.draw(most - middle) end
    if most < 0 then return middle - source.draw(middle - least) end
    if source.draw(1) == 1 then return -1 - source.draw(-1 - least) end  -- the width may overflow
    return source.draw(most)
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

-- The largest size of a list or string.
local function check_size(name, most)
  most = most == nil and ITEMS or most
  if math.type(most) == "integer" and most >= 0 then return most end
  error(("t.any.%s: the largest size must be a whole number >= 0, got %s"):format(
    name, values.format(most)), 3)
end

-- Makes a list of at most `most` items by a function.
local function make_list(source, most, make)
  local list, wanted = {}, source.size(most)
  while source.mark(#list < wanted) do list[#list + 1] = make(source) end
  return list
end

--- Lists of at most `most` values, by default 10.
function any.list(item, most)
  check_maker("list", item)
  most = check_size("list", most)
  return new_maker(function(source) return make_list(source, most, item.make) end)
end

-- The characters of a text, or its bytes if it is no UTF-8.
local function characters_of(text)
  local list = {}
  for one in text:gmatch(utf8.len(text) and utf8.charpattern or ".") do list[#list + 1] = one end
  return list
end

--- Texts of at most `most` bytes, by default 10, or characters of `alphabet`.
function any.string(most, alphabet)
  most = check_size("string", most)
  if alphabet ~= nil and (type(alphabet) ~= "string" or alphabet == "") then
    error(("t.any.string: the alphabet must be a string of characters, got %s"):format(
      values.format(alphabet)), 2)
  end
  local characters = alphabet and characters_of(alphabet)
  local function make(source)
    if characters then return characters[source.draw(#characters - 1) + 1] end
    -- From 'a' on: a letter is simpler than a control character.
    return string.char((source.draw(255) + 97) % 256)
  end
  return new_maker(function(source) return table.concat(make_list(source, most, make)) end)
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

-- Whether an error is the reason for which the task that checks was cancelled: then every await
-- raises it.
local function is_reason(result)
  local ok, reason = pcall(ml.sleep, 0)
  return not ok and (rawequal(reason, result)
    or type(reason) == "string" and failure.text(result):find(reason, 1, true) ~= nil)
end

-- What pcall returns; the end of the task, and of a test that is pending, is no failure of a case.
local function checked(ok, result)
  if not ok and (failure.kind(result) == "pending" or is_reason(result)) then error(result, 0) end
  return ok, result
end

local function await_all(tasks)
  for _, task in ipairs(tasks) do task:await() end
end

-- Calls the function, and lets what it has begun go on: handlers that are due; tasks, for a while.
-- Returns what pcall does, and the first error that was reported meanwhile.
local function call(fn, list)
  local _, before = bed.reports()
  local look = bed.tasks()
  local ok, result = pcall(fn, table.unpack(list, 1, list.n))
  local new = bed.tasks(look)
  checked(ok, result)
  local are_well, raised = checked(pcall(ml.timeout, PATIENCE[beds.clock()] or PATIENCE.virtual,
    await_all, new))
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
  local message = not ok and failure.text(result) or reported or "it returned false"
  local compared = not ok and failure.compared(result)
  if compared then
    message = failure.without_values(message) .. "\n  "
      .. table.concat(diff.lines(diff.texts(compared)), "\n  ")
  end
  return table.concat(shown, ", "), (message:gsub("\n", "\n  "))
end

local function is_simpler(a, b)
  if #a ~= #b then return #a < #b end
  for index = 1, #a do
    if a[index] ~= b[index] then return a[index] < b[index] end
  end
  return false
end

-- The ways to make what was found simpler. `now()` is the list of numbers so far, and a set of the
-- indices that are marks; `try(numbers)` returns whether these are simpler and fail, too. They stop
-- when `try` raises an error.
local ways = {}

-- Makes all numbers 0 that are no marks, or as many as may be.
function ways.zeros(now, try)
  local function zero(from, to)
    local changed, marks = table.move(now(), 1, #now(), 1, {}), select(2, now())
    local is_new = false
    for index = from, math.min(to, #changed) do
      if not marks[index] and changed[index] > 0 then changed[index], is_new = 0, true end
    end
    if not is_new or try(changed) or to <= from then return end
    local middle = (from + to) // 2
    zero(from, middle)
    zero(middle + 1, to)
  end
  zero(1, #now())
end

-- Leaves out runs of numbers, long ones first.
function ways.shorter(now, try)
  local size = 1
  while 2 * size <= #now() do size = 2 * size end
  while size > 0 do
    local first = 1
    while first + size - 1 <= #now() do
      local list = now()
      local step = (size > 8 or #list > 200) and size or 1
      local shorter = table.move(list, 1, first - 1, 1, {})
      table.move(list, first + size, #list, first, shorter)
      if not try(shorter) then first = first + step end
    end
    if size > 8 then ways.zeros(now, try) end  -- a mark may have become a value
    size = size // 2
  end
end

-- Makes each number smaller, halving the distance to the smallest one.
function ways.smaller(now, try)
  local index = 1
  while index <= #now() do
    local list, marks = now()
    local low, high = -1, marks[index] and 0 or list[index]
    while high - low > 1 do
      local middle = low < 0 and 0 or low + (high - low) // 2
      local changed = table.move(now(), 1, #now(), 1, {})
      changed[index] = middle
      if try(changed) then high = math.min(middle, now()[index] or 0) else low = middle end
    end
    index = index + 1
  end
end

-- Makes one number 0 for the good of a later one: of two values whose sum matters, one can go then.
function ways.moved(now, try)
  for index = 1, #now() - 1 do
    for other = index + 1, #now() do
      local list, marks = now()
      if (list[index] or 0) == 0 or marks[index] then break end
      if list[other] and not marks[other] and list[other] + list[index] > 0 then
        local changed = table.move(list, 1, #list, 1, {})
        changed[index], changed[other] = 0, list[other] + list[index]
        try(changed)
      end
    end
  end
end

-- The simplest failure that is found from the numbers of one; `tell` is called with each.
local function shrink(makers, fn, found, tell)
  local tries, draws, is_better = 0, 0, nil
  local over = {}
  local function now() return found.drawn, found.marks end
  local function try(numbers)
    tries, draws = tries + 1, draws + #numbers
    if tries > TRIES or draws > DRAWS then error(over, 0) end
    local source = given_source(numbers)
    local shown, message = failing(makers, fn, source)
    if not shown or not is_simpler(source.drawn, found.drawn) then return false end
    found = { shown = shown, message = message, drawn = source.drawn, marks = source.marks,
      steps = found.steps + 1 }
    tell(found)
    is_better = true
    return true
  end
  local ok, why = pcall(function()
    repeat
      is_better = false
      ways.zeros(now, try)
      ways.shorter(now, try)
      ways.smaller(now, try)
      ways.moved(now, try)
    until not is_better
  end)
  if not ok and why ~= over then error(why, 0) end
end

local function check_arguments(makers, fn, options)
  if type(makers) ~= "table" or getmetatable(makers) == maker or #makers == 0 then
    error("t:forall: needs a list with a maker for each argument, such as { t.any.integer() }", 5)
  end
  for _, one in ipairs(makers) do
    if getmetatable(one) ~= maker then
      error("t:forall: the list must hold makers of values, such as t.any.integer(); got "
        .. values.format(one), 5)
    end
  end
  if type(fn) ~= "function" then
    error(("t:forall: needs a function, got %s"):format(type(fn)), 5)
  end
  for name in pairs(options) do
    if name ~= "runs" and name ~= "seed" then
      error(("t:forall: unknown option '%s'; there are runs, seed"):format(tostring(name)), 5)
    end
  end
  local runs = options.runs
  if runs ~= nil and (math.type(runs) ~= "integer" or runs < 1) then
    error(("t:forall: 'runs' must be a whole number > 0, got %s"):format(values.format(runs)), 5)
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
      local found = { shown = shown, message = message, drawn = source.drawn,
        marks = source.marks, steps = 0 }
      tell_of(found)
      return shrink(makers, fn, found, tell_of)
    end
  end
end

return properties
