-- The commands of the console: lines that begin with a colon.
local breakpoint = require "moonloop.console.breakpoint"
local inspect = require "moonloop.inspect"

local orders = {}

--- Raised by a command that cannot be carried out: the program did not fail, so no traceback.
orders.Refusal = {}

local function refuse(message) error(setmetatable({ message = message }, orders.Refusal)) end

-- In the order of :help; the second name is short.
local list = {
  {
    { "help", "h" }, "list these commands; help() shows the reference",
    function() return orders.help() end,
  },
  {
    { "continue", "c" }, "continue the program",
    function() return breakpoint.continue() and "continues" end,
    needs_stop = true,
  },
  { { "trace", "bt" }, "show the calls that led here", breakpoint.trace, needs_stop = true },
  {
    { "up", "u" }, "go to the caller", function() return breakpoint.move(1) end,
    needs_stop = true,
  },
  {
    { "down", "d" }, "go to the called function", function() return breakpoint.move(-1) end,
    needs_stop = true,
  },
  {
    { "locals", "l" }, "show its variables; use them by name, set them: x = 1",
    function() return orders.variables() end,
    needs_stop = true,
  },
  {
    { "break", "b" }, "stop the program: only the console is served, the clock stands still",
    function()
      breakpoint.stop_here()
      return
    end,
  },
}

function orders.help()
  local lines = {}
  for _, order in ipairs(list) do
    lines[#lines + 1] = ("  :%-18s %s"):format(table.concat(order[1], ", :"), order[2])
  end
  lines[#lines + 1] = ("  :%-18s %s"):format("quit, :q", "leave, as Ctrl-D and exit do")
  lines[#lines + 1] = "Tab completes, Ctrl-C cancels what is typed or evaluated."
  return table.concat(lines, "\n")
end

function orders.variables()
  local lines = {}
  for _, variable in ipairs(breakpoint.variables()) do
    local name, value, kind = table.unpack(variable, 1, 3)
    local mark = kind == "upvalue" and "   (upvalue)" or ""
    lines[#lines + 1] = ("%s = %s%s"):format(name, inspect(value, { one_line = true }), mark)
  end
  return #lines > 0 and table.concat(lines, "\n") or "no variables here"
end

local function find(name)
  for _, order in ipairs(list) do
    for _, one in ipairs(order[1]) do
      if one == name then return order end
    end
  end
end

--- Runs a command. The text is printed.
function orders.run(text, environment)
  local name = text:match "^%s*(%S*)"
  local order = find(name)
  if not order then refuse(("unknown command ':%s'; :help lists them"):format(name)) end
  if order.needs_stop and not breakpoint.is_stopped() then
    refuse "the program is not stopped; stop it with :break, or with ml.break_here() in it"
  end
  local told, message = order[3]()
  if message then refuse(message) end
  if told then environment.print(told) end
end

return orders
