-- `moonloop top`: shows over and over what the loop of another program does, through its console.
local ml = require "moonloop"
local client = require "moonloop.console.client"
local json = require "moonloop.json"
local figures = require "moonloop.inspection.figures"

local top = {}

local loop = ml.current()

local SUCCESS, FAILURE, USAGE = 0, 1, 2
local CLEAR, HIDE, SHOW = "\27[H\27[J", "\27[?25l", "\27[?25h"

local function complain(message)
  io.stdout:flush()
  io.stderr:write("moonloop: top: ", message, "\n")
end

-- The program's figures; or nil and a message.
local function look(console)
  local reply, message, code = console:request { measure = "json" }
  if not reply then
    local has_ended = code == "EPIPE" or code == "ECONNRESET"
    return nil, has_ended and "the program has ended" or message
  end
  if not reply.ok then return nil, reply.error end
  if type(reply.values[1]) == "table" then return reply.values[1] end
  return nil, "the program answered without figures"
end

-- The columns and lines of the terminal; of a pipe the columns that COLUMNS says, or nil.
local function size()
  if not ml.tty.is_tty(1) then return math.tointeger(tonumber(os.getenv "COLUMNS")) end
  local term = ml.tty.open { fd = 1 }
  if not term then return 80, 24 end
  local columns, lines = term.columns, term.rows
  term:invalidate()
  if not columns or columns < 1 then columns, lines = 80, 24 end  -- unknown
  return columns, lines
end

local function show(made, options, is_live)
  if options.json then
    io.write(json.encode(made, { is_lenient = true }), "\n")
  else
    local columns, lines = size()
    io.write(is_live and CLEAR or "", figures.text(made, {
      sort = options.sort, width = columns,
      height = is_live and lines or nil, is_console = true }),
      is_live and "" or "\n")
  end
  io.stdout:flush()
end

-- Calls a function when 'q' is typed. Returns what ends that.
local function on_quit(leave)
  local term = ml.tty.is_tty(0) and ml.tty.open { fd = 0, raw = true, signals = true }
  if not term then return nil end
  loop:task({ owner = "none" }, function()
    repeat
      local key = term:read(1)
    until not key or key == "q" or key == "Q"
    leave()
  end)
  return term
end

-- Looks at intervals until interrupted or until the program ends. Returns the exit status.
local function follow(console, options)
  local before, message = look(console)
  if not before then
    complain(message)
    return FAILURE
  end
  local is_live = not options.once and not options.json and ml.tty.is_tty(1)
  local status, has_ended = SUCCESS, false
  local looker = loop:task({ owner = "none" }, function()
    if is_live then io.write(HIDE) end
    while true do
      ml.sleep(options.interval or 1)
      local now
      now, message = look(console)
      if not now then
        complain(message)
        status, has_ended = FAILURE, true
        break
      end
      show(figures.between(now, before), options, is_live)
      before = now
      if options.once then break end
    end
  end)
  local signal <close> = loop:signal({ "int", "term" }, function() looker:cancel() end)
  local keys <close> = is_live and on_quit(function() looker:cancel() end) or nil
  pcall(looker.await, looker)
  if is_live then io.write(SHOW) end
  if not has_ended then console:request { measure = "end" } end
  return status
end

--- Runs the command. The arguments are the number of options, then the name and value of each.
function top.command(count, ...)
  local given, options, paths = table.pack(...), {}, {}
  for place = 1, 2 * count, 2 do options[given[place]] = given[place + 1] end
  for place = 2 * count + 1, given.n do paths[#paths + 1] = given[place] end
  if #paths ~= 1 then
    complain "name one program by name or process ID; 'moonloop ps' lists them"
    return USAGE
  end
  if options.interval and options.interval < 0.05 then
    complain "--interval: must be at least 50ms"
    return USAGE
  end
  if not table.concat(figures.orders, " "):find(options.sort or "busy", 1, true) then
    complain(("--sort: must be one of %s, got '%s'"):format(
      table.concat(figures.orders, ", "), options.sort))
    return USAGE
  end
  local console, message = client.connect(paths[1], { timeout = options.timeout })
  if not console then
    complain(message)
    return FAILURE
  end
  console.on_silence = function(text) complain(text .. "; Ctrl-C leaves") end
  local status = follow(console, options)
  console:close()
  return status
end

return top
