-- Server-sent events as they come: in any pieces, with any ends of lines, long and many.
local ml = require "moonloop"
local http = ml.http
local loop = ml.current()

local function read(text, size)
  local server <close> = assert(http.serve { host = "127.0.0.1", port = 0, function()
    local at = 1
    return 200, function()
      if at > #text then return nil end
      local part = text:sub(at, at + size - 1)
      at = at + size
      return part
    end
  end })
  local url = "http://127.0.0.1:" .. server.port .. "/"
  local response <close> = assert(http.get(url, { stream = true }))
  local seen = {}
  local ok, problem = pcall(function()
    for event in response:events() do
      seen[#seen + 1] = ("%s %s %s"):format(event.data, event.event, event.id)
    end
  end)
  return table.concat(seen, "; "), not ok and problem or nil
end

local TEXT = "\xef\xbb\xbfdata: a\r\ndata:b\r\rid: 7\n: comment\ndata\n\nevent: kind\rdata: c\n\n"
  .. "id: 8\n\ndata: d\r\n\r\ndata: not whole"

loop:task(function()
  for _, size in ipairs { 1, 2, 3, 7, 1000 } do
    local seen, problem = read(TEXT, size)
    assert(seen == "a\nb nil nil;  nil 7; c kind 7; d nil 8" and not problem, seen)
  end
  -- Many lines and long ones cost what they hold.
  local lines = ("data: x\n"):rep(200000)
  assert(read(lines .. "\n", 65536) == ("x\n"):rep(199999) .. "x nil nil")
  local long = ("y"):rep(4 << 20)
  assert(read("data: " .. long .. "\n\n", 65536) == long .. " nil nil")
  local _, problem = read("data: " .. long:rep(5), 1 << 20)
  assert(problem:find "response:events: an event is too long", problem)
  _, problem = read(("data: " .. long .. "\n"):rep(5), 1 << 20)
  assert(problem:find "response:events: an event is too long", problem)
end)
loop:run()
