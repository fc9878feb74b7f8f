---@meta _
-- HTTP

---@class moonloop
local ml = {}

---HTTP/1.1 and HTTPS over Moonloop's streams: a small client and server.
---Loaded when first used. See [http.md](../http.md).
---@class moonloop.Http
ml.http = {}

---@class moonloop.HttpFetchOptions
---@field headers? table<string, string|number|(string|number)[]> Additional headers; names in any case. A list is sent as several lines.
---@field query? table<string, string|number> Added to the address, escaped.
---@field timeout? moonloop.Seconds For the whole request; default: none.
---@field max_body? moonloop.Bytes Largest body; default 16 MiB, and none with `stream`.
---@field max_head? moonloop.Bytes Largest head to accept; default 64 KiB.
---@field keep_alive? boolean Accepted without effect: clients keep their connections, and `t:get` of tests closes its own.
---@field redirects? integer How many redirects to follow; default 5. One more is the response.
---@field stream? boolean Return as soon as the head is there: the body is read in parts, with `response:read`.
---@field tls? boolean|moonloop.ClientTLS For https; default true.
---@field upgrade? string The protocol to change to, such as "websocket"; after a 101 `response.stream` is the connection.

---@class moonloop.HttpRequestOptions: moonloop.HttpFetchOptions
---@field url string Such as "https://host:port/path", "http://host/path", or "http+unix://%2Frun%2Fapp.sock/path" for a Unix socket.
---@field method? string Default "GET".
---@field body? string|number|(fun(): string|number?) The body to send; a function returns it in parts, and nil at its end.

---@class moonloop.HttpServeOptions: moonloop.ListenOptions
---@field [1] fun(request: moonloop.HttpRequest, response: moonloop.HttpResponder): ... Called for each request; may wait.
---@field handler? fun(request: moonloop.HttpRequest, response: moonloop.HttpResponder): ... The same by name.
---@field max_body? moonloop.Bytes Larger bodies are answered with 413; default 16 MiB.
---@field max_head? moonloop.Bytes Larger heads are answered with 431; default 64 KiB.
---@field timeout? moonloop.Seconds For a head after its first line, for each read and write of a body, and for a trailer; default 30.
---@field body_timeout? moonloop.Seconds Time limit for reading a whole body; default 300.
---@field idle_timeout? moonloop.Seconds How long to wait for a request's first line; default 60.
---@field stream_bodies? boolean Bodies are not read before the handler is called: it reads them with `request:read`.
---@field half_close? boolean Answer clients that have ended their side; else they count as gone.

---Makes a request on a connection of its own, with all options in one table.
---Returns `nil, message, code`: "ETIMEDOUT", "ECONNREFUSED", "EMSGSIZE" if the body is larger than
---'max_body', "EBADMSG" if the answer is not HTTP, "EINVAL" for a wrong address, "ETLS_HOST" and
---others for https, ... Raises an error that names the wrong option.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
---  return request.method .. " " .. request.body
---end })
---loop:task(function()
---  local response = assert(ml.http.request {
---    url = "http://127.0.0.1:" .. server.port .. "/", method = "PUT", body = "text",
---  })
---  print(response.status, response.body)   --> 200 PUT text
---  server:invalidate()
---end)
---```
---@async
---@param options moonloop.HttpRequestOptions What to request.
---@return moonloop.HttpResponse? response The response.
---@return string? message
---@return string? code
function ml.http.request(options) end

---Makes a GET request on a connection of its own.
---Fails as `ml.http.request` does.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
---  return request.method
---end })
---loop:task(function()
---  print(ml.http.get("http://127.0.0.1:" .. server.port .. "/").body)   --> GET
---  server:invalidate()
---end)
---```
---@async
---@param url string The address, as for `ml.http.request`.
---@param options? moonloop.HttpFetchOptions Headers, query and limits.
---@return moonloop.HttpResponse? response The response.
---@return string? message
---@return string? code
function ml.http.get(url, options) end

