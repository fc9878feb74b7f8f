-- Files as bodies: their fields, conditions and ranges (RFC 9110, 13 and 14). The kernel sends them
-- where it can.
local ml = require "moonloop"
local fields = require "moonloop.http.fields"
local host = require "moonloop.text.host"

-- A guest has them while its libraries are loaded, if it may read files.
local has_files, calls = pcall(require, "moonloop.files")
local open_stream = ml.stream

local sender = {}

local TYPES = {
  css = "text/css; charset=utf-8", csv = "text/csv; charset=utf-8", gif = "image/gif",
  html = "text/html; charset=utf-8", ico = "image/x-icon", jpeg = "image/jpeg",
  jpg = "image/jpeg", js = "text/javascript; charset=utf-8", json = "application/json",
  mjs = "text/javascript; charset=utf-8", pdf = "application/pdf", png = "image/png",
  svg = "image/svg+xml", txt = "text/plain; charset=utf-8", wasm = "application/wasm",
  webp = "image/webp", woff2 = "font/woff2", xml = "application/xml",
}
local STATUS = { ENOENT = 404, ENOTDIR = 404, EISDIR = 404, ENAMETOOLONG = 404, ELOOP = 404,
  EACCES = 403, EPERM = 403 }
-- Bytes that are sent within one time limit.
local PORTION = 256 << 10
local READ_NOW = 0x800  -- O_RDONLY | O_NONBLOCK: a pipe is not waited for

-- The first and last byte of a range; nil: all of it, since it is none or several; false: none is
-- in the file.
local function range_of(text, size)
  local first, last = (text or ""):match "^bytes=(%d*)%-(%d*)$"
  if not first or #first > 15 or #last > 15 or first == "" and last == "" then return nil end
  first, last = math.tointeger(tonumber(first)), math.tointeger(tonumber(last))
  if not first then
    if last == 0 or size == 0 then return false end
    return math.max(0, size - last), size - 1
  end
  if last and last < first then return nil end
  if first >= size then return false end
  return first, math.min(last or size - 1, size - 1)
end

local function is_listed(tags, tag)
  if tags == "*" then return true end
  for one in tags:gmatch '"[^"]*"' do
    if one == tag then return true end
  end
  return false
end

-- Whether the client has the file already.
local function is_known(headers, tag, modified)
  local tags = headers["if-none-match"]
  if tags then return is_listed(tags, tag) end
  local since = fields.parse_date(headers["if-modified-since"])
  return since ~= nil and modified <= since
end

-- Whether a range is wanted of this file, and of no earlier one.
local function is_same(headers, tag, modified)
  local condition = headers["if-range"]
  if not condition then return true end
  return condition == tag or fields.parse_date(condition) == modified
end

-- What is answered: a status and the first and last byte.
local function choose(request, made, tag, size, modified)
  local is_read = request.method == "GET" or request.method == "HEAD"
  if is_read and is_known(request.headers, tag, modified) then return 304 end
  if request.method ~= "GET" or not is_same(request.headers, tag, modified) then
    return nil, 0, size - 1
  end
  local first, last = range_of(request.headers.range, size)
  if first == nil then return nil, 0, size - 1 end
  if not first then
    made["content-range"] = ("bytes */%d"):format(size)
    return 416
  end
  made["content-range"] = ("bytes %d-%d/%d"):format(first, last, size)
  return 206, first, last
end

-- What a disk has to be asked for is read by a thread, so that the loop does not wait for it.
local function read_and_write(fd, stream, count, timeout)
  local bytes = calls.wait(nil, "ml.http.serve", "read", fd, count, -1)
  return bytes and stream:write(bytes, { timeout = timeout }) and #bytes
end

-- The file's position is at `first`.
local function copy(source, stream, first, last, timeout)
  while first <= last do
    local count, done = math.min(last - first + 1, PORTION), nil
    if calls.is_cached(source.fd, first, count) then
      done = source:copy_to(stream, count, { timeout = timeout })
    else
      done = read_and_write(source.fd, stream, count, timeout)
    end
    if not done or done == 0 then return false end
    first = first + done
  end
  return stream:flush { timeout = timeout } and true or false
end

--- Answers a request with a file.
-- @param responses how responses are written, which needs this module
-- @param response what answers; its connection is closed if the file ends too early
-- @return nothing; or nil, the status, and words for a file that cannot be sent
function sender.send(responses, response, answer)
  if not has_files then host.mistake "ml.http.serve: 'file' needs files to be granted" end
  local path = answer.file
  local fd, message, code = calls.wait(nil, "ml.http.serve", "open", path, READ_NOW, 0)
  if not fd then return nil, STATUS[code] or 500, message end
  local source <close>, problem, kind = open_stream { fd = fd, write = false, name = path }
  if not source then
    calls.drop(fd)
    return nil, STATUS[kind] or 500, problem
  end
  local facts = calls.wait(nil, "ml.http.serve", "fstat", fd)
  if not facts or facts.type ~= "file" then return nil, 404, "not a file" end
  local size, modified = facts.size, facts.mtime.sec
  local tag = ('"%x-%x-%x"'):format(modified, facts.mtime.nsec, size)
  local made = fields.new(answer.headers, "ml.http.serve")
  made["last-modified"] = made["last-modified"] or fields.date(modified)
  made.etag = made.etag or tag
  made["accept-ranges"] = "bytes"
  local status, first, last = choose(response.request, made, made.etag, size, modified)
  if not first then
    responses.finish(response, status, "", made)
    return true
  end
  local ending = path:match "%.(%w+)$"
  made["content-type"] = made["content-type"] or TYPES[(ending or ""):lower()]
    or "application/octet-stream"
  made["content-length"] = tostring(last - first + 1)
  if first > 0 then calls.wait(nil, "ml.http.serve", "lseek", fd, first) end
  responses.write_head(response, status or answer.status or 200, made, nil, "ml.http.serve")
  local stream, timeout = response.stream, response.timeout
  if not response.is_head and not copy(source, stream, first, last, timeout) then
    responses.abort(response)
  end
  return true
end

return sender
