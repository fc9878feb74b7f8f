-- Files as bodies: whole, in ranges, and not again if the client already has them.
local ml = require "moonloop"
local http = ml.http
local loop = ml.current()

local path = os.tmpname() .. ".txt"
local TEXT = "0123456789"

local answer
local server = assert(http.serve { host = "127.0.0.1", port = 0, on_error = function() end,
  function() return answer end })
local base = "http://127.0.0.1:" .. server.port .. "/"

local function get(headers, method)
  return assert(http.request { url = base, method = method, headers = headers, timeout = 20 })
end

-- The requested range, the status, the body, and the Content-Range field.
local ranges = {
  { "bytes=0-3", 206, "0123", "bytes 0-3/10" },
  { "bytes=4-", 206, "456789", "bytes 4-9/10" },
  { "bytes=-3", 206, "789", "bytes 7-9/10" },
  { "bytes=-30", 206, TEXT, "bytes 0-9/10" },
  { "bytes=8-100", 206, "89", "bytes 8-9/10" },
  { "bytes=9-9", 206, "9", "bytes 9-9/10" },
  { "bytes=10-", 416, "", "bytes */10" },
  { "bytes=-0", 416, "", "bytes */10" },
  -- Invalid or multiple ranges are answered with the whole file.
  { "bytes=3-1", 200, TEXT },
  { "bytes=0-1,3-4", 200, TEXT },
  { "bytes=-", 200, TEXT },
  { "bytes=a-b", 200, TEXT },
  { "lines=0-1", 200, TEXT },
  { "bytes=0-99999999999999999999", 200, TEXT },
}

local function conditions()
  local first = get()
  assert(first.status == 200 and first.body == TEXT)
  local tag, modified = first.headers.etag, first.headers["last-modified"]
  assert(first.headers["content-type"] == "text/plain; charset=utf-8")
  assert(first.headers["accept-ranges"] == "bytes" and first.headers["content-length"] == "10")
  local head = get(nil, "HEAD")
  assert(head.status == 200 and head.body == "" and head.headers["content-length"] == "10")
  local cases = {
    { { ["if-none-match"] = tag }, 304 }, { { ["if-none-match"] = '"x", W/' .. tag }, 304 },
    { { ["if-none-match"] = "*" }, 304 }, { { ["if-none-match"] = '"x"' }, 200 },
    { { ["if-modified-since"] = modified }, 304 },
    { { ["if-modified-since"] = "Sun, 06 Nov 1994 08:49:37 GMT" }, 200 },
    { { ["if-modified-since"] = "yesterday" }, 200 },
    { { ["if-modified-since"] = modified, ["if-none-match"] = '"x"' }, 200 },
    { { range = "bytes=0-0", ["if-range"] = tag }, 206 },
    { { range = "bytes=0-0", ["if-range"] = modified }, 206 },
    { { range = "bytes=0-0", ["if-range"] = '"x"' }, 200 },
  }
  for number, case in ipairs(cases) do
    local response = get(case[1])
    assert(response.status == case[2], ("%d: %d"):format(number, response.status))
    assert(response.status ~= 304 or response.body == "" and response.headers.etag == tag)
  end
end

loop:task(function()
  local closing <close> = server
  assert(ml.fs.write(path, TEXT))
  answer = { file = path }
  conditions()
  for _, case in ipairs(ranges) do
    local response = get { range = case[1] }
    assert(response.status == case[2] and response.body == case[3]
      and response.headers["content-range"] == case[4], case[1] .. ": " .. response.status)
  end
  assert(get({ range = "bytes=0-3" }, "POST").status == 200)
  answer = { file = path, headers = { ["content-type"] = "x/y" }, status = 203 }
  assert(get().headers["content-type"] == "x/y" and get().status == 203)

  -- Far more than fits into the socket; an empty file; something that is not a file.
  local large = TEXT:rep(1 << 19)
  assert(ml.fs.write(path, large))
  answer = { file = path }
  assert(get().body == large)
  assert(get({ range = "bytes=-5000000" }).body == large:sub(-5000000))
  assert(ml.fs.write(path, ""))
  assert(get().body == "" and get({ range = "bytes=0-" }).status == 416)
  for name, status in pairs { [path .. ".none"] = 404, ["/dev"] = 404, ["/dev/null"] = 404,
    ["/dev/null/x"] = 404, ["/\0"] = 500 } do
    answer = { file = name }
    local response = get()
    assert(response.status == status, name .. ": " .. response.status)
  end
  assert(os.remove(path))
end)
loop:run()
os.remove((path:gsub("%.txt$", "")))
