-- URLs: http://host:port/path?query, https, and http+unix://%2Fpath%2Fof%2Fsocket/path for Unix
-- sockets.

local host = require "moonloop.text.host"
local quoting = require "moonloop.text.quoting"
local values = require "moonloop.text.values"

local mistake = host.mistake

local url = {}

-- The longest name of a host, and the longest path of a socket.
local HOST_LIMIT, SOCKET_LIMIT = 253, 107

local PLAIN = { string = true, number = true, boolean = true }

local function refuse(what, subject, expected, given)
  mistake(("%s: %s must be %s, got %s"):format(what, subject, expected, host.given(given)))
end

function url.escape(text)
  if not PLAIN[type(text)] then refuse("ml.http.escape", "the text", "a string", text) end
  return (tostring(text):gsub("[^%w%-._~]", function(c) return ("%%%02X"):format(c:byte()) end))
end

function url.unescape(text)
  if type(text) ~= "string" then refuse("ml.http.unescape", "the text", "a string", text) end
  if not text:find("%", 1, true) then return text end
  return (text:gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

-- { a = 1, b = { 2, 3 } } as a=1&b=2&b=3, sorted by name.
function url.encode_query(fields, what)
  what = what or "ml.http.encode_query"
  if type(fields) ~= "table" then refuse(what, "the query", "a table", fields) end
  local parts = {}
  for _, name in ipairs(values.keys(fields)) do
    local all = fields[name]
    for _, value in ipairs(type(all) == "table" and all or { all }) do
      if not PLAIN[type(name)] or not PLAIN[type(value)] then
        refuse(what, "query." .. values.tostring(name), "a string, a number or a list of them",
          value)
      end
      parts[#parts + 1] = url.escape(name) .. "=" .. url.escape(value)
    end
  end
  return table.concat(parts, "&")
end

-- The fields of a query; of equal names the last one counts.
function url.parse_query(text)
  local fields = {}
  if not text or text == "" then return fields end
  if type(text) ~= "string" then refuse("ml.http.parse_query", "the query", "a string", text) end
  local plain = function(one) return url.unescape((one:gsub("+", " "))) end
  for part in text:gmatch "[^&]+" do
    local name, value = part:match "^([^=]*)=?(.*)$"
    fields[plain(name)] = plain(value)
  end
  return fields
end

-- Returns { host, port } or { path } of a socket, `target`, `authority` and `tls` (https); or nil
-- and a message.
function url.parse(text)
  if type(text) ~= "string" then return nil, "the URL must be a string" end
  local scheme, authority, rest = text:match "^(%a[%w+.-]*)://([^/?#]*)([^#]*)"
  if not scheme then
    return nil, ("'%s' is not a URL; write http://host:port/path"):format(text)
  end
  scheme = scheme:lower()
  local is_tls = scheme == "https"
  if not is_tls and scheme ~= "http" and scheme ~= "http+unix" then
    return nil, ("unknown scheme '%s'; use http or https"):format(scheme)
  end
  local target = rest:sub(1, 1) == "/" and rest or "/" .. rest
  if target:find "[%c ]" then return nil, "the path contains a space or control character" end
  if scheme == "http+unix" then
    if authority == "" then return nil, "the path of the socket is missing" end
    local path = url.unescape(authority)
    if #path > SOCKET_LIMIT then return nil, "the path of the socket is too long" end
    if path:find "%z" then return nil, "the path of the socket has a zero byte" end
    return { path = path, target = target, authority = "localhost" }
  end
  local given = authority
  authority = authority:gsub("^.*@", "")
  local host, port = authority:match "^%[([%x:.]+)%]:?(%d*)$"
  if not host then host, port = authority:match "^([^:]+):?(%d*)$" end
  local number = port == "" and (is_tls and 443 or 80) or tonumber(port) or 0
  if not host or #host > HOST_LIMIT or given:find "[%c \\]" or number < 1 or number > 65535 then
    return nil, ("%s is not a host"):format(quoting.quoted(quoting.cut(authority, 80, "...")))
  end
  return { host = host, port = math.tointeger(number), target = target,
    authority = authority, tls = is_tls or nil }
end

--- The address of a reference, such as the field Location, as seen from another address.
function url.resolve(reference, base)
  if reference:find "^%a[%w+.-]*:" then return reference end
  local scheme, authority, path = base:match "^(%a[%w+.-]*:)(//[^/?#]*)([^?#]*)"
  if not scheme then return reference end
  if reference:find "^//" then return scheme .. reference end
  if reference:find "^/" then return scheme .. authority .. reference end
  if reference:find "^[?#]" then return scheme .. authority .. path .. reference end
  local whole, rest = (path:match "^(.*/)" or "/") .. reference:match "^[^?#]*",
    reference:match "^[^?#]*(.*)$"
  local parts = {}
  for part in whole:gmatch "[^/]+" do
    if part == ".." then table.remove(parts) elseif part ~= "." then parts[#parts + 1] = part end
  end
  local ending = whole:find "/%.?%.?$" and #parts > 0 and "/" or ""
  return scheme .. authority .. "/" .. table.concat(parts, "/") .. ending .. rest
end

return url
