-- Server-sent events: text in blocks, each ended by an empty line.
local events = {}

local function line(name, value)
  value = tostring(value)
  if name ~= "data" and value:find "[\r\n%z]" then
    error(("http: '%s' of an event must be one line"):format(name), 0)
  end
  return ("%s: %s\n"):format(name, value)
end

--- The text of an event: { data, event, id, retry (seconds) }, or its data alone.
function events.encode(event)
  if type(event) ~= "table" then event = { data = event } end
  local lines = {}
  for _, name in ipairs { "event", "id" } do
    if event[name] ~= nil then lines[#lines + 1] = line(name, event[name]) end
  end
  if event.retry then lines[#lines + 1] = line("retry", math.floor(event.retry * 1000)) end
  if event.data ~= nil then
    local data = tostring(event.data):gsub("\r\n?", "\n")
    for one in (data .. "\n"):gmatch "(.-)\n" do lines[#lines + 1] = line("data", one) end
  end
  return table.concat(lines) .. "\n"
end

-- Takes a line into an event that is under way.
local function take(event, text)
  local name, value = text:match "^([^:]*):? ?(.*)$"
  if name == "data" then
    event.data = event.data and event.data .. "\n" .. value or value
  elseif name == "event" or name == "id" then
    event[name] = value
  elseif name == "retry" and value:find "^%d+$" then
    event.retry = tonumber(value) / 1000
  end
end

--- An iterator over the events of a body: { data, event, id, retry (seconds) }. An event without
--- data is none; one that is longer than the limit raises an error, as a failed read does.
function events.iterator(read, limit)
  local buffer, place = "", 1
  local function next_line()
    while true do
      local text, after = buffer:match("^([^\r\n]*)\r?\n()", place)
      if text then
        place = after
        return text
      end
      local part, problem = read()
      if problem then error(problem, 0) end
      if not part then return nil end
      buffer, place = buffer:sub(place) .. part, 1
      if #buffer > limit then error("http: an event is too long", 0) end
    end
  end
  local id
  return function()
    local event = {}
    for text in next_line do
      if text ~= "" then
        take(event, text)
      elseif event.data then
        id = event.id or id
        event.id = id
        return event
      else
        event = {}
      end
      if event.data and #event.data > limit then error("http: an event is too long", 0) end
    end
  end
end

return events
