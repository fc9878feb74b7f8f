-- Serve an API over HTTPS, to clients that have the token
--
--   moonloop run https_api.lua 8443 server.pem TOKEN
--   curl --cacert server.pem -H 'Authorization: Bearer TOKEN' https://localhost:8443/time
-- The file has the certificate and its key; it is read again on SIGHUP, e.g. after a renewal:
-- connections that are open stay as they are.
local ml = require "moonloop"
local loop = ml.current()

local port, file, token = tonumber(arg[1]) or 0, arg[2], arg[3]
assert(file and token, "usage: moonloop run https_api.lua PORT CERTIFICATE TOKEN")

local function handle(request)
  if request.headers.authorization ~= "Bearer " .. token then
    return 401, "who are you?\n", { ["WWW-Authenticate"] = "Bearer" }
  end
  if request.path ~= "/time" then return 404, "there is /time\n" end
  local answer = { time = os.time() }
  return 200, ml.json.encode(answer) .. "\n", { ["Content-Type"] = "application/json" }
end

local server

local function serve()
  local pem = assert(ml.fs.read(file))
  if server then
    port = server.port
    server:invalidate()
  end
  server = assert(ml.http.serve { host = "*", port = port, tls = { cert = pem },
    max_body = 65536, handle })
end

serve()
print("port " .. server.port)
loop:signal("hup", function()
  serve()
  print "reloaded"
  io.stdout:flush()
end):keep_alive(false)
loop:signal({ "int", "term" }, function() loop:stop() end):keep_alive(false)
