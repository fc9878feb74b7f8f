-- A webhook: counts posts to /hook/NAME and answers with JSON. Try
--   curl -d '{"ok":true}' http://127.0.0.1:8080/hook/deploy
-- The port is the first argument (8080); 0 takes a free one. GET /stop ends it.
local ml = require "moonloop"
local json = ml.json
local loop = ml.current()

local counts = {}

local function answer(status, value)
  return status, json.encode(value) .. "\n", { ["content-type"] = "application/json" }
end

local server = assert(ml.http.serve {
  host = "127.0.0.1", port = tonumber(arg[1]) or 8080, max_body = 100000,
  function(request)
    local name = request.path:match "^/hook/([%w-]+)$"
    if name and request.method == "POST" then
      local value, problem = json.decode(request.body)
      if problem then return answer(400, { error = problem }) end
      counts[name] = (counts[name] or 0) + 1
      print(("%s #%d: %s"):format(name, counts[name], json.encode(value)))
      return answer(200, { name = name, count = counts[name] })
    elseif request.path == "/stop" then
      loop:after(0, function() loop:stop() end)
      return answer(200, { stopped = true })
    end
    return answer(404, { error = "there is POST /hook/NAME" })
  end,
})

print("listening on port " .. server.port)
