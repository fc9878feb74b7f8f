-- Serves consoles of the same user's other processes, on a Unix socket in the user's own folder.
local ml = require "moonloop"
local breakpoint = require "moonloop.console.breakpoint"
local complete = require "moonloop.console.complete"
local host = require "moonloop.console.host"
local session = require "moonloop.console.session"
local wire = require "moonloop.console.wire"
local json = require "moonloop.json"
local loop = ml.current()

local server = {}

local listener
-- The mode of the loop while consoles are served within a call-out.
local private_mode

local requests = {}

-- Packed values, each as JSON; what does not fit into an answer ends it early.
local function encoded(values)
  local list, form = {}, { is_lenient = true, max_size = wire.LINE_LIMIT }
  for place = 1, values.n do list[place] = json.encode(values[place], form) end
  return list
end

-- Values of an expression: as text for people, or as JSON for programs.
function requests.eval(own, request)
  local as_json = request.as == "json"
  if not as_json and request.as ~= nil and request.as ~= "text" then
    return { ok = false, error = "not understood: 'as' is \"text\" or \"json\"" }
  end
  local outcome = own:evaluate(request.eval, as_json and encoded or nil)
  if outcome.failure then
    return { ok = false, error = outcome.failure, incomplete = outcome.incomplete }
  end
  return { ok = true, count = outcome.count, [as_json and "values" or "text"] = outcome.shown }
end

function requests.complete(own, request)
  local insertion, list = complete.of(request.complete, own.environment)
  return { ok = true, insertion = insertion, list = list }
end

-- The sessions that look at the figures. What they have started to measure ends with the last one,
-- even if its program was killed.
local lookers, are_first = {}, false

local function stop_looking(own)
  if not lookers[own] then return end
  lookers[own] = nil
  if next(lookers) == nil and are_first then loop:metrics { on = false } end
end

-- The figures of the loop; `measure = "end"` is the last request for them.
function requests.measure(own, request)
  if request.measure == "end" then
    stop_looking(own)
    return { ok = true }
  end
  local made = loop:metrics()
  if next(lookers) == nil then are_first = made.measured < 0.01 end
  lookers[own] = true
  return { ok = true, values = { json.encode(made, { is_lenient = true }) } }
end

local function answer(own, request)
  for name, handler in pairs(requests) do
    if type(request[name]) == "string" then return handler(own, request) end
  end
  return { ok = false,
    error = "not understood; a request needs a string 'eval', 'complete' or 'measure'" }
end

-- One connection. Evaluations are answered one by one, except that new ones can come while the
-- previous one is stopped at a breakpoint: there is one worker per level of breakpoints.
local Connection = {}
Connection.__index = Connection

