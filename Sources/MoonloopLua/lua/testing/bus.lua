-- The events of a run and their subscribers: busted's `subscribe`, `unsubscribe` and `publish`.
--
-- A channel is a list of names. An event goes to the subscribers of its channel, then to those of
-- the parent channels, until a subscriber does not return `true` as its second value.
local bus = {}

local root = { subscribers = {}, channels = {} }
local last_id = 0

--- The channel of a list of names; makes it if needed.
local function channel_of(names)
  local channel = root
  for _, name in ipairs(names) do
    local inner = channel.channels[name]
    if not inner then
      inner = { subscribers = {}, channels = {}, parent = channel }
      channel.channels[name] = inner
    end
    channel = inner
  end
  return channel
end

--- Adds a function to a channel, at `options.priority` if given, otherwise last.
function bus.subscribe(names, fn, options)
  last_id = last_id + 1
  local subscription = { id = last_id, fn = fn, options = options or {} }
  local list = channel_of(names).subscribers
  local place = options and options.priority or #list + 1
  table.insert(list, math.min(math.max(place, 1), #list + 1), subscription)
  return subscription
end

--- Removes the subscription with this number and returns it.
function bus.unsubscribe(id, names)
  local list = channel_of(names).subscribers
  for index, subscription in ipairs(list) do
    if subscription.id == id then return table.remove(list, index) end
  end
end

--- Calls the subscribers of a channel and returns the first values they returned.
function bus.publish(names, ...)
  local values = {}
  local channel = channel_of(names)
  while channel do
    for _, subscription in ipairs({ table.unpack(channel.subscribers) }) do
      local wanted = subscription.options.predicate
      if not wanted or wanted(...) then
        local value, goes_on = subscription.fn(...)
        if value then values[#values + 1] = value end
        if not goes_on then return values end
      end
    end
    channel = channel.parent
  end
  return values
end

--- Whether there is any subscriber: most runs have none at all.
function bus.has_subscribers(names)
  local channel = root
  local count = #channel.subscribers
  for _, name in ipairs(names) do
    channel = channel.channels[name]
    if not channel then break end
    count = count + #channel.subscribers
  end
  return count > 0
end

return bus
