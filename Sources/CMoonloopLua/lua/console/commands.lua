-- `moonloop ps` and `moonloop attach`: from the options to the exit status.
local client = require "moonloop.console.client"
local wire = require "moonloop.console.wire"

local commands = {}

local SUCCESS = 0

local run = {}

local function rows_of(programs)
  local rows = { { "NAME", "PID", "SINCE", "FILE" } }
  for _, program in ipairs(programs) do
    local since = program.since and os.date("%Y-%m-%d %H:%M:%S", program.since // 1 | 0) or "?"
    rows[#rows + 1] = { program.name, tostring(program.pid), since, program.file }
  end
  return rows
end

function run.ps(options)
  local programs = client.programs()
  if options.json then
    for _, program in ipairs(programs) do print(wire.encode(program)) end
    return SUCCESS
  end
  local rows, widths = rows_of(programs), {}
  for _, row in ipairs(rows) do
    for place, text in ipairs(row) do
      widths[place] = math.max(widths[place] or 0, utf8.len(text) or #text)
    end
  end
  for _, row in ipairs(rows) do
    for place = 1, #row - 1 do
      local width = utf8.len(row[place]) or #row[place]
      row[place] = row[place] .. (" "):rep(widths[place] - width)
    end
    print(table.concat(row, "  "))
  end
  return SUCCESS
end

--- Runs a command. The options come as a count, and then the name and the value of each.
function commands.command(name, count, ...)
  local given, options, paths = table.pack(...), {}, {}
  for place = 1, 2 * count, 2 do options[given[place]] = given[place + 1] end
  for place = 2 * count + 1, given.n do paths[#paths + 1] = given[place] end
  return run[name](options, paths)
end

return commands
