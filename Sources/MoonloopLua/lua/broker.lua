-- ml.port { over = "redis://…" }: a port that programs on other machines share, over a broker. One
-- receiver gets each message and acknowledges it, or all receivers get it. See docs/brokers.md.
local ml = require "moonloop"
local check = require "moonloop.text.options"
local json = require "moonloop.json"
local link = require "moonloop.redis.link"
local receiver = require "moonloop.broker.receiver"
local redis = require "moonloop.redis"
local scripts = require "moonloop.broker.scripts"
local spelling = require "moonloop.text.spelling"
local unheld = require "moonloop.unheld"
local mistake = require("moonloop.text.host").mistake

-- Messages of one batch, its bytes, and seconds until a full queue is tried again.
local BATCH, BATCH_BYTES, FULL_PAUSE = 100, 1 << 20, 0.05
-- A longer message is refused.
local MESSAGE_LIMIT = 1 << 20

local OPTIONS = { [1] = "function", handler = "function", name = "string", over = "string",
  deliver = { "string", "one", "all" }, capacity = { "integer", 1, 1 << 24 },
  at_once = { "integer", 1, 1024 }, lease = { "number", 0.1, 86400 },
  attempts = { "integer", 1, 1000 }, timeout = { "number", 0, 1e9 }, modes = "any",
  keep_alive = "boolean", on_error = "function" }
local DEFAULTS = { deliver = "one", capacity = 65536, at_once = 1, lease = 30, attempts = 5,
  timeout = 10 }
local FIELDS = { "name", "capacity", "deliver", "dropped", "on_error" }

-- The state of each handle, where no script reaches it.
local states = setmetatable({}, { __mode = "k" })
local methods = {}

local made = 0

-- The identity of a port among all at its broker: when it was made by both clocks, which number it
-- has, and a random number, which alone would not do where a script has set the seed.
local function identity()
  made = made + 1
  return ("%x.%x.%x"):format(math.floor(ml.wall_time() * 1e6), math.random(0),
    (math.floor(ml.now() * 1e9) << 16) + made)
end

-- A message as its form, "s" for a string and "j" for JSON, and its text; or nil, message, code.
local function pack(self, value)
  local form, text, ok = "s", value, true
  if type(value) ~= "string" then
    form, ok, text = "j", pcall(json.encode, value)
    if not ok then error(self.label .. text:gsub("^ml%.json%.encode", ""), 0) end
  end
  if #text <= MESSAGE_LIMIT then return form, text end
  return nil, ("%s: a message of %d bytes; the limit is %d"):format(self.label, #text,
    MESSAGE_LIMIT), "EMSGSIZE"
end

local function unpack_text(form, text)
  if form == "s" then return text end
  if form == "j" then return json.decode(text) end
  return nil, "it was not sent by a port", "EBADMSG"
end

