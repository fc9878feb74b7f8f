-- Serve a small JSON API over HTTP
-- GET /birds lists, POST /birds adds, GET /birds/NAME shows one.
--
--   moonloop run api.lua 8080
--   curl -d '{"name":"owl"}' http://127.0.0.1:8080/birds
local ml = require "moonloop"
local loop = ml.current()

local json = ml.json
local birds = {}

local function answer(status, value)
  return status, json.encode(value) .. "\n", { ["Content-Type"] = "application/json" }
end

local routes = {}

routes["GET /birds"] = function()
  local names = {}
  for name in pairs(birds) do names[#names + 1] = name end
  table.sort(names)
  return answer(200, names)
end

routes["POST /birds"] = function(request)
  local bird, message = json.decode(request.body)
  if message then return answer(400, { error = message }) end
  if type(bird) ~= "table" or type(bird.name) ~= "string" then
    return answer(400, { error = "a bird has a name" })
  end
  birds[bird.name] = bird
  return answer(201, bird)
end

local function show(name)
  if not birds[name] then return answer(404, { error = "no such bird: " .. name }) end
  return answer(200, birds[name])
end

local server = assert(ml.http.serve { host = "127.0.0.1", port = tonumber(arg[1]) or 0,
  max_body = 65536, function(request)
    local route = routes[request.method .. " " .. request.path]
    if route then return route(request) end
    local name = request.path:match "^/birds/([^/]+)$"
    if name and request.method == "GET" then return show(name) end
    return answer(404, { error = "there is /birds" })
  end })
print("port " .. server.port)
loop:signal({ "int", "term" }, function() loop:stop() end):keep_alive(false)
