-- The steps that turn one list of lines into another: kept, removed and added lines.

-- How many pairs of lines to compare for the fewest steps; beyond that, a good guess is enough.
local PAIRS_MAX = 4000000
-- How far ahead to look for a line then.
local AHEAD = 40

--- longest[i][j]: the most lines that the rests from i and j have in common, in order.
local function longest_of(left, right, front, rows, columns)
  local longest = {}
  for r = rows + 1, 1, -1 do
    local row, below = {}, longest[r + 1]
    longest[r] = row
    for c = columns + 1, 1, -1 do
      if r > rows or c > columns then
        row[c] = 0
      elseif left[front + r] == right[front + c] then
        row[c] = below[c + 1] + 1
      else
        row[c] = math.max(below[c], row[c + 1])
      end
    end
  end
  return longest
end

--- How many lines go and come before the two lists agree again; nil if not soon.
local function resumption(left, right, i, j, left_end, right_end)
  for distance = 1, 2 * AHEAD do
    for gone = math.max(0, distance - AHEAD), math.min(distance, AHEAD) do
      local l, r = i + gone, j + distance - gone
      if l <= left_end and r <= right_end and left[l] == right[r] then
        return gone, distance - gone
      end
    end
  end
end

--- The steps between two lists: { sign, line }, where sign is " ", "-" or "+".
return function(left, right)
  local steps = {}
  local function add(sign, line) steps[#steps + 1] = { sign, line } end
  local front, back = 0, 0
  local least = math.min(#left, #right)
  while front < least and left[front + 1] == right[front + 1] do front = front + 1 end
  while back < least - front and left[#left - back] == right[#right - back] do back = back + 1 end
  for index = 1, front do add(" ", left[index]) end
  local i, j = front + 1, front + 1
  local left_end, right_end = #left - back, #right - back
  local rows, columns = left_end - front, right_end - front
  local longest = rows * columns <= PAIRS_MAX and longest_of(left, right, front, rows, columns)
  while i <= left_end and j <= right_end do
    if left[i] == right[j] then
      add(" ", left[i])
      i, j = i + 1, j + 1
    elseif longest then
      if longest[i - front + 1][j - front] >= longest[i - front][j - front + 1] then
        add("-", left[i])
        i = i + 1
      else
        add("+", right[j])
        j = j + 1
      end
    else
      local gone, come = resumption(left, right, i, j, left_end, right_end)
      if not gone then break end
      for index = i, i + gone - 1 do add("-", left[index]) end
      for index = j, j + come - 1 do add("+", right[index]) end
      i, j = i + gone, j + come
    end
  end
  for index = i, left_end do add("-", left[index]) end
  for index = j, right_end do add("+", right[index]) end
  for index = left_end + 1, #left do add(" ", left[index]) end
  return steps
end
