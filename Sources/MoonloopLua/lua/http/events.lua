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

-- Takes a line into an event that is under way: lines of data into their list.
-- @return how much longer the data is
local function take(event, data, text)
  local name, value = text:match "^([^:]*):? ?(.*)$"
  if name == "data" then
    data[#data + 1] = value
    return #value + 1
  elseif name == "event" and value ~= "" or name == "id" and not value:find "%z" then
    event[name] = value
  elseif name == "retry" and value:find "^%d+$" then
    event.retry = tonumber(value) / 1000
  end
  return 0
end

local function check_size(size, limit)
  if size > limit then mistake "response:events: an event is too long" end
end

-- A function that gives the lines of a body, each of at most so many bytes.
local function lines_of(read, limit)
  -- What was read last, and where its next line begins; and the parts of a line before that.
  local buffer, place, parts, size = "", 1, {}, 0
  local is_first, has_returned = true, false
  local function rest_of_line(stop)
    local text = buffer:sub(place, stop - 1)
    if size > 0 then
      parts[#parts + 1] = text
      text = table.concat(parts)
      parts, size = {}, 0
    end
    if not is_first then return text end
    is_first = false
    return (text:gsub("^\xef\xbb\xbf", ""))
  end
  return function()
    while true do
      -- A line feed after a carriage return may come later; the line is over without it.
      if has_returned and place <= #buffer then
        has_returned = false
        if buffer:byte(place) == 10 then place = place + 1 end
      end
      local stop = buffer:find("[\r\n]", place)
      if stop then
        local text = rest_of_line(stop)
        place, has_returned = stop + 1, buffer:byte(stop) == 13
        return text
      end
      if place <= #buffer then
        parts[#parts + 1] = buffer:sub(place)
        size = size + #parts[#parts]
        check_size(size, limit)
      end
      local part, problem = read()
      if problem then error(problem, 0) end
      if not part then return nil end
      buffer, place = part, 1
    end
  end
end

--- An iterator over the events of a body: { data, event, id, retry (seconds) }. An event without
--- data is none; one that is longer than the limit raises an error, as a failed read does.
function events.iterator(read, limit)
  local id, retry
  local next_line = lines_of(read, limit)
  return function()
    local event, data, size = {}, {}, 0
    for text in next_line do
      if text ~= "" then
        size = size + take(event, data, text)
        check_size(size, limit)
      else
        -- These count without data too, and are delivered with the next event that has data.
        id, retry = event.id or id, event.retry or retry
        if data[1] then
          event.data, event.id, event.retry, retry = table.concat(data, "\n"), id, retry, nil
          return event
        end
        event, size = {}, 0
      end
    end
  end
end

return events
