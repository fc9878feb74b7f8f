-- Publish and subscribe between processes
-- A hub with a named port: programs of the same user find it by its name, and send it a port of
-- their own to get what is published. Subscribers that have gone are forgotten.
--
--   moonloop run publish.lua hub &
--   moonloop run publish.lua subscribe weather &
--   moonloop run publish.lua publish weather "rain at noon"
local ml = require "moonloop"
local loop = ml.current()

local name = os.getenv "HUB" or "org.example.hub"
local word, topic, text = arg[1], arg[2], arg[3]

local function hub()
  local topics = {}
  local port = assert(ml.port.listen(name))
  port:on("message", function(message, reply)
    local ports = topics[message.topic] or {}
    topics[message.topic] = ports
    if message.subscribe then
      ports[message.subscribe] = true
      return reply(true)
    end
    local count = 0
    for subscriber in pairs(ports) do
      if subscriber:send(message.text) then count = count + 1 else ports[subscriber] = nil end
    end
    reply(count)
  end)
  loop:signal({ "int", "term" }, function() port:invalidate() loop:stop() end):keep_alive(false)
  print "ready"
end

local function subscribe()
  local connection = assert(ml.port.connect(name))
  local inbox = loop:port { name = topic, function(port, message)
    print(topic .. ": " .. message)
    io.flush()
    if message == "bye" then
      port:invalidate()
      connection:invalidate()
    end
  end }
  assert(connection:request({ topic = topic, subscribe = inbox }, { timeout = 5 }))
  print "subscribed"
end

local function publish()
  local connection <close> = assert(ml.port.connect(name))
  local count = assert(connection:request({ topic = topic, text = text }, { timeout = 5 }))
  print("subscribers: " .. count)
end

local doing = { hub = hub, subscribe = subscribe, publish = publish }
loop:task(assert(doing[word], "say hub, subscribe or publish"))
