---@meta _
-- HTTP: requests and responses

---A response, as the client returns it.
---@class moonloop.HttpResponse
---@field status integer Such as 200; a status like 404 is not a failure.
---@field reason string The server's words for the status.
---@field headers table<string, string|string[]> By name, in any case; "set-cookie" is a list.
---@field body string? The body, decoded if it was chunked; nil if it is read in parts.
---@field url string The address that was requested, after redirects.
---@field version string "1.1" or "1.0".
---@field reusable boolean Whether the connection could be kept.
---@field stream moonloop.Stream? The connection, after an upgrade; it is the caller's.
local http_response = {}

---Returns the next part of a body that is read in parts.
---Returns nil alone at the end; `nil, message, code` if the body is malformed, too large, or cut
---short.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0,
---  function() return "text" end })
---loop:task(function()
---  local url = "http://127.0.0.1:" .. server.port .. "/"
---  local response <close> = assert(ml.http.get(url, { stream = true }))
---  print(response:read(2), response:read())   --> te xt
---  server:invalidate()
---end)
---```
---@async
---@param most? integer The maximum number of bytes; default 64 KiB.
---@return string? part At least one byte.
---@return string? message
---@return string? code
function http_response:read(most) end

---Drops the rest of a body that is read in parts.
---A `<close>` variable does the same. Has no effect at the end, and on bodies that were read whole.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0,
---  function() return "text" end })
---loop:task(function()
---  local url = "http://127.0.0.1:" .. server.port .. "/"
---  local response = assert(ml.http.get(url, { stream = true }))
---  response:close()
---  print(response:read())   --> nil
---  server:invalidate()
---end)
---```
function http_response:close() end

---Decodes the body as JSON.
---Returns what `ml.json.decode` does, which also has options. Raises an error if the body is read
---in parts.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0,
---  function() return ml.json.encode { name = "Ada" } end })
---loop:task(function()
---  local response = assert(ml.http.get("http://127.0.0.1:" .. server.port .. "/"))
---  print(response:json().name)   --> Ada
---  server:invalidate()
---end)
---```
---@return any value The value; nil also for null.
---@return string? message
---@return string? code
function http_response:json() end

---Iterates over the server-sent events of a body that is read in parts.
---Raises an error if the body is malformed or cut short.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(_, response)
---  response:event "hello"
---end })
---loop:task(function()
---  local url = "http://127.0.0.1:" .. server.port .. "/"
---  local response <close> = assert(ml.http.get(url, { stream = true }))
---  for event in response:events() do print(event.data) end   --> hello
---  server:invalidate()
---end)
---```
---@async
---@return fun(): moonloop.HttpEvent? next Returns an event; nil at the end.
function http_response:events() end

---A server-sent event.
---@class moonloop.HttpEvent
---@field data? string|number Its text, of any number of lines.
---@field event? string Its kind.
---@field id? string|number Its name, which later events keep.
---@field retry? moonloop.Seconds How long to wait before connecting again.

---A request, as the handler of `ml.http.serve` gets it.
---@class moonloop.HttpRequest
---@field method string Such as "GET".
---@field target string The path and query as they were sent.
---@field path string The path, unescaped.
---@field query table<string, string> The fields of the query.
---@field query_text string The query as it was sent.
---@field headers table<string, string|string[]> By name, in any case; "set-cookie" is a list.
---@field body string? The body, decoded if it was chunked; nil with 'stream_bodies'.
---@field failure string? Why the body could not be read: a code.
---@field version string "1.1" or "1.0".
---@field peer moonloop.Peer The client.
---@field stream moonloop.Stream The connection.
local http_request = {}

---Returns the next part of the body, for a server with 'stream_bodies'.
---Returns nil alone at the end; `nil, message, code` if the body is malformed, too large, or cut
---short: if the handler then sends no answer, the server does. The first call answers a client that
---has asked with `Expect: 100-continue`.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, stream_bodies = true,
---  function(request)
---    local count = 0
---    for part in function() return request:read() end do count = count + #part end
---    return 200, count
---  end })
---loop:task(function()
---  print(ml.http.post("http://127.0.0.1:" .. server.port .. "/", "text").body)   --> 4
---  server:invalidate()
---end)
---```
---@async
---@param most? integer The maximum number of bytes; default 64 KiB.
---@return string? part At least one byte.
---@return string? message
---@return string? code
function http_request:read(most) end

---Writes a response in parts; the second argument of the handler of `ml.http.serve`.
---@class moonloop.HttpResponder
local responder = {}

---Sends the status and the headers; the body follows with `send`.
---Raises an error if the response has already been started.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(_, response)
---  response:start(201, { ["content-type"] = "text/plain" })
---  response:send "made"
---end })
---loop:task(function()
---  print(ml.http.get("http://127.0.0.1:" .. server.port .. "/").status)   --> 201
---  server:invalidate()
---end)
---```
---@async
---@param status integer Such as 200.
---@param headers? table<string, string|number|(string|number)[]> Additional headers.
function responder:start(status, headers) end

---Sends a part of the body; starts the response with status 200 if `start` was not called.
---Raises an error when the handler has returned, which ends the answer.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(_, response)
---  response:send "a"
---  response:send "b"
---end })
---loop:task(function()
---  print(ml.http.get("http://127.0.0.1:" .. server.port .. "/").body)   --> ab
---  server:invalidate()
---end)
---```
---@async
---@param ... string Parts of the body.
---@return true? sent True once it was written or queued.
---@return string? message
---@return string? code
function responder:send(...) end

---Sends a server-sent event; starts the response as a stream of events if it is not started.
---Raises an error for a kind or an id of more than one line.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(_, response)
---  response:event { data = "hello", event = "greeting" }
---end })
---loop:task(function()
---  local response = ml.http.get("http://127.0.0.1:" .. server.port .. "/")
---  print((response.body:gsub("\n", "|")))   --> event: greeting|data: hello||
---  server:invalidate()
---end)
---```
---@async
---@param event moonloop.HttpEvent|string|number The event, or its data alone.
---@return true? sent True once it was written or queued.
---@return string? message
---@return string? code
function responder:event(event) end

---Answers with 101, and ends HTTP on this connection.
---The stream is the handler's until it returns; its timeouts are off. A client that has not asked
---for the protocol is answered with 426 ("EPROTO"). Raises an error if the response has been
---started, or a body of the request was not read.
---```lua
---local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(_, response)
---  response:upgrade("greeting"):write "hello"
---end })
---loop:task(function()
---  local url = "http://127.0.0.1:" .. server.port .. "/"
---  local response = assert(ml.http.get(url, { upgrade = "greeting" }))
---  print(response.stream:read "a")   --> hello
---  server:invalidate()
---end)
---```
---@async
---@param protocol string The protocol, such as "websocket".
---@param headers? table<string, string|number> Additional headers.
---@return moonloop.Stream? stream The connection.
---@return string? message
---@return string? code
function responder:upgrade(protocol, headers) end
