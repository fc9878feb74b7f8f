-- Parse the lines of standard input as they come
-- Each line is handled when it arrives, not when the input ends, and timers go on meanwhile.
--
--   ps aux | moonloop run columns.lua 1 4            the sum of column 4 by column 1
local ml = require "moonloop"
local loop = ml.current()

local by, column = tonumber(arg[1]) or 1, tonumber(arg[2]) or 2
local sums, names = {}, {}

local input = assert(loop:stream { fd = 0, write = false, line_limit = 65536 })
for line in input:lines() do
  local words = {}
  for word in line:gmatch "%S+" do words[#words + 1] = word end
  local name, value = words[by], tonumber(words[column])
  if name and value then
    if not sums[name] then names[#names + 1] = name end
    sums[name] = (sums[name] or 0) + value
  end
end

table.sort(names, function(a, b) return sums[a] > sums[b] end)
for _, name in ipairs(names) do print(("%-12s %8g"):format(name, sums[name])) end
