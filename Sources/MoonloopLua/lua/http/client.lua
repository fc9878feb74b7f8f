-- The client: a single request, or a client that keeps connections for later requests.
local ml = require "moonloop"
local exchange = require "moonloop.http.exchange"
local fields = require "moonloop.http.fields"
local message = require "moonloop.http.message"
local url = require "moonloop.http.url"
local handles = require "moonloop.text.handles"
local host = require "moonloop.text.host"
local spelling = require "moonloop.text.spelling"
local values = require "moonloop.text.values"

local mistake = host.mistake

local client = {}

local OPTIONS = {
  url = "string", method = "string", headers = "table", body = "string, number or function",
  query = "table", timeout = "number", max_body = "number", max_head = "number",
  keep_alive = "boolean", tls = "boolean or table", stream = "boolean", upgrade = "string",
  redirects = "number",
}
-- How many redirects are followed, and how many idle connections a client keeps for a host.
local REDIRECTS, IDLE = 5, 8

-- The options of one request, from the arguments of http.get and the others.
-- @param what begins messages: "ml.http.get"
function client.options(what, method, address, text, options)
  if options ~= nil and type(options) ~= "table" then
    mistake(("%s: takes a table of options, got %s"):format(what, host.given(options)))
  end
  local made = { method = method, url = address, body = text }
  for key, value in pairs(options or {}) do made[key] = value end
  return made
end

local function check(what, options)
  if type(options) ~= "table" then
    mistake(("%s: takes a table of options, such as { url = \"http://host/\" }; got %s"):format(
      what, host.given(options)))
  end
  for key, value in pairs(options) do
    local expected = OPTIONS[key]
    if not expected then
      mistake(("%s: unknown option '%s'"):format(what, tostring(key)),
        spelling.hint(tostring(key), values.keys(OPTIONS), "the options are"))
    end
    if not expected:find(type(value), 1, true) then
      mistake(("%s: '%s' must be a %s, got %s"):format(what, key, expected, host.given(value)))
    end
  end
  if not options.url then
    mistake(what .. ": needs 'url', e.g. http://host:port/")
  end
end

local function connect(address, made, left)
  local options = { timeout = left().timeout, line_limit = made.max_head or message.HEAD_LIMIT }
  options.host, options.port, options.path = address.host, address.port, address.path
  if address.tls then options.tls = made.tls or true end
  return ml.net.connect(options)
end

-- A way to one server: `take` gives a stream and whether it was kept, `give` gets it back.
local Single = {}
Single.__index = Single
function Single.take(_, address, made, left) return connect(address, made, left) end
function Single.give(_, _, _, stream) stream:close() end

-- The methods of requests that may be sent again (RFC 9110, 9.2.2): once does what twice would.
local IS_REPEATABLE = { DELETE = true, GET = true, HEAD = true, OPTIONS = true, PUT = true,
  TRACE = true }

-- One request at one address.
local function once(pool, made, address, left, what)
  local stream, why, code = pool:take(address, made, left)
  if not stream then return nil, why, code end
  local is_kept = why == "kept"
  local function finish(is_reusable, is_sent)
    if not is_sent then return stream:invalidate() end
    if is_reusable then pool:give(address, made, stream) else stream:close() end
  end
  local response, problem, kind, is_unseen =
    exchange.run(stream, made, address, pool.keeps, left, finish, what)
  if response then return response end
  stream:invalidate()
  -- The server had closed the kept connection: try once more on a new one.
  if is_kept and is_unseen and IS_REPEATABLE[made.method or "GET"]
    and type(made.body) ~= "function" then
    return once(pool, made, address, left, what)
  end
  return nil, problem, kind
end

local function origin_of(address)
  return (address.tls and "https:" or "") .. (address.path or address.host .. ":" .. address.port)
end

-- Secrets are for the server that they were meant for.
local function forget_secrets(made)
  made.headers = fields.new(made.headers)
  for _, name in ipairs { "authorization", "cookie", "host", "proxy-authorization" } do
    made.headers[name] = nil
  end
  if type(made.tls) ~= "table" then return end
  local kept = {}
  for name, value in pairs(made.tls) do kept[name] = value end
  kept.cert, kept.key, kept.host = nil, nil, nil
  made.tls = kept
end