---Makes a HEAD request on a connection of its own.
---Fails as `ml.http.request` does.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
---  return request.method
---end })
---loop:task(function()
---  print(ml.http.head("http://127.0.0.1:" .. server.port .. "/").status)   --> 200
---  server:invalidate()
---end)
---```
---@async
---@param url string The address, as for `ml.http.request`.
---@param options? moonloop.HttpFetchOptions Headers, query and limits.
---@return moonloop.HttpResponse? response The response.
---@return string? message
---@return string? code
function ml.http.head(url, options) end

---Makes a DELETE request on a connection of its own.
---Fails as `ml.http.request` does.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
---  return request.method
---end })
---loop:task(function()
---  print(ml.http.delete("http://127.0.0.1:" .. server.port .. "/").body)   --> DELETE
---  server:invalidate()
---end)
---```
---@async
---@param url string The address, as for `ml.http.request`.
---@param options? moonloop.HttpFetchOptions Headers, query and limits.
---@return moonloop.HttpResponse? response The response.
---@return string? message
---@return string? code
function ml.http.delete(url, options) end

---Makes an OPTIONS request on a connection of its own.
---Fails as `ml.http.request` does.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
---  return request.method
---end })
---loop:task(function()
---  print(ml.http.options("http://127.0.0.1:" .. server.port .. "/").body)   --> OPTIONS
---  server:invalidate()
---end)
---```
---@async
---@param url string The address, as for `ml.http.request`.
---@param options? moonloop.HttpFetchOptions Headers, query and limits.
---@return moonloop.HttpResponse? response The response.
---@return string? message
---@return string? code
function ml.http.options(url, options) end

---Makes a POST request on a connection of its own.
---Fails as `ml.http.request` does.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
---  return request.method .. " " .. request.body
---end })
---loop:task(function()
---  print(ml.http.post("http://127.0.0.1:" .. server.port .. "/", "text").body)   --> POST text
---  server:invalidate()
---end)
---```
---@async
---@param url string The address, as for `ml.http.request`.
---@param body? string|number|(fun(): string|number?) The body to send; a function returns it in parts, and nil at its end.
---@param options? moonloop.HttpFetchOptions Headers, query and limits.
---@return moonloop.HttpResponse? response The response.
---@return string? message
---@return string? code
function ml.http.post(url, body, options) end

---Makes a PUT request on a connection of its own.
---Fails as `ml.http.request` does.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
---  return request.method .. " " .. request.body
---end })
---loop:task(function()
---  print(ml.http.put("http://127.0.0.1:" .. server.port .. "/", "text").body)   --> PUT text
---  server:invalidate()
---end)
---```
---@async
---@param url string The address, as for `ml.http.request`.
---@param body? string|number|(fun(): string|number?) The body to send; a function returns it in parts, and nil at its end.
---@param options? moonloop.HttpFetchOptions Headers, query and limits.
---@return moonloop.HttpResponse? response The response.
---@return string? message
---@return string? code
function ml.http.put(url, body, options) end

---Makes a PATCH request on a connection of its own.
---Fails as `ml.http.request` does.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
---  return request.method .. " " .. request.body
---end })
---loop:task(function()
---  print(ml.http.patch("http://127.0.0.1:" .. server.port .. "/", "text").body)   --> PATCH text
---  server:invalidate()
---end)
---```
---@async
---@param url string The address, as for `ml.http.request`.
---@param body? string|number|(fun(): string|number?) The body to send; a function returns it in parts, and nil at its end.
---@param options? moonloop.HttpFetchOptions Headers, query and limits.
---@return moonloop.HttpResponse? response The response.
---@return string? message
---@return string? code
function ml.http.patch(url, body, options) end

---Makes a client that keeps its connections for further requests.
---```lua
---local client <close> = ml.http.client { timeout = 5 }
---print(type(client.get))   --> function
---```
---@param options? moonloop.HttpFetchOptions Defaults for all its requests.
---@return moonloop.HttpClient client The client.
function ml.http.client(options) end

