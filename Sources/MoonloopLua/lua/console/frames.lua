-- The calls of coroutines, as a console shows them.
local frames = {}

-- Calls of the console, the host and the library of asserts do not count as the program's.
local function is_own(info)
  return info.what == "C" or info.source:sub(1, 10) == "@moonloop/"
    or info.source == "=moonloop" or info.source:find("/luassert/", 1, true)
end

-- Limit for the calls kept of an overflowed stack.
local INNER, OUTER = 40, 5

-- The level of a coroutine's outermost call. A binary search, since Lua walks to each level from
-- the innermost.
local function outermost(thread)
  local low, high = 0, 1
  while debug.getinfo(thread, high, "l") do low, high = high, 2 * high end
  while high - low > 1 do
    local middle = (low + high) // 2
    if debug.getinfo(thread, middle, "l") then low = middle else high = middle end
  end
  return low
end

--- The calls of the program in a coroutine, innermost first; there may be others between them.
--- @return { level: integer, info: table, thread: thread, left_out: integer | nil }[]
function frames.of(thread)
  local found, level, is_inside, last = {}, 0, true, outermost(thread)
  while true do
    local info = debug.getinfo(thread, level, "Slnfut")
    if not info then break end
    is_inside = is_inside and is_own(info)
    if not is_inside then
      found[#found + 1] = { level = level, info = info, thread = thread }
    end
    level = level + 1
    if #found == INNER and last - OUTER > level then
      found[INNER].left_out = last - OUTER - level
      level = last - OUTER
    end
  end
  while #found > 0 and is_own(found[#found].info) do found[#found] = nil end
  return found
end

-- The coroutine that another one resumed and waits for: its innermost call, of `coroutine.wrap` or
-- `coroutine.resume`, refers to it.
local function resumed_by(thread)
  local info = debug.getinfo(thread, 0, "Sf")
  if not info or info.what ~= "C" then return nil end
  local _, wrapped = debug.getupvalue(info.func, 1)
  if type(wrapped) == "thread" then return wrapped end
  local _, resumed = debug.getlocal(thread, 0, 1)
  return type(resumed) == "thread" and resumed or nil
end

--- Adds the calls of a chain of coroutines that resumed one another, starting with the call-out's.
function frames.add_outer(found, thread, base)
  local outer, one = {}, base
  while one and one ~= thread do
    outer[#outer + 1] = one
    one = resumed_by(one)
  end
  if one ~= thread then return end
  for place = #outer, 1, -1 do
    local more = frames.of(outer[place])
    if more[1] then more[1].resumes = true end
    table.move(more, 1, #more, #found + 1, found)
  end
end

--- One of the calls in a few words.
function frames.words(frame)
  local info = frame.info
  local name = info.name and ("%s '%s'"):format(info.namewhat, info.name)
    or info.what == "main" and "the main chunk" or info.what == "C" and "?"
    or ("function <%s:%d>"):format(info.short_src, info.linedefined)
  if info.what == "C" then return "[C]: in " .. name end
  return ("%s:%d: in %s"):format(info.short_src, info.currentline, name)
end

--- Where a program is stopped.
function frames.place(found) return found[1] and frames.words(found[1]) or "the console" end

return frames
