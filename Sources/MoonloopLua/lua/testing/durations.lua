-- How long each spec file took, in a file that the machines of a build share; and shares of equal
-- length made of that. What a machine remembers by itself would not do: the machines must agree.
local bed = require "moonloop.testing.bed"
local json = require "moonloop.json"

local durations = {}

-- The seconds of each file, by path; empty if nothing was recorded yet.
local function read(path)
  local file = path and io.open(path, "r")
  if not file then return {} end
  local seconds = json.decode(file:read "a")
  file:close()
  return type(seconds) == "table" and seconds or {}
end

--- A reporter that records the seconds of the files that ran; those of others are kept.
-- @param fail called with a message if they cannot be written
function durations.new(path, fail)
  local seconds = {}
  return { record = function(_, record)
    if record.type == "test" and record.file then
      seconds[record.file] = (seconds[record.file] or 0) + record.seconds
    elseif record.type == "end" then
      local all = read(path)
      for name, one in pairs(seconds) do all[name] = one end
      local text = json.encode(all, { decimals = 3, is_lenient = true }) .. "\n"
      local ok, message = bed.write_file(path, text)
      if not ok then fail("--durations: " .. message) end
    end
  end }
end

-- The seconds of a file that was never recorded: as many as the others have on average.
local function average(files, seconds)
  local sum, count = 0, 0
  for _, name in ipairs(files) do
    if seconds[name] then sum, count = sum + seconds[name], count + 1 end
  end
  return count > 0 and sum / count or 1
end

--- The files of one shard: the longest first, each goes to the shard that has least to do.
-- @param shard { number, count }
-- @param path the file of the durations; without it all files count the same
-- @return the files, in their order
function durations.share(files, shard, path)
  local seconds, order, loads, own = read(path), {}, {}, {}
  local usual = average(files, seconds)
  for index = 1, #files do order[index] = index end
  local function length(index) return seconds[files[index]] or usual end
  table.sort(order, function(a, b)
    if length(a) ~= length(b) then return length(a) > length(b) end
    return a < b
  end)
  for number = 1, shard.count do loads[number] = 0 end
  local chosen = {}
  for _, index in ipairs(order) do
    local least = 1
    for number = 2, shard.count do
      if loads[number] < loads[least] then least = number end
    end
    loads[least] = loads[least] + length(index)
    chosen[index] = least
  end
  for index, name in ipairs(files) do
    if chosen[index] == shard.number then own[#own + 1] = name end
  end
  return own
end

return durations