---Serves HTTP: listens, and calls the handler for each request.
---The handler returns a body; or a status, a body and headers, in this order; or
---`{ status =, headers =, body = }`; or nothing, which is status 204. It may instead write in parts
---with its second argument. A body is a string, a function that returns its parts, or, after a
---status or in a table, a number; `file = path` sends a file. An error in the handler, or `nil,
---message` from it, is answered with 500 and reported; malformed requests are answered with 400. If
---the client leaves, the handler is cancelled where it waits. Returns `nil, message, code` as
---`ml.net.listen` does. Raises an error that names the wrong option.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
---  return 404, "no page " .. request.path
---end })
---loop:task(function()
---  print(ml.http.get("http://127.0.0.1:" .. server.port .. "/x").body)   --> no page /x
---  server:invalidate()
---end)
---```
---@param options moonloop.HttpServeOptions Those of `ml.net.listen`, with the handler as the first element.
---@return moonloop.Server? server The server, already listening.
---@return string? message
---@return string? code
function ml.http.serve(options) end

---Splits an address into what `ml.net.connect` takes, and the target of the request.
---Returns nil and a message if it is not an address.
---```lua
---local address = ml.http.parse_url "http://localhost:8080/a?b=c"
---print(address.host, address.port, address.target)   --> localhost 8080 /a?b=c
---```
---@param url string The address.
---@return table? address `host` and `port`, or `path`; `target` and `authority`.
---@return string? message
function ml.http.parse_url(url) end

---Splits the query of an address into its fields.
---```lua
---print(ml.http.parse_query("a=1&b=x+y").b)   --> x y
---```
---@param text? string What follows the question mark.
---@return table<string, string> fields The values by name, unescaped.
function ml.http.parse_query(text) end

---Writes fields as the query of an address.
---```lua
---print(ml.http.encode_query { a = "x y" })   --> a=x%20y
---```
---@param fields table<string, string|number> The values by name.
---@return string text Sorted by name, and escaped.
function ml.http.encode_query(fields) end

---Escapes text for an address.
---```lua
---print(ml.http.escape "a b/c")   --> a%20b%2Fc
---```
---@param text string Any text.
---@return string escaped The text with `%XX` for special bytes.
function ml.http.escape(text) end

---Reverses `escape`.
---```lua
---print(ml.http.unescape "a%20b")   --> a b
---```
---@param text string Escaped text.
---@return string plain The text without escapes.
function ml.http.unescape(text) end

---A client that keeps its connections, made by `ml.http.client`.
---If the server has closed a kept connection before anything of an answer came, a new one is made
---and the request sent again, if its method allows that: GET, HEAD, OPTIONS, TRACE, PUT, DELETE.
---@class moonloop.HttpClient
local http_client = {}

---Makes a request on a kept or new connection; takes and returns what `ml.http.request` does.
---Raises an error when the client is closed.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function() return "hi" end })
---loop:task(function()
---  local client <close> = ml.http.client()
---  print(client:request({ url = "http://127.0.0.1:" .. server.port .. "/" }).body)   --> hi
---  server:invalidate()
---end)
---```
---@async
---@param options moonloop.HttpRequestOptions What to request.
---@return moonloop.HttpResponse? response The response.
---@return string? message
---@return string? code
function http_client:request(options) end

---Makes a GET request on a kept or new connection.
---Fails as `ml.http.request` does.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
---  return request.method
---end })
---loop:task(function()
---  local client <close> = ml.http.client()
---  print(client:get("http://127.0.0.1:" .. server.port .. "/").body)   --> GET
---  server:invalidate()
---end)
---```
---@async
---@param url string The address, as for `ml.http.request`.
---@param options? moonloop.HttpFetchOptions Headers, query and limits.
---@return moonloop.HttpResponse? response The response.
---@return string? message
---@return string? code
function http_client:get(url, options) end

---Makes a HEAD request on a kept or new connection.
---Fails as `ml.http.request` does.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
---  return request.method
---end })
---loop:task(function()
---  local client <close> = ml.http.client()
---  print(client:head("http://127.0.0.1:" .. server.port .. "/").status)   --> 200
---  server:invalidate()
---end)
---```
---@async
---@param url string The address, as for `ml.http.request`.
---@param options? moonloop.HttpFetchOptions Headers, query and limits.
---@return moonloop.HttpResponse? response The response.
---@return string? message
---@return string? code
function http_client:head(url, options) end

