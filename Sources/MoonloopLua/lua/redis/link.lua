-- Connections to a Redis server that are made again whenever they end; calls that were not answered
-- are sent again, so each must do no harm twice.
local ml = require "moonloop"
local redis = require "moonloop.redis"
local warning = require "moonloop.warning"

-- Seconds: between two tries, at least and at most; until a silent broker is asked whether it
-- lives, and until it counts as gone then; for a connection and its login.
local PAUSE, PAUSE_LIMIT, PATIENCE, LOGIN = 0.05, 5, 10, 5
local PROMPT = 0.1  -- seconds for a reply that comes at once
-- Trying again would not help: until these are over, calls fail at once.
local FATAL = { EACCES = true, EPROTONOSUPPORT = true, EMSGSIZE = true }

local link = {}

--- Waits; keeps a run alive only while a task waits for messages.
function link.rest(self, seconds)
  ml.await(function(resume)
    return ml.current():timer { first = seconds, keep_alive = self.holds or false,
      modes = self.modes, name = self.label, function() resume() end }
  end)
end

--- A task of the owner.
function link.task(self, ...)
  return ml.current():task({ name = self.label, modes = self.modes, on_error = self.on_error,
    owner = "none" }, ...)
end

--- Reports once that there is no server, until `warned` is nil again.
function link.report(self, message)
  if self.warned == message or self.is_closed then return end
  self.warned = message
  warning.write(("%s: %s; trying again"):format(self.label, message))
end

--- Connects, and again when the connection has ended, for as long as the task lives.
-- @param self `place`, `label`, `modes`, `holds`; gets `problem`: message and code; `lost`, if it
--   has one, is called when the connection has ended, else that is reported when it goes on
-- @param serve uses a stream until it is broken: message, code, whether it was of use
function link.keep(self, serve)
  local pause = PAUSE
  while true do
    local stream <close>, message, code = redis.open(self.place,
      { timeout = LOGIN, name = self.label, modes = self.modes })
    local was_useful
    if stream then
      stream:keep_alive(self.holds or false)
      message, code, was_useful = serve(stream)
      stream:invalidate()
    end
    self.problem = { message, code }
    if was_useful then pause = PAUSE end
    if self.lost then
      self:lost(message, code)
    elseif pause == PAUSE_LIMIT then
      link.report(self, message)
    end
    link.rest(self, pause * (1 + math.random() / 2))
    pause = math.min(2 * pause, PAUSE_LIMIT)
  end
end

local Calls = {}
Calls.__index = Calls

-- What counts for `ml.limit { handles }` until the port is closed or collected.
local function place()
  local ok, made = pcall(ml.semaphore, 1)
  return ok and made or error((made:gsub("^ml%.semaphore", "ml.port")), 0)
end

--- A connection for commands, for a port.
-- @param self `place`, `label`, `modes`; `pushed(message)` gets what was subscribed to
function link.calls(self)
  self.waiting, self.channels, self.counted = {}, {}, place()
  return setmetatable(self, Calls)
end

local function write(self, call)
  local words = not call.is_over and call.words()
  if not words then return call.done:try_send { false } end
  self.waiting[#self.waiting + 1] = call
  self.stream:write(redis.command(words))
end

local function start(self)
  self.task = self.task or link.task(self, link.keep, self, function(stream)
    local message, code, was_useful = self:serve(stream)
    self.stream = nil
    return message, code, was_useful
  end)
end

-- Reads replies until the connection is broken.
function Calls:serve(stream)
  local unanswered, was_useful, is_asked = self.waiting, false, false
  self.waiting, self.stream = {}, stream
  for channel in pairs(self.channels) do stream:write(redis.command { "SUBSCRIBE", channel }) end
  for _, call in ipairs(unanswered) do write(self, call) end
  while true do
    local reply, message, code = redis.read(stream, { timeout = PATIENCE })
    if reply == nil and code == "ETIMEDOUT" and not is_asked and #self.waiting == 0 then
      is_asked = true
      local ping = { words = function() return { "PING" } end, done = ml.channel(1) }
      write(self, ping)
      ping.is_over = true  -- the next connection need not send it
    elseif reply == nil then
      return message, code, was_useful
    else
      is_asked = false
      if type(reply) == "table" and reply.is_push then
        self.pushed(reply)
      elseif self.waiting[1] then
        local answer = table.pack(redis.value(reply))
        if answer[3] == "EAGAIN" then return answer[2], answer[3], false end
        was_useful, self.problem = true, nil
        table.remove(self.waiting, 1).done:try_send(answer)
      end
    end
  end
end

local function fail(self, message, code)
  local waiting = self.waiting
  self.waiting = {}
  for _, call in ipairs(waiting) do call.done:try_send { nil, message, code } end
end

-- Waiting calls are answered by the next connection, unless there can be none.
function Calls:lost(message, code)
  if FATAL[code] then fail(self, message, code) end
end

--- What a channel gets is pushed from now on.
function Calls:subscribe(channel)
  if self.channels[channel] then return end
  self.channels[channel] = true
  if self.stream then self.stream:write(redis.command { "SUBSCRIBE", channel }) end
  start(self)
end

--- Sends a command and waits for its reply, over as many connections as that takes.
-- @param words gives them each time it is sent; nil: it is no longer wanted
-- @param kind the type that the reply must have
-- @return the reply; or nil, message, code
function Calls:call(words, timeout, kind)
  if self.is_closed then return nil, self.label .. " was closed", "EPIPE" end
  local call <close> = setmetatable({ words = words, done = ml.channel(1) },
    { __close = function(call) call.is_over = true end })
  if self.stream then write(self, call) else self.waiting[#self.waiting + 1] = call end
  start(self)
  local answer = call.done:receive { timeout = timeout }
  if not answer then
    local last = self.problem and self.problem[1] or "it is silent"
    return nil, ("%s: no answer of the broker within %g s: %s"):format(self.label, timeout, last),
      "ETIMEDOUT"
  end
  if answer[1] == nil then return nil, ("%s: %s"):format(self.label, answer[2]), answer[3] end
  if kind then
    local _, message, code = redis.typed(answer[1], kind)
    if code then return nil, ("%s: %s"):format(self.label, message), code end
  end
  return answer[1]
end

--- The time of the server less ours; or nil, message, code. It is too small by the time that the
--- reply took: one that came at once is good for a minute.
function Calls:offset(timeout)
  local began = ml.now()
  if began < (self.offset_ends or began) then return self.server_offset end
  local time, message, code = redis.seconds(self:call(function() return { "TIME" } end, timeout))
  if not time then return nil, message, code end
  self.server_offset = time - ml.wall_time()
  if ml.now() - began < PROMPT then self.offset_ends = began + 60 end
  return self.server_offset
end

function Calls:close()
  self.is_closed, self.counted = true, nil
  if self.task then self.task:cancel(self.label .. " was closed") end
  fail(self, "it was closed meanwhile", "ECANCELED")
end

return link
