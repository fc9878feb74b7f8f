-- The loops that blocks and tests run on, and what they leave behind.
--
-- A spec file has a loop of its own, and so has each test. But where a block has left something
-- alive (a server started in `setup` must be served), its tests share its loop; what they leave
-- behind is then what was not there before.
local bed = require "moonloop.bed"

local beds = {}

-- The clocks of the loops that are entered, outermost first.
local clocks = {}

local function key(entry) return entry.id or entry.text end

--- What is alive now, to be compared with later.
function beds.snapshot()
  local count = {}
  for _, entry in ipairs(bed.leftovers()) do
    count[key(entry)] = (count[key(entry)] or 0) + 1
  end
  return count
end

--- What is alive and was not in a snapshot.
function beds.since(snapshot)
  local remaining, new = {}, {}
  for name, count in pairs(snapshot) do remaining[name] = count end
  for _, entry in ipairs(bed.leftovers()) do
    local name = key(entry)
    if (remaining[name] or 0) > 0 then
      remaining[name] = remaining[name] - 1
    else
      new[#new + 1] = entry
    end
  end
  return new
end

--- Enters a fresh loop.
function beds.enter(clock, name)
  bed.enter({ clock = clock, name = name })
  clocks[#clocks + 1] = clock
end

--- Ends the loop that was entered last.
function beds.leave()
  clocks[#clocks] = nil
  bed.leave()
end

--- Which clock the current loop has.
function beds.clock() return clocks[#clocks] end

--- Enters a fresh loop for a test, unless the loop of its block has something to serve.
-- @return whether it did; and the name of what keeps the block's loop otherwise
function beds.enter_for_test(clock, name)
  local alive = bed.leftovers()
  if #alive > 0 and #clocks > 1 then return false, alive[1].text end
  beds.enter(clock, name)
  return true
end

--- The problem of a test that left something behind, or nil.
function beds.leak(new)
  if #new == 0 then return nil end
  local lines = {}
  for _, entry in ipairs(new) do lines[#lines + 1] = "  " .. entry.text end
  return {
    status = "failure", kind = "leak", where = new[1].place, traceback = "",
    message = ("left %s behind:\n%s"):format(
      #new == 1 and "something" or #new .. " things", table.concat(lines, "\n")),
  }
end

return beds
