-- `moonloop repl`: a prompt in the program's own loop.
local ml = require "moonloop"
local breakpoint = require "moonloop.console.breakpoint"
local complete = require "moonloop.console.complete"
local front = require "moonloop.console.front"
local host = require "moonloop.console.host"
local session = require "moonloop.console.session"
local loop = ml.current()

local repl = {}

-- A session at the terminal; `ended` is called at the end of the input, with true after ":quit".
local function open(ended)
  local own = session.new()
  local terminal
  terminal = front.open {
    evaluate = function(text)
      if not text:find "^%s*:" then terminal:tell_busy(breakpoint.busy_text()) end
      return terminal:show(own:evaluate(text))
    end,
    complete = function(text) return complete.of(text, own.environment) end,
    interrupt = function() own:interrupt() end,
    ended = ended,
  }
  session.add(own, terminal)
  return terminal, own
end

--- Opens a console at the terminal of a program stopped at a breakpoint. Returns what closes it.
function repl.open(ended)
  local terminal, own = open(ended)
  return function()
    session.remove(own)
    terminal:close()
  end
end

--- Starts the prompt; the program's own work continues.
function repl.start()
  local terminal
  local function finish()
    while breakpoint.is_leaving() do ml.sleep(0) end  -- let the stopped call-out continue first
    io.stdout:flush()
    local has_failed = terminal.failures > 0 or host.errors() > 0
    os.exit(has_failed and not terminal.is_terminal and 1 or 0, true)
  end
  terminal = open(finish)
  loop:task({ owner = "none", name = "console", modes = session.modes }, function()
    local is_over = false
    -- A limit has stopped the prompt itself: what was evaluated holds all memory, say. There is no
    -- problem if the program ends.
    local _ <close> = setmetatable({}, { __close = function(_, problem)
      if problem ~= nil and not is_over then os.exit(3, true) end
    end })
    terminal:greet(_VERSION .. " on Moonloop's loop. Type :help for help, Ctrl-D to quit.")
    terminal:run()
    is_over = true
    finish()
  end)
end

return repl
