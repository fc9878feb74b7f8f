-- `moonloop ps` and `moonloop attach`: from the options to the exit status.
local ml = require "moonloop"
local client = require "moonloop.console.client"
local host = require "moonloop.console.host"
local json = require "moonloop.json"
local layout = require "moonloop.text.layout"
local quoting = require "moonloop.text.quoting"

local commands = {}

local loop = ml.current()

local SUCCESS, FAILURE, USAGE = 0, 1, 2

local function complain(command, message)
  io.stdout:flush()
  io.stderr:write(("moonloop: %s: %s\n"):format(command, message))
end

local run = {}

local function rows_of(programs)
  local rows = { { "NAME", "PID", "SINCE", "FILE" } }
  for _, program in ipairs(programs) do
    local since = program.since and os.date("%Y-%m-%d %H:%M:%S", program.since // 1 | 0) or "?"
    rows[#rows + 1] = {
      quoting.line(program.name), tostring(program.pid), since, quoting.line(program.file) }
  end
  return rows
end

function run.ps(options)
  host.sweep()
  local programs = client.programs()
  if options.json then
    for _, program in ipairs(programs) do print(json.encode(program, { is_lenient = true })) end
    return SUCCESS
  end
  if options.names then
    for _, program in ipairs(programs) do print(quoting.line(program.name)) end
    return SUCCESS
  end
  for _, line in ipairs(layout.columns(rows_of(programs))) do print(line) end
  return SUCCESS
end

-- Prints an answer of the program.
local function outcome_of(reply)
  if not reply.ok then return { failure = reply.error } end
  return { count = reply.count, shown = reply.text }
end

-- Noticed when sending or when reading; reported once.
local is_over = false

local function end_with(console)
  local what = console.hello.is_test and "test" or "program"
  if not is_over then complain("attach", ("the %s has ended"):format(what)) end
  is_over = true
  os.exit(FAILURE, true)
end

local function open_terminal(console, finish)
  local front = require "moonloop.console.front"
  local terminal
  terminal = front.open {
    evaluate = function(text)
      local reply = console:request { eval = text }
      if not reply then end_with(console) end
      terminal:tell_busy(reply.busy)
      return terminal:show(outcome_of(reply))
    end,
    complete = function(text)
      local reply = console:request { complete = text }
      return reply and reply.insertion, reply and reply.list
    end,
    interrupt = function()
      if console:interrupt() < 3 then return end
      complain("attach", "left a program that does not answer")
      os.exit(FAILURE, true)
    end,
    ended = finish,
  }
  return terminal
end

function run.attach(options, paths)
  if #paths ~= 1 then
    complain("attach", "name one program by name or process ID; 'moonloop ps' lists them")
    return USAGE
  end
  local console, message = client.connect(paths[1], { timeout = options.timeout })
  if not console then
    complain("attach", message)
    return FAILURE
  end
  function console.on_silence(why)
    print(("(%s; Ctrl-C twice stops it if possible, three times leaves)"):format(why))
  end
  local terminal
  local function finish()
    io.stdout:flush()
    os.exit((terminal.is_terminal or terminal.failures == 0) and SUCCESS or FAILURE, true)
  end
  terminal = open_terminal(console, finish)
  function console.on_event(event)
    if event.event == "print" then
      io.stdout:write(event.text)
    elseif event.event == "stopped" then
      terminal:stopped(event.text)
    elseif event.event == "continued" then
      terminal:continued()
    end
  end
  terminal:greet(("Process %d, mode %s. Type :help for help, Ctrl-D to leave."):format(
    console.pid, console.hello.mode or "none: its loop is not running"))
  terminal:tell_busy(console.hello.busy)
  if console.hello.stopped then
    print(console.hello.stopped)
    terminal.level = console.hello.depth
  end
  loop:task({ owner = "none" }, function()
    console:dispatch()
    end_with(console)
  end)
  ml.sleep(0)  -- so that something reads the answers
  terminal:run()
  finish()
end

--- Runs a command. The arguments are the number of options, then the name and value of each.
function commands.command(name, count, ...)
  local given, options, paths = table.pack(...), {}, {}
  for place = 1, 2 * count, 2 do options[given[place]] = given[place + 1] end
  for place = 2 * count + 1, given.n do paths[#paths + 1] = given[place] end
  return run[name](options, paths)
end

return commands
