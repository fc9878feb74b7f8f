-- `t:http`: a server in place of another one. It answers the requests that a test expects, and
-- fails the test for all others, and for those that never came.
local check = require "moonloop.text.options"
local failure = require "moonloop.testing.failure"
local kept = require "moonloop.testing.doubles.kept"
local host = require "moonloop.text.host"
local ml = require "moonloop"
local quoting = require "moonloop.text.quoting"

local double = {}

local WORDS = {
  "string", body = "string", headers = "table", plain = "boolean", reply = "any", times = "any",
}

-- What is wrong with the parts of a reply; nil if nothing is.
local function wrong_reply(reply)
  for key in pairs(reply) do
    if math.type(key) ~= "integer" or key < 1 or key > 3 then
      return ("is a list { status, body, headers }, without '%s'; JSON is written by "
        .. "ml.json.encode"):format(tostring(key))
    end
  end
  local first, body, headers = reply[1], reply[2], reply[3]
  if math.type(first) ~= "integer" and (type(first) ~= "string" or body ~= nil) then
    return "begins with a status, got " .. host.given(first)
  elseif body ~= nil and type(body) ~= "string" then
    return ("has a body that is no string but %s; JSON is written by ml.json.encode"):format(
      host.given(body))
  elseif headers ~= nil and type(headers) ~= "table" then
    return "has headers that are no table but " .. host.given(headers)
  end
end

-- An expectation, checked; mistakes are errors at the line of the test.
local function expectation(given, number, level)
  local function refuse(text, ...)
    error(("t:http: expectation %d: " .. text):format(number, ...), level + 1)
  end
  if type(given) ~= "table" then
    refuse("must be a table, e.g. { \"GET /\", reply = 200 }, got a %s", type(given))
  end
  local method, target = tostring(given[1]):match "^(%u+) (/%S*)$"
  if not method then
    refuse("begins with a method and a path, e.g. \"GET /items?page=2\", got %s",
      type(given[1]) == "string" and quoting.quoted(given[1]) or tostring(given[1]))
  end
  check(("t:http: expectation %d"):format(number), given, WORDS)
  local times = given.times or 1
  if times ~= "any" and (math.type(times) ~= "integer" or times < 1) then
    refuse("'times' must be a whole number >= 1, or \"any\"")
  end
  local reply = given.reply == nil and 200 or given.reply
  if type(reply) ~= "table" and type(reply) ~= "function" then reply = { reply } end
  if type(reply) == "table" then
    local problem = wrong_reply(reply)
    if problem then refuse("'reply' %s", problem) end
  end
  return {
    method = method, target = target, body = given.body, headers = given.headers or {},
    plain = given.plain, reply = reply, times = times, came = 0, text = given[1],
  }
end

local function is_asked(one, request)
  local target = one.target:find("?", 1, true) and request.target or request.path
  return one.method == request.method and one.target == target
end

local function is_used_up(one) return one.times ~= "any" and one.came >= one.times end

-- How a request with the right method and path differs from what is expected; nil if it does not.
local function difference(one, request)
  if one.body and not request.body:find(one.body, 1, one.plain) then
    return ("the body does not match '%s'"):format(quoting.line(one.body))
  end
  local names = {}
  for name in pairs(one.headers) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local value, pattern = request.headers[name], one.headers[name]
    if not value then
      return ("no header '%s', which is to match '%s'"):format(name, quoting.line(pattern))
    end
    if not value:find(pattern, 1, one.plain) then
      return ("the header '%s' does not match '%s': '%s'"):format(name, quoting.line(pattern),
        quoting.line(value))
    end
  end
end