-- The request that follows a redirect; nil if there is none.
local function redirected(made, response, address)
  local status, location = response.status, response.headers.location
  local is_redirect = status == 301 or status == 302 or status == 303 or status == 307
    or status == 308
  if not is_redirect or not location then return nil end
  local follows = client.options(nil, made.method, url.resolve(location, made.url), made.body, made)
  follows.url, follows.query = url.resolve(location, made.url), nil
  local method = made.method or "GET"
  if status == 303 and method ~= "HEAD" or status < 303 and method == "POST" then
    follows.method, follows.body = "GET", nil
    follows.headers = fields.new(follows.headers)
    for _, name in ipairs { "content-encoding", "content-language", "content-length",
      "content-location", "content-type" } do
      follows.headers[name] = nil
    end
  elseif type(made.body) == "function" then
    return nil  -- It was read already.
  end
  local target, problem = url.parse(follows.url)
  if not target then return nil, problem end
  if address.tls and not target.tls then return nil end
  if target.path and target.path ~= address.path then return nil end  -- a socket of this machine
  if origin_of(target) ~= origin_of(address) then forget_secrets(follows) end
  return follows, target
end

-- What a request has failed with, named: without a password, and without the query, which may be
-- secret too.
local function failed(made, problem, code)
  local asked = ("%s %s"):format(made.method or "GET",
    (made.url:match "^[^?#]*":gsub("//[^/]*@", "//")))
  if code == "ETIMEDOUT" and made.timeout then
    problem = ("not done within %g s: %s"):format(made.timeout, (problem:gsub("^timed out: ", "")))
  end
  return nil, ("%s: %s"):format(asked, problem), code
end

-- A request, with the redirects that it leads to.
local function run(pool, made, what)
  local address, problem = url.parse(made.url)
  if not address then return nil, problem, "EINVAL" end
  local left, follows = message.deadline(made.timeout), made.redirects or REDIRECTS
  while true do
    local response, why, code = once(pool, made, address, left, what)
    if not response then return failed(made, why, code) end
    local next_one, target
    if follows > 0 then next_one, target = redirected(made, response, address) end
    if not next_one then return response end
    if made.stream then response:close() end
    made, address, follows = next_one, target, follows - 1
  end
end

-- One request on its own connection. Returns { status, reason, headers, body, url, version }; or
-- nil, message, code.
function client.send(what, options)
  check(what, options)
  return run(Single, options, what)
end

function client.request(options) return client.send("ml.http.request", options) end

-- What a client keeps: idle connections, one per host for each concurrent request.
local Pool = {}
Pool.__index = Pool

-- Whether a server has sent nothing since its last response: else that would be taken for the next.
local function is_quiet(stream)
  if stream.buffered > 0 then return false end
  local _, _, code = stream:read_some(1, { timeout = 0 })
  return code == "ETIMEDOUT"
end

function Pool:take(address, made, left)
  local idle = self.idle[origin_of(address)]
  -- A connection with certificates of its own is for one request.
  while idle and #idle > 0 and made.tls == self.defaults.tls do
    local kept = table.remove(idle)
    if is_quiet(kept) then return kept, "kept" end
    kept:invalidate()
  end
  return connect(address, made, left)
end

function Pool:give(address, made, stream)
  local key = origin_of(address)
  local idle = self.idle[key] or {}
  self.idle[key] = idle
  if self.is_closed or #idle >= IDLE or made.tls ~= self.defaults.tls or stream.buffered > 0 then
    return stream:close()
  end
  table.insert(idle, stream)
end

local methods = {}
local kind = handles.kind("client", methods, {})

function client.new(options)
  return kind.make(setmetatable({ defaults = options or {}, idle = {}, is_closed = false,
    keeps = true }, Pool))
end

-- One request with the client's own options.
local function send(pool, what, options)
  check(what, options)
  local made = client.options(what, options.method, options.url, options.body, pool.defaults)
  for key, value in pairs(options) do made[key] = value end
  check(what, made)
  if pool.is_closed then mistake(what .. ": the client is closed") end
  return run(pool, made, what)
end

function methods:request(options)
  return send(kind.of(self, "request"), "client:request", options)
end

for _, method in ipairs { "get", "head", "delete", "options" } do
  local what = "client:" .. method
  methods[method] = function(self, address, options)
    local pool = kind.of(self, method)
    return send(pool, what, client.options(what, method:upper(), address, nil, options))
  end
end
for _, method in ipairs { "post", "put", "patch" } do
  local what = "client:" .. method
  methods[method] = function(self, address, text, options)
    local pool = kind.of(self, method)
    return send(pool, what, client.options(what, method:upper(), address, text, options))
  end
end

-- Closes the idle connections; those in use close after their response.
function methods:close()
  local pool = kind.of(self, "close")
  pool.is_closed = true
  for _, streams in pairs(pool.idle) do
    for _, stream in ipairs(streams) do stream:close() end
  end
  pool.idle = {}
end

return client
