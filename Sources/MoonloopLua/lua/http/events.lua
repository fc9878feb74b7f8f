-- Server-sent events: text in blocks, each ended by an empty line.
local check = require "moonloop.text.options"
local host = require "moonloop.text.host"
local mistake = host.mistake

local events = {}

local FIELDS = { data = "any", event = "any", id = "any", retry = "number" }
local MOST_SECONDS = 1e9

local function line(name, value)
  if type(value) ~= "string" and type(value) ~= "number" then
    mistake(("response:event: '%s' must be text, got %s"):format(name, host.given(value)))
  end
  value = tostring(value)
  if name ~= "data" and value:find "[\r\n%z]" then
    mistake(("response:event: '%s' must be one line"):format(name))
  end
  return ("%s: %s\n"):format(name, value)
end

--- The text of an event: { data, event, id, retry (seconds) }, or its data alone.
function events.encode(event)
  if type(event) ~= "table" then event = { data = event } end
  check("response:event", event, FIELDS)
  if event.retry and not (event.retry >= 0 and event.retry <= MOST_SECONDS) then
    mistake(("response:event: 'retry' must be from 0 to %g seconds, got %s"):format(MOST_SECONDS,
      event.retry))
  end
  local lines = {}
  for _, name in ipairs { "event", "id" } do
    if event[name] ~= nil then lines[#lines + 1] = line(name, event[name]) end
  end
  if event.retry then lines[#lines + 1] = line("retry", math.floor(event.retry * 1000)) end
  if event.data ~= nil then
    local data = type(event.data) == "string" and event.data:gsub("\r\n?", "\n") .. "\n"
    for one in (data or ""):gmatch "(.-)\n" do lines[#lines + 1] = line("data", one) end
    if not data then lines[#lines + 1] = line("data", event.data) end
  end
  return table.concat(lines) .. "\n"
end

-- Takes a line into an event that is under way.
local function take(event, text)
  local name, value = text:match "^([^:]*):? ?(.*)$"
  if name == "data" then
    event.data = event.data and event.data .. "\n" .. value or value
  elseif name == "event" and value ~= "" or name == "id" and not value:find "%z" then
    event[name] = value
  elseif name == "retry" and value:find "^%d+$" then
    event.retry = tonumber(value) / 1000
  end
end

--- An iterator over the events of a body: { data, event, id, retry (seconds) }. An event without
--- data is none; one that is longer than the limit raises an error, as a failed read does.
function events.iterator(read, limit)
  local buffer, place, is_first, has_returned = "", 1, true, false
  local function next_line()
    while true do
      if is_first and #buffer > 2 then
        is_first = false
        if buffer:sub(1, 3) == "\xef\xbb\xbf" then place = 4 end
      end
      -- A line feed after a carriage return may come later; the line is over without it.
      if has_returned and place <= #buffer then
        has_returned = false
        if buffer:byte(place) == 10 then place = place + 1 end
      end
      local text, ending, after = buffer:match("^([^\r\n]*)([\r\n])()", place)
      if text then
        place, has_returned = after, ending == "\r"
        return text
      end
      local part, problem = read()
      if problem then error(problem, 0) end
      if not part then return nil end
      buffer, place = buffer:sub(place) .. part, 1
      if #buffer > limit then mistake "response:events: an event is too long" end
    end
  end
  local id, retry
  return function()
    local event = {}
    for text in next_line do
      if text ~= "" then
        take(event, text)
      else
        -- These count without data too, and are delivered with the next event that has data.
        id, retry = event.id or id, event.retry or retry
        if event.data then
          event.id, event.retry, retry = id, retry, nil
          return event
        end
        event = {}
      end
      if event.data and #event.data > limit then
        mistake "response:events: an event is too long"
      end
    end
  end
end

return events
