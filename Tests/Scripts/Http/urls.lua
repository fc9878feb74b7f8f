-- Parts of addresses: what is no text is refused by the function that was called.
local ml = require "moonloop"
local http <const> = ml.http

local function wrong(expected, fn, ...)
  local done, problem = pcall(fn, ...)
  assert(not done and problem:find(expected, 1, true), problem)
end

wrong("ml.http.escape: the text must be a string, got a table", http.escape, {})
wrong("ml.http.unescape: the text must be a string, got 5", http.unescape, 5)
wrong("ml.http.parse_query: the query must be a string, got a table", http.parse_query, {})
wrong('ml.http.encode_query: the query must be a table, got "x"', http.encode_query, "x")
wrong("ml.http.encode_query: query.a must be a string, a number or a list of them, got a function",
  http.encode_query, { a = print })
wrong("ml.http.encode_query: query.a must be a string, a number or a list of them, got a table",
  http.encode_query, { a = { {} } })
assert(http.encode_query { a = { 1, "x y" }, b = true } == "a=1&a=x%20y&b=true")
assert(http.escape(5) == "5" and http.unescape "a%20b" == "a b")

-- What browsers and servers read differently is no address.
for _, address in ipairs { "http://127.0.0.1\\@example.org/", "http://example.org\\/" } do
  local none, problem, code = http.get(address)
  assert(none == nil and code == "EINVAL" and problem:find "is not a host", problem)
end
