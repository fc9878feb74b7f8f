-- `t:tcp`: a peer in place of another one. Each connection follows the same steps: bytes that are
-- expected, and bytes that answer them.
local check = require "moonloop.text.options"
local failure = require "moonloop.testing.failure"
local kept = require "moonloop.testing.doubles.kept"
local ml = require "moonloop"
local quoting = require "moonloop.text.quoting"

local double = {}

local WORDS = { expect = "string", line = "string", reply = "any", close = "boolean" }
local SHOWN = 60  -- bytes of a text in a message

-- A step, checked; mistakes are errors at the line of the test.
local function step(given, number, level)
  local function refuse(text, ...)
    error(("t:tcp: step %d: " .. text):format(number, ...), level + 1)
  end
  if type(given) ~= "table" then
    refuse("must be a table, e.g. { expect = \"PING\\r\\n\", reply = \"+PONG\\r\\n\" }, got a %s",
      type(given))
  end
  check(("t:tcp: step %d"):format(number), given, WORDS)
  if given.reply and type(given.reply) ~= "string" and type(given.reply) ~= "function" then
    refuse("'reply' must be a string or a function")
  end
  if given.expect and given.line then refuse("has both 'expect' and 'line'") end
  return given
end

-- Reads what a step expects.
-- @return what came; or nil and what is wrong
local function take(stream, one)
  if one.line then
    local line = stream:read "l"
    if line and line:find(one.line) then return line end
    return nil, ("a line like %s"):format(quoting.quoted(one.line, SHOWN)), line
  end
  local expected, came = one.expect or "", ""
  while #came < #expected do
    local part = stream:read_some(#expected - #came)
    if not part then break end
    came = came .. part
    if came ~= expected:sub(1, #came) then break end
  end
  if came == expected then return came end
  return nil, quoting.quoted(expected, SHOWN), came
end

-- Follows the steps on one connection. Notes the first one that is not kept.
local function follow(self, steps, stream)
  for number, one in ipairs(steps) do
    local came, expected, other = take(stream, one)
    if not came then
      self.surprises[#self.surprises + 1] = ("step %d expects %s, got %s"):format(number, expected,
        other and other ~= "" and quoting.quoted(other, SHOWN) or "the end of the connection")
      return stream:close()
    end
    self.last = math.max(self.last, number)
    local reply = one.reply
    if type(reply) == "function" then reply = reply(came) end
    if reply then stream:write(reply) end
    if one.close then return stream:close() end
  end
  local more = stream:read_some()
  if more then
    self.surprises[#self.surprises + 1] = ("after the last step came %s"):format(
      quoting.quoted(more, SHOWN))
  end
  stream:close()
end

-- Adds bytes to the steps that are recorded; what goes one way in several parts is one text.
local function record(list, word, data)
  local last = list[#list]
  if not last or word == "expect" and last.reply then
    last = {}
    list[#list + 1] = last
  end
  last[word] = (last[word] or "") .. data
end

-- Stands between a client and the real peer.
local function forward(self, from, stream)
  local host, port = from:match "^(.+):(%d+)$"
  local peer, message = ml.net.connect { host = host, port = math.tointeger(port), timeout = 5 }
  if not peer then
    self.surprises[#self.surprises + 1] = ("%s does not answer: %s"):format(from, message)
    return stream:close()
  end
  self.streams[peer] = true
  local has_client_ended
  local function copy(source, target, word)
    for data in function() return source:read_some() end do
      record(self.list, word, data)
      target:write(data)
    end
    if word == "expect" then
      has_client_ended = true
    elseif not has_client_ended then
      if #self.list == 0 then self.list[1] = {} end
      self.list[#self.list].close = true
    end
    if target:is_valid() then target:shutdown "write" end
  end
  local back = ml.current():task({ name = "copy of t:tcp" }, copy, peer, stream, "reply")
  copy(stream, peer, "expect")
  back:await()
  peer:close()
  stream:close()
end

local function verify(self, steps, where)
  local lines = {}
  if #self.surprises > 0 then lines[1] = "t:tcp: " .. table.concat(self.surprises, "\n  ") end
  if #lines == 0 and self.last < #steps then
    lines[1] = ("t:tcp: %d of %d steps were taken"):format(self.last, #steps)
  end
  if #lines > 0 then failure.fail(where .. ": " .. table.concat(lines, "\n"), 0) end
end

-- Listens until the end of the test; then `finish` looks at what came.
local function listen(self, context, handler, finish)
  local server = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
    self.streams[stream], self.connections = true, self.connections + 1
    handler(stream)
  end })
  kept.end_with(context, server, self.streams, finish)
  return { host = "127.0.0.1", port = server.port }
end

--- Makes the double.
-- @param given a list of steps; or `recorded`, the name of a golden file that has them, and `from`,
--   "host:port" of the real peer, for `--update`
-- @param context `update`, `golden(name)`, `defer(fn)` and `where`, of the test's tools
-- @return a table with `host` and `port`
function double.new(given, context, level)
  kept.check("t:tcp", given, '{ { expect = "PING\\n", reply = "PONG\\n" } }', level + 1)
  local self = { surprises = {}, list = {}, streams = {}, connections = 0, last = 0 }
  local source, path = kept.list("t:tcp", given, context)
  if not source then
    if type(given.from) ~= "string" or not given.from:find "^.+:%d+$" then
      error("t:tcp: 'from' must be \"host:port\" of the peer to record", level + 1)
    end
    return listen(self, context, function(stream) forward(self, given.from, stream) end,
      function()
        verify(self, {}, context.where)
        assert(kept.write(path, self.list))
      end)
  end
  local steps = {}
  for number, one in ipairs(source) do steps[number] = step(one, number, level + 1) end
  return listen(self, context, function(stream) follow(self, steps, stream) end,
    function() verify(self, steps, context.where) end)
end

return double