---Makes a DELETE request on a kept or new connection.
---Fails as `ml.http.request` does.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
---  return request.method
---end })
---loop:task(function()
---  local client <close> = ml.http.client()
---  print(client:delete("http://127.0.0.1:" .. server.port .. "/").body)   --> DELETE
---  server:invalidate()
---end)
---```
---@async
---@param url string The address, as for `ml.http.request`.
---@param options? moonloop.HttpFetchOptions Headers, query and limits.
---@return moonloop.HttpResponse? response The response.
---@return string? message
---@return string? code
function http_client:delete(url, options) end

---Makes an OPTIONS request on a kept or new connection.
---Fails as `ml.http.request` does.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
---  return request.method
---end })
---loop:task(function()
---  local client <close> = ml.http.client()
---  print(client:options("http://127.0.0.1:" .. server.port .. "/").body)   --> OPTIONS
---  server:invalidate()
---end)
---```
---@async
---@param url string The address, as for `ml.http.request`.
---@param options? moonloop.HttpFetchOptions Headers, query and limits.
---@return moonloop.HttpResponse? response The response.
---@return string? message
---@return string? code
function http_client:options(url, options) end

---Makes a POST request on a kept or new connection.
---Fails as `ml.http.request` does.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
---  return request.method .. " " .. request.body
---end })
---loop:task(function()
---  local client <close> = ml.http.client()
---  print(client:post("http://127.0.0.1:" .. server.port .. "/", "text").body)   --> POST text
---  server:invalidate()
---end)
---```
---@async
---@param url string The address, as for `ml.http.request`.
---@param body? string|number|(fun(): string|number?) The body to send; a function returns it in parts, and nil at its end.
---@param options? moonloop.HttpFetchOptions Headers, query and limits.
---@return moonloop.HttpResponse? response The response.
---@return string? message
---@return string? code
function http_client:post(url, body, options) end

---Makes a PUT request on a kept or new connection.
---Fails as `ml.http.request` does.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
---  return request.method .. " " .. request.body
---end })
---loop:task(function()
---  local client <close> = ml.http.client()
---  print(client:put("http://127.0.0.1:" .. server.port .. "/", "text").body)   --> PUT text
---  server:invalidate()
---end)
---```
---@async
---@param url string The address, as for `ml.http.request`.
---@param body? string|number|(fun(): string|number?) The body to send; a function returns it in parts, and nil at its end.
---@param options? moonloop.HttpFetchOptions Headers, query and limits.
---@return moonloop.HttpResponse? response The response.
---@return string? message
---@return string? code
function http_client:put(url, body, options) end

---Makes a PATCH request on a kept or new connection.
---Fails as `ml.http.request` does.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
---  return request.method .. " " .. request.body
---end })
---loop:task(function()
---  local client <close> = ml.http.client()
---  print(client:patch("http://127.0.0.1:" .. server.port .. "/", "text").body)   --> PATCH text
---  server:invalidate()
---end)
---```
---@async
---@param url string The address, as for `ml.http.request`.
---@param body? string|number|(fun(): string|number?) The body to send; a function returns it in parts, and nil at its end.
---@param options? moonloop.HttpFetchOptions Headers, query and limits.
---@return moonloop.HttpResponse? response The response.
---@return string? message
---@return string? code
function http_client:patch(url, body, options) end

---Closes the idle connections; those in use are closed after their response.
---A `<close>` variable does the same at the end of its block.
---```lua
---local client = ml.http.client()
---client:close()
---print((pcall(client.get, client, "http://localhost/")))   --> false
---```
function http_client:close() end
