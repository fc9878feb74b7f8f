-- W12: a small page by lua-eco's server.
local http = require "eco.http.server"

local page = "hello, world~"
assert(http.listen("127.0.0.1", tonumber(os.getenv "BENCH_PORT"),
  { reuseaddr = true, tcp_nodelay = true, backlog = 1024, http_keepalive = 30 },
  function(connection)
    connection:add_header("content-length", #page)
    connection:send(page)
  end))