-- The expectations whose requests have not come as often as they are to.
local function missing(list)
  local texts = {}
  for _, one in ipairs(list) do
    if one.times ~= "any" and one.came < one.times then
      local often = one.times > 1 and (" (%d of %d times)"):format(one.came, one.times) or ""
      texts[#texts + 1] = "  " .. one.text .. often
    end
  end
  return texts
end

local function note(self, request)
  self.requests[#self.requests + 1] = {
    method = request.method, target = request.target, path = request.path, query = request.query,
    headers = request.headers, body = request.body,
  }
end

-- Answers a request that is expected; notes any other.
local function answer(self, list, request, response)
  note(self, request)
  local why
  for _, one in ipairs(list) do
    if is_asked(one, request) and is_used_up(one) then
      why = why or ("it has come %s already, as often as it is expected"):format(
        one.times == 1 and "once" or one.times .. " times")
    elseif is_asked(one, request) then
      local problem = difference(one, request)
      if not problem then
        one.came = one.came + 1
        if type(one.reply) == "function" then return one.reply(request, response) end
        return table.unpack(one.reply, 1, 3)
      end
      why = why or problem
    end
  end
  local text = ("%s %s"):format(request.method, request.target)
  if request.body ~= "" then
    text = ("%s with the body %s"):format(text, quoting.quoted(request.body))
  end
  if why then text = text .. ": " .. why end
  self.surprises[#self.surprises + 1] = text
  return 501, "the test does not expect " .. text .. "\n"
end

-- What the peer's answer is made of: a length, a date and a connection are made again.
local LEFT_OUT = {
  connection = true, date = true, ["content-length"] = true, ["keep-alive"] = true,
  ["transfer-encoding"] = true, server = true, via = true,
}

-- Passes a request on to the real server, and keeps its answer as an expectation.
local function forward(self, from, request)
  note(self, request)
  local headers = {}
  for name, value in pairs(request.headers) do
    if not LEFT_OUT[name] and name ~= "host" then headers[name] = value end
  end
  local reply, message = ml.http.request {
    method = request.method, url = from .. request.target, headers = headers,
    body = request.body ~= "" and request.body or nil, redirects = 0,
  }
  if not reply then
    self.surprises[#self.surprises + 1] = ("%s %s, and %s does not answer: %s"):format(
      request.method, request.target, from, message)
    return 502, message .. "\n"
  end
  local sent = {}
  for name, value in pairs(reply.headers) do
    if not LEFT_OUT[name] then sent[name] = value end
  end
  self.list[#self.list + 1] = {
    request.method .. " " .. request.target, body = request.body ~= "" and request.body or nil,
    plain = request.body ~= "" or nil, reply = { reply.status, reply.body, sent },
  }
  return reply.status, reply.body, sent
end

-- The failure of the test, if not all was as expected.
local function verify(self, list, where)
  local lines = {}
  if #self.surprises > 0 then
    lines[1] = "t:http: not expected:\n  " .. table.concat(self.surprises, "\n  ")
    if self.is_recorded then
      lines[1] = lines[1] .. "\n  'moonloop test --update' records what the server says now"
    end
  end
  local texts = missing(list)
  if #texts > 0 then
    lines[#lines + 1] = "t:http: expected but never requested:\n" .. table.concat(texts, "\n")
  end
  if #lines > 0 then failure.fail(where .. ": " .. table.concat(lines, "\n"), 0) end
end

-- Listens until the end of the test; then `finish` looks at what came.
local function listen(self, context, handler, finish)
  local streams = {}
  local server = assert(ml.http.serve { host = "127.0.0.1", port = 0,
    function(request, response)
      streams[request.stream] = true
      return handler(request, response)
    end })
  self.port, self.url = server.port, "http://127.0.0.1:" .. server.port
  kept.end_with(context, server, streams, finish)
  return self
end

--- Makes the double.
-- @param given a list of expectations; or `recorded`, the name of a golden file that has them, and
--   `from`, the URL of the real server, for `--update`
-- @param context `update`, `golden(name)`, `defer(fn)` and `where`, of the test's tools
-- @return a table with `url`, `port` and the `requests` that came
function double.new(given, context, level)
  kept.check("t:http", given, '{ { "GET /", reply = 200 } }', level + 1)
  local self = { requests = {}, surprises = {}, list = {} }
  local source, path = kept.list("t:http", given, context)
  if not source then
    if type(given.from) ~= "string" then
      error("t:http: 'from' is missing: the URL of the server to record", level + 1)
    end
    local from = given.from:gsub("/$", "")
    return listen(self, context, function(request) return forward(self, from, request) end,
      function()
        verify(self, {}, context.where)
        assert(kept.write(path, self.list))
      end)
  end
  self.is_recorded = given.recorded ~= nil
  local list = {}
  for number, one in ipairs(source) do list[number] = expectation(one, number, level + 1) end
  return listen(self, context, function(request, response)
    return answer(self, list, request, response)
  end, function() verify(self, list, context.where) end)
end

return double
