-- The loops that blocks and tests run on, and what they leave behind.
--
-- A spec file has its own loop, and so has each test. But where a block has left something alive (a
-- server started in `setup` must be served), its tests share its loop; then only what was not there
-- before counts as left behind.
local bed = require "moonloop.testing.bed"
local ml = require "moonloop"

local beds = {}

-- The clocks of the entered loops, outermost first.
local clocks = {}
-- What was alive when each running block or test began, outermost first.
local snapshots = {}

local function file_and_line(entry)
  local file, line = entry.place:match("^(.*):(%d+)$")
  return file or entry.place, tonumber(line) or 0
end

--- What is alive on the current loop, in the order of the lines that made it.
local function alive()
  local entries = bed.leftovers()
  table.sort(entries, function(a, b)
    local a_file, a_line = file_and_line(a)
    local b_file, b_line = file_and_line(b)
    if a_file ~= b_file then return a_file < b_file end
    if a_line ~= b_line then return a_line < b_line end
    return a.text < b.text
  end)
  return entries
end

--- Remembers what is alive now, at the beginning of a block or test.
function beds.open()
  local known = {}
  for _, entry in ipairs(alive()) do known[entry.id] = true end
  snapshots[#snapshots + 1] = known
end

--- What is alive now and was not when the current block or test began. An item whose handler waits
--- is not listed beside that.
function beds.new()
  local known, new, handlers = snapshots[#snapshots], {}, {}
  local entries = alive()
  for _, entry in ipairs(entries) do
    local item = entry.kind == "task" and entry.text:match "^(.*), which waits "
    if item then handlers[item] = (handlers[item] or 0) + 1 end
  end
  for _, entry in ipairs(entries) do
    local waiting = handlers[entry.text] or 0
    handlers[entry.text] = waiting - 1
    if not known[entry.id] and waiting <= 0 then new[#new + 1] = entry end
  end
  return new
end

--- Ends what `open` began. What was reported is not reported again by the blocks around it.
function beds.close(told)
  snapshots[#snapshots] = nil
  for _, known in ipairs(snapshots) do
    for _, entry in ipairs(told) do known[entry.id] = true end
  end
end

-- Bytes of a loop's name: that of a test may be longer.
local NAME_MOST = 900

--- Enters a fresh loop.
-- @return nil; or the problem that there is none
function beds.enter(clock, name, where)
  if #name > NAME_MOST then name = name:sub(1, NAME_MOST):gsub("[\xC0-\xFF]?[\x80-\xBF]*$", "…") end
  local ok, message = bed.enter({ clock = clock, name = name })
  if not ok then
    message = message:gsub("^enter: ", "it has no loop: ")
    return { status = "error", traceback = "", where = where, message = message }
  end
  clocks[#clocks + 1] = clock
end

--- Leaves the loop that was entered last.
function beds.leave()
  clocks[#clocks] = nil
  bed.leave()
end

--- Measures the current loop.
-- @return a function that writes the figures
function beds.measure()
  local figures = require "moonloop.inspection.figures"
  local before = ml.current():metrics()
  return function()
    io.stdout:flush()
    io.stderr:write("\n", figures.text(figures.between(ml.current():metrics(), before)))
  end
end

--- The clock of the current loop.
function beds.clock() return clocks[#clocks] end

--- What keeps the current loop, as text; nil if nothing does, or if it is the run's own loop.
function beds.keeper()
  local first = #clocks > 1 and alive()[1]
  return first and first.text or nil
end

--- The problem of a test that left something behind.
function beds.leak(new)
  local lines = {}
  for _, entry in ipairs(new) do lines[#lines + 1] = "  " .. entry.text end
  return {
    status = "failure", kind = "leak", where = new[1].place, traceback = "",
    message = ("left %s behind:\n%s"):format(
      #new == 1 and "something" or #new .. " things", table.concat(lines, "\n")),
  }
end

return beds
