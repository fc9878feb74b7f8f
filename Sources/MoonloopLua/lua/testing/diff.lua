-- Differences between two values: the differing lines, with the differing part marked.
local steps_of = require "moonloop.testing.steps"
local values = require "moonloop.testing.values"
local visible = require("moonloop.text.quoting").visible
local parts = require "moonloop.text.values"

local diff = {}

local CONTEXT = 3           -- equal lines to show around a difference
local LINE_MAX = 160        -- longer lines are cut around the difference
local LINES_MAX = 200       -- of a difference; the rest is only counted

local function lines_of(text)
  local lines = {}
  for line in (text .. "\n"):gmatch("(.-)\n") do lines[#lines + 1] = line end
  return lines
end

--- Two values as text, to be shown later or elsewhere; instead of the expected one, `kind` says in
-- words what is expected.
-- Strings of several lines stay as they are; all else is written as in Lua.
function diff.texts(comparison)
  local expected, actual = comparison.expected, comparison.actual
  local is_text = type(expected) == "string" and type(actual) == "string"
    and (expected:find("\n", 1, true) or actual:find("\n", 1, true)) ~= nil
  if is_text then return { expected = visible(expected), actual = visible(actual) } end
  local left, right = values.format(expected), values.format(actual)
  if comparison.kind then return { expected = comparison.kind, actual = right } end
  if left == right and math.type(expected) == "float" and math.type(actual) == "float" then
    -- As many digits as tell them apart.
    left, right = ("%.17g"):format(expected), ("%.17g"):format(actual)
  end
  if expected ~= expected and actual ~= actual then
    left, right = "nan", "nan, which equals nothing, not even itself"
  elseif left == right then
    -- They look alike but differ: show what tells them apart.
    left = ("%s (%s)"):format(left, parts.tostring(expected))
    right = ("%s (%s)"):format(right, parts.tostring(actual))
  end
  return { expected = left, actual = right }
end

--- Moves a position in a string back to the start of a UTF-8 character.
local function character_start(text, at)
  while at > 1 and (text:byte(at) or 0) & 0xC0 == 0x80 do at = at - 1 end
  return at
end

--- How many bytes two strings share at the start and, of the rest, at the end.
local function common(a, b)
  local least = math.min(#a, #b)
  local front = 0
  while front < least and a:byte(front + 1) == b:byte(front + 1) do front = front + 1 end
  front = character_start(a, front + 1) - 1
  local back = 0
  while back < least - front and a:byte(#a - back) == b:byte(#b - back) do back = back + 1 end
  while back > 0 and (a:byte(#a - back + 1) or 0) & 0xC0 == 0x80 do back = back - 1 end
  return front, back
end

--- The columns of a piece of text, at one per character.
local function width(text) return utf8.len(text) or #text end

--- Cuts a line to the surroundings of its differing part.
local function cut(line, front, back)
  if #line <= LINE_MAX then return line, front, back end
  local first = math.max(1, character_start(line, math.max(front - LINE_MAX // 3, 1)))
  local last = math.min(#line, first + LINE_MAX)
  last = last < #line and character_start(line, last + 1) - 1 or last
  local before = first > 1 and "..." or ""
  local after = last < #line and "..." or ""
  local inner_back = math.max(0, back - (#line - last))
  return before .. line:sub(first, last) .. after, front - first + 1 + #before, inner_back + #after
end

local function coloured(line, front, back, paint)
  local middle_end = math.max(front, #line - back)
  return line:sub(1, front) .. paint.mark(line:sub(front + 1, middle_end))
    .. line:sub(middle_end + 1)
end

--- A line below two lines that points at the difference, for output without colours.
local function pointer(indent, line, front, back)
  local middle = math.max(1, width(line:sub(front + 1, math.max(front, #line - back))))
  return (" "):rep(indent + width(line:sub(1, front))) .. ("^"):rep(middle)
end

--- The two lines of a difference, with their differing parts marked.
local function pair(out, left, right, left_sign, right_sign, paint)
  local front, back = common(left, right)
  local shown_left, left_front, left_back = cut(left, front, back)
  local shown_right, right_front, right_back = cut(right, front, back)
  -- Lines with nothing in common have no part to mark.
  local is_marked = front + back > 0 and not left:find("^%s*$") and not right:find("^%s*$")
  if is_marked and paint.mark then
    shown_left = coloured(shown_left, left_front, left_back, paint)
    shown_right = coloured(shown_right, right_front, right_back, paint)
  end
  out[#out + 1] = paint.removed(left_sign .. shown_left)
  out[#out + 1] = paint.added(right_sign .. shown_right)
  if is_marked and not paint.mark then
    local longer_is_left = width(shown_left) - left_back >= width(shown_right) - right_back
    if longer_is_left then
      out[#out + 1] = pointer(#left_sign, shown_left, left_front, left_back)
    else
      out[#out + 1] = pointer(#right_sign, shown_right, right_front, right_back)
    end
  end
end

--- Whether a step is near enough to a difference to be shown.
local function shown(steps)
  local near, last = {}, -math.huge
  for index, step in ipairs(steps) do
    if step[1] ~= " " then last = index end
    near[index] = index - last <= CONTEXT
  end
  last = math.huge
  for index = #steps, 1, -1 do
    if steps[index][1] ~= " " then last = index end
    near[index] = near[index] or last - index <= CONTEXT
  end
  return near
end

--- Writes the removed and the added lines of one place, matching lines as pairs.
local function place(out, removed, added, paint)
  for index = 1, math.min(#removed, #added) do
    pair(out, removed[index], added[index], "- ", "+ ", paint)
  end
  for index = #added + 1, #removed do
    out[#out + 1] = paint.removed("- " .. (cut(removed[index], 0, 0)))
  end
  for index = #removed + 1, #added do
    out[#out + 1] = paint.added("+ " .. (cut(added[index], 0, 0)))
  end
end

local function several(left, right, paint)
  local out = { paint.removed("- expected") .. "  " .. paint.added("+ actual") }
  local steps = steps_of(left, right)
  local near = shown(steps)
  local removed, added, skipped = {}, {}, {}
  local function flush()
    place(out, removed, added, paint)
    removed, added = {}, {}
  end
  local function flush_skipped()
    -- Saying that one line is left out takes as much room as the line.
    local is_one = #skipped == 1
    if #skipped > 0 then
      local words = ("... %d equal lines"):format(#skipped)
      out[#out + 1] = "  " .. (is_one and cut(skipped[1], 0, 0) or words)
    end
    skipped = {}
  end
  for index, step in ipairs(steps) do
    if step[1] == " " then
      flush()
      if near[index] then
        flush_skipped()
        out[#out + 1] = "  " .. (cut(step[2], 0, 0))
      else
        skipped[#skipped + 1] = step[2]
      end
    else
      flush_skipped()
      table.insert(step[1] == "-" and removed or added, step[2])
    end
  end
  flush()
  flush_skipped()
  if #out <= LINES_MAX then return out end
  local short = table.move(out, 1, LINES_MAX, 1, {})
  short[LINES_MAX + 1] = ("  ... and %d lines more"):format(#out - LINES_MAX)
  return short
end

local function same(text) return text end
diff.plain = { removed = same, added = same, mark = nil }

--- The lines that show a difference.
-- @param texts the result of `diff.texts`
-- @param paint how to colour: functions removed, added, and mark or nil
function diff.lines(texts, paint)
  paint = paint or diff.plain
  local left, right = lines_of(texts.expected), lines_of(texts.actual)
  if #left > 1 or #right > 1 then return several(left, right, paint) end
  local out = {}
  pair(out, left[1], right[1], "expected: ", "actual:   ", paint)
  return out
end

return diff
