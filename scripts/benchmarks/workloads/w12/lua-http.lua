-- W12: a small page by lua-http, on cqueues.
local server, headers, bench = require "http.server", require "http.headers", require "harness"

local function reply(_, stream)
  assert(stream:get_headers())
  local head = headers.new()
  head:append(":status", "200")
  head:append("content-length", tostring(#bench.page))
  assert(stream:write_headers(head, false))
  assert(stream:write_chunk(bench.page, true))
end

assert(server.listen {
  host = "127.0.0.1", port = bench.port, tls = false, max_concurrent = math.huge,
  onstream = reply, onerror = function() end,  -- a client that has gone
}):loop()
