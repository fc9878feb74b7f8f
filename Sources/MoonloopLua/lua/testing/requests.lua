-- HTTP in tests: a request without an answer fails the test, and responses have expectations.
local http = require "moonloop.http"
local exchange = require "moonloop.http.exchange"
local failure = require "moonloop.testing.failure"
local output = require "moonloop.testing.output"
local given = require("moonloop.text.host").given
local patterns = require "moonloop.text.patterns"
local quoting = require "moonloop.text.quoting"
local spelling = require "moonloop.text.spelling"

local requests = {}

local WITHIN = 5  -- seconds for a request, unless the test sets another

local response = {}
local set_metatable <const> = debug.setmetatable  -- that of a response is closed
local meta

--- The URL to request: `:8080/path` is short for `http://127.0.0.1:8080/path`.
local function whole(address)
  if type(address) == "string" and address:find "^:%d" then
    return "http://127.0.0.1" .. address
  end
  return address
end

--- Makes a request.
-- @param name the method of `t`, for messages
-- @param options as for `ml.http.request`
-- @param said returns the output of the test's programs, and how they failed if none runs; gets
-- whether the server has ended the connection
-- @return the response; fails the test if there is none
function requests.send(name, options, said)
  options.url = whole(options.url)
  options.timeout = options.timeout or WITHIN
  options.redirects = options.redirects or 0  -- a test sees each answer
  local ok, answer, message, code = pcall(http.request, options)
  if not ok then
    error((tostring(answer):gsub("^ml%.http%.request", "t:" .. name)), 0)
  end
  if code == "EINVAL" then error(("t:%s: %s"):format(name, message), 3) end
  local asked = ("%s %s"):format(options.method or "GET", options.url)
  if answer then
    answer.asked = asked
    meta = meta or exchange.meta(response)
    return set_metatable(answer, meta)
  end
  local wrote, how = said(code == "ECONNRESET" or code == "EPIPE")
  if code == "ECONNREFUSED" and not how then
    message = message .. "; if the server is still starting, call t:wait_port first"
  end
  failure.fail(("%s%s"):format(message,
    wrote == "" and "" or ". Output of programs:\n" .. wrote), 3)
end

local function answered(self, problem)
  return ("%s: %s. It answered %d %s:\n%s"):format(
    self.asked, problem, self.status, self.reason, output.tail({ text = self.body }))
end

--- How a header differs from what is expected; of a list, one value has to match.
local function check_header(self, name, pattern, is_plain)
  local value = self.headers[name]
  if not value then return ("no header '%s'"):format(name) end
  local values = type(value) == "table" and value or { value }
  for _, one in ipairs(values) do
    if one:find(pattern, 1, is_plain) then return nil end
  end
  return ("the header '%s' does not match '%s': '%s'"):format(name, pattern,
    table.concat(values, "', '"))
end

local OPTIONS = { "headers", "plain" }

local function check_arguments(status, pattern, options)
  if status ~= nil and math.type(status) ~= "integer" then
    error(("response:expect: the status must be a whole number, got %s"):format(given(status)), 3)
  end
  if pattern ~= nil and type(pattern) ~= "string" then
    error(("response:expect: the pattern must be a string, got %s"):format(given(pattern)), 3)
  end
  local mistake = pattern and not (options and options.plain) and patterns.mistake(pattern)
  if mistake then error("response:expect: " .. mistake, 3) end
  for key in pairs(options or {}) do
    if key ~= "headers" and key ~= "plain" then
      error(("response:expect: unknown option '%s'%s"):format(tostring(key),
        spelling.hint(tostring(key), OPTIONS, "the options are")), 3)
    end
  end
end

--- Fails the test unless the response is as expected.
-- @param status the number; nil: any
-- @param pattern a Lua pattern for the body; nil: any
-- @param options `headers`, patterns by name; `plain = true` takes patterns literally
-- @return the captures of the pattern, or the match; the response if there is no pattern
function response:expect(status, pattern, options)
  check_arguments(status, pattern, options)
  if status and self.status ~= status then
    failure.fail(answered(self, ("expected status %d"):format(status)), 2)
  end
  local is_plain = options and options.plain or false
  for name, wanted in pairs(options and options.headers or {}) do
    local problem = check_header(self, name, tostring(wanted), is_plain)
    if problem then failure.fail(answered(self, problem), 2) end
  end
  if not pattern then return self end
  local found = table.pack(self.body:find(pattern, 1, is_plain))
  if not found[1] then
    local advice = failure.advice(pattern, self.body, is_plain, "pattern")
    failure.fail(answered(self, ("the body does not match '%s'%s"):format(
      quoting.line(pattern), advice)), 2)
  end
  if found.n > 2 then return table.unpack(found, 3, found.n) end
  return self.body:sub(found[1], found[2])
end

return requests
