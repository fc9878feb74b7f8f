-- The receiving side of a port over a broker: takes messages under a lease, renews it while their
-- handlers run, acknowledges what they have done, and takes over what others have left.
local ml = require "moonloop"
local link = require "moonloop.redis.link"
local redis = require "moonloop.redis"
local scripts = require "moonloop.broker.scripts"
local values = require "moonloop.text.values"

local receiver = {}

-- Seconds for which the broker keeps a receiver waiting that it has no message for, and for its
-- other answers.
local HELD, PATIENCE = 5, 10

-- Acknowledges a message, with the reply to the requester: true; or nil, message, code.
local function acknowledge(self, entry, form, text)
  local channel, number = entry.reply:match "^(%S+) (%d+)$"
  local answer, times = channel and ("%s %s%s"):format(number, form, text) or "", 0
  local result, message, code = self.calls:call(function()
    times = times + 1
    return { "EVAL", scripts.ACKNOWLEDGE, 1, self.key, entry.id, self.id, channel or "", answer }
  end)
  if not result then return nil, message, code end
  if result == 1 or (result == 2 and times > 1) then return true end
  return nil, ("%s: message %s was given to another receiver after its lease of %g s"):format(
    self.label, entry.id, self.lease), "ESTALE"
end

-- Renews leases: a list with 1 for each message that is still ours, else 0; or nil, message, code.
local function renew(self, ids)
  return self.calls:call(function()
    return { "EVAL", scripts.RENEW, 1, self.key, self.id, table.unpack(ids) }
  end, self.lease / 3, "table")
end

-- Runs the handler. A message whose handler failed waits for its lease, and is given out again.
local function handle(self, entry)
  local _ <close> = setmetatable({}, { __close = function()
    self.busy[entry.id], self.free = nil, self.free + 1
    self.bell:try_send(true)
  end })
  -- Others may have what comes late, and have done it.
  if ml.now() >= entry.ends and (renew(self, { entry.id }) or {})[1] ~= 1 then return end
  local value, problem = self.unpack(entry.form, entry.text)
  if problem then error(("%s: message %s: %s"):format(self.label, entry.id, problem), 0) end
  local is_answered = false
  self.handler(value, function(reply)
    if is_answered then return nil, self.label .. ": it was already answered", "EPIPE" end
    local form, text, code = self.pack(self, reply)
    if not form then return nil, text, code end
    is_answered = true
    return acknowledge(self, entry, form, text)
  end)
  if is_answered then return end
  is_answered = true
  local done, message = acknowledge(self, entry, "e", "")
  if not done and not self.is_closed then error(message, 0) end
end

-- Starts handlers. What was deleted meanwhile has no fields; what asks too late is not asked.
-- @param given when the leases began, at the earliest
local function take(self, entries, given)
  for _, raw in ipairs(entries) do
    local id, fields = raw[1], raw[2] or {}
    local entry = { id = id, form = fields[1], text = fields[2], reply = fields[4] or "",
      ends = given + self.lease }
    local is_late = (tonumber(fields[6]) or math.huge) < (ml.wall_time() + self.offset) * 1000
    if self.busy[id] then  -- its handler still runs
    elseif not fields[1] or is_late then
      link.task(self, acknowledge, self, entry, "e", "")
    else
      self.busy[id], self.free = entry, self.free - 1
      link.task(self, handle, self, entry)
    end
  end
end

-- Receives on one connection until that is broken: message, code, whether it was of use.
local function serve(self, stream)
  local id, within = self.id, { timeout = HELD + PATIENCE }
  local function ask(...) return redis.ask(stream, within, ...) end
  local function room()
    while self.free <= 0 do self.bell:receive() end
    return self.free
  end
  local function read(...)
    local reply, message, code = ask("XREADGROUP", "GROUP", "moonloop", id, "COUNT", room(), ...)
    if reply == nil then return nil, message, code end
    if not reply then return {} end
    return redis.entries(type(reply) == "table" and reply[2])
  end
  local made, message, code = ask("XGROUP", "CREATE", self.key, "moonloop", "0", "MKSTREAM")
  if not made and not message:find("BUSYGROUP", 1, true) then return message, code end
  local time
  time, message, code = redis.seconds(ask "TIME")
  if not time then return message, code end
  self.offset = time - ml.wall_time()
  -- What the broker has given to this port, and a broken connection has swallowed.
  local from, entries = "0", nil
  repeat
    entries, message, code = read("STREAMS", self.key, from)
    if not entries then return message, code end
    take(self, entries, -math.huge)
    from = entries[1] and entries[#entries][1]
  until not from
  -- Others come back to the broker as well, and keep what they have.
  local sweep = ml.now() + self.lease
  while true do
    local given = ml.now()
    if given >= sweep then
      sweep = given + self.lease / 2
      entries, message, code = ask("EVAL", scripts.TAKE_OVER, 2, self.key, self.key .. ":failed",
        id, math.ceil(self.lease * 1000), room(), self.attempts)
      if entries then entries, message, code = redis.entries(entries) end
    else
      local wait = math.max(0.001, math.min(HELD, sweep - given))
      entries, message, code = read("BLOCK", math.ceil(wait * 1000), "STREAMS", self.key, ">")
    end
    if not entries then return message, code, true end
    self.warned = nil
    take(self, entries, given)
  end
end

-- Hands the messages for all to the handler, 'at_once' at a time.
local function deliver(self)
  local gate = ml.semaphore(self.at_once)
  for text in self.pushes:items() do
    local permit = gate:acquire()
    link.task(self, function()
      local _ <close> = permit
      local value, problem = self.unpack(text:sub(1, 1), text:sub(2))
      if problem then error(("%s: %s"):format(self.label, problem), 0) end
      self.handler(value, function()
        return nil, self.label .. ": a message to all gets no reply", "EPIPE"
      end)
    end)
  end
end

--- A message for all was pushed. What the handler cannot keep up with is dropped, and counted.
function receiver.push(self, text)
  if self.pushes and not self.pushes:try_send(text) then self.dropped = self.dropped + 1 end
end

--- Begins to receive; with nil no further message is taken.
function receiver.set(self, handler)
  if self.task then self.task:cancel(self.label .. " takes no more messages") end
  self.handler, self.task = handler, nil
  if not handler then return end
  self.holds = self.keep_alive ~= false
  if self.deliver == "all" then
    self.pushes, self.calls.holds = ml.channel(self.capacity), self.holds
    self.calls:subscribe(self.key)
    self.task = link.task(self, deliver, self)
    return
  end
  self.busy, self.free = self.busy or {}, self.free or self.at_once
  self.bell = self.bell or ml.channel(1)
  self.renewal = self.renewal or ml.current():timer { every = self.lease / 3, keep_alive = false,
    name = self.label, modes = self.modes, function()
      local ids = values.keys(self.busy)
      if ids[1] then renew(self, ids) end
    end }
  self.task = link.task(self, link.keep, self, function(stream) return serve(self, stream) end)
end

function receiver.close(self)
  if self.inbox then self.inbox:close() end
  if self.renewal then self.renewal:invalidate() end
  if self.task then self.task:cancel(self.label .. " was closed") end
end

return receiver