-- A client that has left gets no answer. Tasks that send wait for each other.
function Connection:send(message)
  if not self.stream:is_valid() then return end
  local text = json.encode(message, { is_lenient = true })
  if #text >= wire.LINE_LIMIT then
    text = json.encode { id = message.id, ok = false, error =
      ("the answer is too long: %d bytes, the limit is %d"):format(#text, wire.LINE_LIMIT) }
  end
  local _ <close> = self.gate:try_acquire() or self.gate:acquire()
  self.stream:write(text, "\n")
end

-- Sends what was printed, in pieces that fit into lines.
function Connection:print(text)
  for from = 1, #text, wire.PIECE do
    self:send { event = "print", text = text:sub(from, from + wire.PIECE - 1) }
  end
end

function Connection:work(level)
  while self.level == level and self.queue[1] do
    local request = table.remove(self.queue, 1)
    local is_order = type(request.eval) == "string" and request.eval:find "^%s*:"
    local busy = not is_order and breakpoint.busy_text() or nil
    local reply = answer(self.own, request)
    reply.id, reply.busy = request.id, busy
    if reply.text and #reply.text > wire.PIECE then
      self:print(reply.text:sub(1, -wire.PIECE - 1))
      reply.text = reply.text:sub(-wire.PIECE)
    end
    self:send(reply)
  end
  self.is_busy[level] = nil
  if self.queue[1] then self:start() end
end

function Connection:start()
  local level = self.level
  if self.is_busy[level] then return end
  self.is_busy[level] = true
  loop:task({ owner = "none", name = "console", modes = session.modes }, function()
    self:work(level)
  end)
end

function Connection:take(request)
  if request.interrupt then return self.own:interrupt() end
  if request.ping then return self:send { event = "pong" } end
  self.queue[#self.queue + 1] = request
  self:start()
end

function Connection:stopped(text)
  self.level = self.level + 1
  self:send { event = "stopped", text = text }
end

function Connection:continued()
  self.level = self.level - 1
  self:send { event = "continued" }
end

local function serve(stream, peer)
  stream:keep_alive(false)
  if peer.uid ~= host.user() and peer.uid ~= 0 then return end
  local self = setmetatable({
    stream = stream, gate = ml.semaphore { permits = 1, name = "console" }, queue = {},
    is_busy = {},
  }, Connection)
  local own = session.new(function(text) self:print(text) end)
  self.own = own
  self.level = breakpoint.depth()
  self:send {
    event = "hello", version = 1, pid = host.number(), mode = private_mode or loop.mode,
    depth = self.level, stopped = self.level > 0 and breakpoint.trace() or nil,
    busy = breakpoint.busy_text(),
    is_test = package.loaded["moonloop.testing.runner"] and true or nil,
  }
  session.add(own, self)
  host.watch_end(stream)
  for line in function() return stream:read "l" end do
    local request, message = json.decode(line)
    if type(request) == "table" then
      self:take(request)
    else
      self:send { ok = false, error = message or "a request must be an object" }
    end
  end
  session.remove(own)
  stop_looking(own)
end

--- The path of a process's socket.
function server.path(pid)
  local folder, message, code = host.folder(pid)
  if not folder then return nil, message, code end
  return ("%s/%d.sock"):format(folder, pid)
end

--- Starts listening, unless it does already. Returns the path of the socket; or nil, message, code.
function server.listen()
  local path, message, code = server.path(host.number())
  if not path then return nil, message, code end
  if listener and listener:is_valid() then return path end
  host.sweep()
  local made
  made, message, code = ml.net.listen {
    path = path, permissions = tonumber("600", 8), modes = session.modes, name = "console",
    line_limit = wire.LINE_LIMIT, serve,
  }
  if not made then return nil, message, code end
  listener = made
  listener:keep_alive(false)
  return path
end

-- Serves the consoles here and now: their requests, and what completes at once.
local function serve_consoles()
  local hold = loop:source {
    name = "console", modes = "moonloop.debug", perform = function() end,
  }
  local before, quiet = private_mode, 0
  private_mode = private_mode or loop.mode
  while quiet < 3 do
    local why = loop:run { mode = "moonloop.debug", timeout = 0, until_handled = true }
    if why == "stopped" then break end
    quiet = why == "handled_source" and 0 or quiet + 1
  end
  private_mode = before
  hold:invalidate()
end

--- A console, or the answer to one, was asked for. If the loop runs in a private mode, that mode
--- serves it.
function server.attend()
  server.listen()
  local mode = loop.mode
  if mode == "moonloop.debug" then return end
  local contents = loop:modes()[mode]
  if contents and not contents.common then serve_consoles() end
end

--- The same within a busy call-out, given its thread, base and owner, how long it has been running,
--- and whether it is an evaluation of a console.
function server.visit(thread, base, who, seconds, is_console)
  local before = breakpoint.busy
  breakpoint.busy = {
    thread = thread, base = base, who = who, seconds = seconds, is_console = is_console,
  }
  -- Without an answer where no further run can be nested.
  pcall(function()
    server.listen()
    serve_consoles()
  end)
  breakpoint.busy = before
end

return server
