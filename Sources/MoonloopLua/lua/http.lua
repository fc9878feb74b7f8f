-- HTTP/1.1 on streams: a client and a server.
local client = require "moonloop.http.client"
local server = require "moonloop.http.server"
local url = require "moonloop.http.url"

local http = {
  client = client.new,
  request = client.request,
  serve = server.serve,
  parse_url = url.parse,
  parse_query = url.parse_query,
  encode_query = url.encode_query,
  escape = url.escape,
  unescape = url.unescape,
}

-- http.get(url, options), http.post(url, body, options) and so on: one request, one connection.
for _, method in ipairs { "get", "head", "delete", "options" } do
  local what = "ml.http." .. method
  http[method] = function(address, options)
    return client.send(what, client.options(what, method:upper(), address, nil, options))
  end
end
for _, method in ipairs { "post", "put", "patch" } do
  local what = "ml.http." .. method
  http[method] = function(address, body, options)
    return client.send(what, client.options(what, method:upper(), address, body, options))
  end
end

return http