-- The first messages that are still wanted, with rising numbers; and the command that sends them.
local function next_batch(self)
  local batch, bytes, kept = {}, 0, {}
  local words = { "EVAL", scripts.SEND, 2, self.key, ("%s:from:%s"):format(self.key, self.id),
    self.capacity }
  for _, item in ipairs(self.out) do
    if not item.is_over then kept[#kept + 1] = item end
  end
  self.out = kept
  for _, item in ipairs(kept) do
    bytes = bytes + #item.text
    if #batch == BATCH or (bytes > BATCH_BYTES and #batch > 0) then break end
    if not item.number then item.number, self.number = self.number, self.number + 1 end
    batch[#batch + 1] = item
    table.move({ item.number, item.form, item.text, item.reply or "", item.deadline or "" }, 1, 5,
      #words + 1, words)
  end
  return batch, batch[1] and words
end

-- Sends what waits, one batch at a time: later messages go with the next one.
local function pump(self)
  repeat
    local batch, words
    local taken, message, code = self.calls:call(function()
      batch, words = next_batch(self)
      return words
    end, nil, "number")
    for place, item in ipairs(batch or next_batch(self)) do
      if not taken or place <= taken then
        item.is_over = true
        item.done:try_send(taken and { true } or { nil, message, code })
      end
    end
    self.is_full = taken and taken < #batch
    if self.is_full then link.rest(self, FULL_PAUSE) end
  until not next_batch(self)[1]
  self.pump = nil
end

-- Puts a message into the queue of the broker: true; or nil, message, code.
local function enqueue(self, item, timeout)
  item.done = ml.channel(1)
  local _ <close> = setmetatable({}, { __close = function() item.is_over = true end })
  self.out[#self.out + 1] = item
  self.pump = self.pump or link.task(self, pump, self)
  local answer = item.done:receive { timeout = timeout }
  if answer then return table.unpack(answer, 1, answer[1] and 1 or 3) end
  local problem = self.calls.problem
  local why = self.is_full and ("it stays full, capacity %d"):format(self.capacity)
    or problem and problem[1] or "the broker is silent"
  return nil, ("%s: not taken within %g s: %s"):format(self.label, timeout, why), "ETIMEDOUT"
end

-- The state of a handle, and the timeout of one of its calls, unless it was closed.
local function enter(handle, what, options)
  local self = states[handle]
  local timeout = check(what, options, { timeout = "number" }).timeout
  if not self.is_closed then return self, timeout or self.timeout end
  return nil, self.label .. " was closed", "EPIPE"
end

function methods:send(message, options)
  local state, timeout, code = enter(self, "port:send", options)
  if not state then return nil, timeout, code end
  local form, text, problem = pack(state, message)
  if not form then return nil, text, problem end
  if state.deliver == "one" then return enqueue(state, { form = form, text = text }, timeout) end
  form, problem, code = state.calls:call(
    function() return { "PUBLISH", state.key, form .. text } end, timeout)
  if not form then return nil, problem, code end
  return true
end

function methods:request(message, options)
  local state, timeout, code = enter(self, "port:request", options)
  if not state then return nil, timeout, code end
  if state.deliver == "all" then mistake(state.label .. ": messages to all get no reply") end
  local form, text, problem = pack(state, message)
  if not form then return nil, text, problem end
  local ends, channel = ml.now() + timeout, ("%s:reply:%s"):format(state.key, state.id)
  local offset, why, kind = state.calls:offset(timeout)
  if not offset then return nil, why, kind end
  state.calls:subscribe(channel)
  state.asked = state.asked + 1
  local number, done = tostring(state.asked), ml.channel(1)
  local _ <close> = setmetatable({}, { __close = function() state.requests[number] = nil end })
  state.requests[number] = done
  form, problem, code = enqueue(state, { form = form, text = text, reply = channel .. " " .. number,
    deadline = math.floor((ml.wall_time() + offset + ends - ml.now()) * 1000) }, ends - ml.now())
  if not form then return nil, problem, code end
  local answer = done:receive { timeout = math.max(0, ends - ml.now()) }
  if answer then return table.unpack(answer, 1, answer.n) end
  return nil, ("%s: no reply within %g s"):format(state.label, timeout), "ETIMEDOUT"
end

-- What the broker pushes: replies to requests, and messages for all.
local function pushed(self, push)
  local kind, channel, text = table.unpack(push, 1, 3)
  if kind ~= "message" or type(text) ~= "string" then return end
  if channel == self.key then return receiver.push(self, text) end
  local number, form, rest = text:match "^(%d+) (%a)(.*)$"
  local done = self.requests[number]
  if not done then return end
  done:try_send(form == "e"
    and table.pack(nil, self.label .. ": there will be no reply", "EPIPE")
    or table.pack(unpack_text(form, rest)))
end

function methods:on(event, handler)
  local state = states[self]
  local problem = event ~= "message" and ("unknown event '%s'; there is 'message'"):format(event)
    or handler ~= nil and type(handler) ~= "function" and "the handler must be a function"
    or state.inbox and "a task receives from it" or state.is_closed and "it was closed"
  if problem then mistake(("%s: %s"):format(state.label, problem)) end
  receiver.set(state, handler)
  return self
end

function methods:receive(options)
  local state, why, code = enter(self, "port:receive", options)
  if not state then return nil, why, code end
  if not state.inbox then
    if state.handler then mistake(state.label .. " has a handler") end
    local inbox = ml.channel()
    state.inbox = inbox
    receiver.set(state, function(message, reply)
      local finished = ml.channel(1)
      inbox:send { message, function(...) finished:try_send(true) return reply(...) end }
      if state.deliver == "one" and not state.is_closed then finished:receive() end
    end)
  end
  local got, _, ending = state.inbox:receive { timeout = options and options.timeout }
  if got then return table.unpack(got, 1, 2) end
  if ending ~= "ETIMEDOUT" then return nil, state.label .. " was closed", "EPIPE" end
  return nil, ("%s: no message within %g s"):format(state.label, options.timeout), ending
end

function methods:count(options)
  local state, timeout, code = enter(self, "port:count", options)
  if not state then return nil, timeout, code end
  return state.calls:call(function() return { "XLEN", state.key } end, timeout, "number")
end

function methods:is_valid() return not states[self].is_closed end

function methods:invalidate()
  local state = states[self]
  if state.is_closed then return end
  state.is_closed = true
  unheld.remove(self)
  receiver.close(state)
  local closed = table.pack(nil, state.label .. " was closed meanwhile", "ECANCELED")
  for _, item in ipairs(state.out) do item.done:try_send(closed) end
  for _, done in pairs(state.requests) do done:try_send(closed) end
  if state.pump then state.pump:cancel(state.label .. " was closed") end
  state.calls:close()
end

local meta = { __name = "port", __metatable = "port", __close = methods.invalidate,
  __tostring = function(handle) return states[handle].label end }

function meta.__index(handle, key)
  if methods[key] then return methods[key] end
  for _, name in ipairs(FIELDS) do
    if name == key then return states[handle][key] end
  end
  spelling.no_field(states[handle].label, key, FIELDS, methods)
end

function meta.__newindex(handle, key, value)
  local state = states[handle]
  if key == "on_error" then
    state.on_error = check(state.label, { on_error = value }, OPTIONS).on_error
  else
    mistake(("%s: the field '%s' cannot be set"):format(state.label, tostring(key)))
  end
end

return function(options)
  local self = {}
  for name, value in pairs(DEFAULTS) do self[name] = value end
  for name, value in pairs(check("ml.port", options, OPTIONS)) do self[name] = value end
  if not (self.name or ""):find "^[%w._-]+$" or #self.name > 64 then
    mistake("ml.port: 'name' must be 1 to 64 letters, digits, '.', '-' or '_'")
  end
  local place, problem = redis.parse_url(self.over)
  if not place then mistake("ml.port: 'over': " .. problem) end
  self.label, self.key = ("port '%s'"):format(self.name), ("moonloop:{%s}"):format(self.name)
  self.out, self.requests, self.number, self.asked, self.dropped = {}, {}, 1, 0, 0
  self.place, self.pack, self.unpack, self.id = place, pack, unpack_text, identity()
  self.calls = link.calls { place = place, label = self.label, modes = self.modes,
    pushed = function(push) pushed(self, push) end }
  local handle = setmetatable({}, meta)
  states[handle] = self
  unheld.add(handle, "port", self.name)
  local handler = self[1] or self.handler
  self.handler = nil
  if handler then
    receiver.set(self, function(message, reply) return handler(handle, message, reply) end)
  end
  return handle
end
