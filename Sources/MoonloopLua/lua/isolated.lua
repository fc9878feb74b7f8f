-- The guest's side of an isolated guest, in the process that holds nothing else: makes it, and does
-- what its host asks through the port.
local ml = require "moonloop"
local loop = ml.current()

local port, memory, guest, told
local calls, orders = {}, {}

local function packed(...) return { n = select("#", ...), ... } end

local function usage()
  local used = guest:usage()
  used.busy = math.floor(used.busy * 1e9)
  return used
end

-- A function of the host, called there.
local function function_of_host(name)
  return function(...)
    local call = packed(...)
    call.name = name
    local answer, message = port:request(call)
    if not answer then error(message, 0) end
    if answer.raised then error(answer.value, 0) end
    return table.unpack(answer, 1, answer.n)
  end
end

local function report(failure)
  local trace = (failure.traceback or ""):match "stack traceback:\n(.*)"
  local message = {
    error = failure.message, kind = failure.kind, code = failure.code,
    traceback = trace and trace:gsub("%f[^\n\0]\t", ""), value = failure.value,
  }
  if not pcall(port.send, port, message) then
    message.value = nil
    port:send(message)
  end
end

local function tell_status()
  if guest.status == told then return end
  told = guest.status
  port:send { status = told, usage = usage() }
end

function orders.start(order)
  local functions = {}
  for _, name in ipairs(order.functions) do functions[name] = function_of_host(name) end
  order.limits.memory = memory  -- what it was given, or what its process has
  local message
  guest, message = ml.guest {
    file = order.file, text = order.text, name = order.name, args = order.args,
    allow = order.allow, limits = order.limits, functions = functions,
    on_error = report,
    on_output = function(_, text) port:send { output = text } end,
    on_limit = function(_, what)
      -- After the answer of the call that was stopped: the host may suspend this process at once.
      loop:task(function() port:send { limit = what } end)
      return order.decides and "suspend" or nil
    end,
  }
  if not guest then return port:send { error = message, status = "ended" } end
  loop:observer { on = "before_waiting", name = "status", tell_status }
end

-- The answer is a message, so that it comes after what the guest has sent before.
function orders.call(order)
  calls[order.id] = loop:task(function()
    local done <close> = setmetatable({}, { __close = function() calls[order.id] = nil end })
    local result = packed(pcall(guest.call, guest, order.call, table.unpack(order, 1, order.n)))
    local answer = { answer = order.id, usage = usage() }
    if result[1] then
      answer.n = result.n - 1
      table.move(result, 2, result.n, 1, answer)
    else
      answer.raised, answer.value = true, result[2]
      answer.refused = type(result[2]) == "string" and result[2]:match "^guest:call: (.*)"
    end
    local sent, message = pcall(port.send, port, answer, { timeout = math.huge })
    if not sent then port:send { answer = order.id, raised = true, value = message } end
  end)
end

function orders.cancel(order)
  if calls[order.cancel] then calls[order.cancel]:cancel() end
end

function orders.resume() guest:resume() end

return function(host, obstacle, limit)
  port, memory, loop.on_error = host, limit, report
  if obstacle then port:send { error = obstacle, status = "ended" } end
  port:on("message", function(order)
    if obstacle then return end  -- its host ends this process
    for _, name in ipairs { "start", "call", "cancel", "resume" } do
      if order[name] then return orders[name](order) end
    end
  end)
end
