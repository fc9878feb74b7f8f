-- Server-sent events: unwritable fields are mistakes, and reading follows the standard.
local ml = require "moonloop"
local http = ml.http
local loop = ml.current()

local MISTAKES = {
  { { dta = "x" }, "unknown option 'dta'; did you mean 'data'?" },
  { { data = {} }, "'data' must be text, got a table" },
  { { data = "x", retry = 0 / 0 }, "'retry' must be from 0" },
  { { data = "x", retry = -1 }, "'retry' must be from 0" },
  { { data = "x", id = "a\nb" }, "'id' must be one line" },
}

-- A body in parts, and the events in it: event, id and data of each.
local READINGS = {
  { { "data: a\r", "data: b\r\r" , "data: c\n\n" }, "|| a\nb,|| c" },
  { { "\xef\xbb", "\xbfdata: a\n\n" }, "|| a" },
  { { "event\ndata: a\n\n" }, "|| a" },
  { { "id: 1\ndata: a\n\nid: x\0y\ndata: b\r\n\r", "\n" }, "|1| a,|1| b" },
  { { "event: e\ndata: a\n\ndata: b\n" }, "e|| a" },
  { { "id: 9\n\ndata: b\n\n" }, "|9| b" },
  { { "id: 9\nretry: 1500\n\nevent: e\n\ndata: b\n\ndata: c\n\n" }, "|9|1.5 b,|9| c" },
  { { "data: a\r\rdata: b\r\r" }, "|| a,|| b" },
}

local reading
local server = assert(http.serve { host = "127.0.0.1", port = 0, function(request, response)
  if request.path == "/mistakes" then
    for _, case in ipairs(MISTAKES) do
      local ok, message = pcall(response.event, response, case[1])
      local said = message:gsub(" %(Http/events.lua:%d+%)", "")
      assert(not ok and said:find("response:event: " .. case[2], 1, true) == 1, message)
    end
    return 204
  end
  response:start(200, { ["content-type"] = "text/event-stream" })
  for _, part in ipairs(reading) do
    response:send(part)
    ml.sleep(0.01)
  end
end })
local base = "http://127.0.0.1:" .. server.port

loop:task(function()
  local closing <close> = server
  assert(http.get(base .. "/mistakes").status == 204)
  for _, case in ipairs(READINGS) do
    reading = case[1]
    local found = {}
    local response <close> = assert(http.get(base, { stream = true }))
    for event in response:events() do
      found[#found + 1] = ("%s|%s|%s %s"):format(event.event or "", event.id or "",
        event.retry or "", event.data)
    end
    assert(table.concat(found, ",") == case[2], table.concat(found, ","))
  end
end)
loop:run()
