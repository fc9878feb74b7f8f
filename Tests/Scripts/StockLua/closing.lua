-- `<close>` and `<const>`: the order of closing, errors on the way, and what may be closed.
local log = {}
local function guard(name, action)
  return setmetatable({}, { __close = function(_, err)
    log[#log + 1] = name .. "(" .. tostring(err) .. ")"
    if action then return action() end
  end })
end
local function flush() local text = table.concat(log, " ") log = {} return text end

do local a <close> = guard "a" local b <close> = guard "b" end
assert(flush() == "b(nil) a(nil)")
local function returning() local a <close> = guard "a" return "value", flush() end
assert(returning() == "value" and flush() == "a(nil)")
for i = 1, 3 do
  local a <close> = guard("loop" .. i)
  if i == 2 then break end
end
assert(flush() == "loop1(nil) loop2(nil)")
do
  local i = 0
  ::top::
  do local a <close> = guard "goto" i = i + 1 if i < 3 then goto top end end
end
assert(flush() == "goto(nil) goto(nil) goto(nil)")

-- Errors: each closing sees the error so far, and may replace it.
local function fail(e) return function() error(e, 0) end end
local ok, err = pcall(function()
  local a <close> = guard "a"
  local b <close> = guard("b", fail "from b")
  local c <close> = guard "c"
  error("first", 0)
end)
assert(not ok and err == "from b" and flush() == "c(first) b(first) a(from b)")
ok, err = pcall(function() local a <close> = guard("a", fail "late") end)
assert(not ok and err == "late" and flush() == "a(nil)")
local object = {}
ok, err = pcall(function() local a <close> = guard "a" error(object) end)
assert(err == object and flush() == "a(" .. tostring(object) .. ")")

-- A value that cannot be closed is an error; nil and false are skipped.
ok, err = pcall(function() local a <close> = 42 end)
assert(not ok and err:find("variable 'a' got a non-closable value", 1, true), err)
do local a <close>, b = nil, false end
do local a <close> = false end
assert(load("local a <const> = 1; a = 2") == nil)
assert(load("local a <close> = nil; a = 2") == nil)
assert(select(2, load("local a <other> = 1")):find("unknown attribute 'other'", 1, true))

-- The fourth value of an iterator is closed, however the loop ends.
local function iterate(limit)
  return function(_, i) if i < limit then return i + 1 end end, nil, 0, guard "iterator"
end
for i in iterate(3) do log[#log + 1] = i end
assert(flush() == "1 2 3 iterator(nil)")
for i in iterate(3) do if i == 2 then break end end
assert(flush() == "iterator(nil)")
pcall(function() for _ in iterate(3) do error("x", 0) end end)
assert(flush() == "iterator(x)")

-- Closing may yield, and happens in tail positions, varargs and coroutines alike.
local co = coroutine.wrap(function(...)
  local a <close> = guard("a", function() coroutine.yield "in close" end)
  local n <const> = select("#", ...)
  return n, ...
end)
assert(co(1, 2) == "in close")
assert(select("#", co()) == 3 and flush() == "a(nil)")

-- Files are closed so.
local name = os.tmpname()
local file
do
  local f <close> = assert(io.open(name, "w"))
  f:write "text"
  file = f
end
assert(io.type(file) == "closed file")
for line in io.lines(name) do assert(line == "text") end
os.remove(name)
