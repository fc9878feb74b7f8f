-- Coroutines inside whatever runs this: generators, nesting, errors, status, wrap and close.
local function range(n)
  return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end)
end
local sum = 0
for i in range(100) do sum = sum + i end
assert(sum == 5050)

-- Each inside the last, 100 deep, with values passing through all of them.
local function nest(n, ...)
  if n == 0 then return coroutine.yield(...) end
  local co = coroutine.create(nest)
  local results = table.pack(coroutine.resume(co, n - 1, ...))
  while coroutine.status(co) == "suspended" do
    results = table.pack(coroutine.resume(co, coroutine.yield(table.unpack(results, 2, results.n))))
  end
  assert(results[1], results[2])
  return table.unpack(results, 2, results.n)
end
local outer = coroutine.wrap(nest)
assert(select("#", outer(100, "a", nil, nil)) == 3)
assert(outer("back") == "back")

-- Yields across pcall, metamethods and iterators, but not sorting.
local co = coroutine.wrap(function()
  local t = setmetatable({}, {
    __index = function(_, k) return coroutine.yield("index " .. k) end,
    __add = function(_, b) return coroutine.yield("add " .. b) end,
    __eq = function() return coroutine.yield("eq") end,
    __lt = function() return coroutine.yield("lt") end,
    __concat = function(_, b) return coroutine.yield("concat " .. b) end,
    __len = function() return coroutine.yield("len") end,
    __call = function(_, a) return coroutine.yield("call " .. a) end,
  })
  local u = setmetatable({}, getmetatable(t))
  local results = { t.x, t + 1, t == u, t < u, t .. "s", #t, t(5) }
  for v in function() return coroutine.yield("iterate") end do results[#results + 1] = v break end
  results[#results + 1] = select(2, pcall(coroutine.yield, "pcall"))
  local ok, err = pcall(table.sort, { 2, 1 }, coroutine.yield)
  assert(not ok and err:find("attempt to yield across a C-call boundary", 1, true), err)
  return results
end)
local asked, answer = {}, nil
while true do
  local question = co(answer)
  if type(question) == "table" then
    assert(table.concat(asked, ", ")
      == "index x, add 1, eq, lt, concat s, len, call 5, iterate, pcall", table.concat(asked, ", "))
    assert(question[1] == 1 and question[2] == 2 and question[3] == true and question[9] == 9)
    break
  end
  asked[#asked + 1] = question
  answer = #asked
end

-- Status, and what is allowed in each.
local states = {}
local inner
local middle = coroutine.create(function()
  inner = coroutine.create(function() states[1] = coroutine.status(inner) coroutine.yield() end)
  states[2] = coroutine.status(inner)
  coroutine.resume(inner)
  states[3] = coroutine.status(inner)
  coroutine.resume(inner)
  states[4] = coroutine.status(inner)
end)
coroutine.resume(middle)
assert(table.concat(states, " ") == "running suspended suspended dead")
local ok, err = coroutine.resume(middle)
assert(not ok and err == "cannot resume dead coroutine")
ok, err = coroutine.resume(coroutine.running())
assert(not ok and err == "cannot resume non-suspended coroutine")

-- What runs this looks like the main coroutine; one that it makes does not.
local main, is_main = coroutine.running()
assert(is_main and type(main) == "thread" and main == coroutine.running())
assert(not coroutine.isyieldable() and not coroutine.isyieldable(main))
ok, err = pcall(coroutine.yield, 1)
assert(not ok and err == "attempt to yield from outside a coroutine", err)
ok, err = pcall(function() return coroutine.yield() end)
assert(not ok and err == "attempt to yield from outside a coroutine", err)
local made
made = coroutine.create(function()
  local running, runs_main = coroutine.running()
  assert(running == made and not runs_main and coroutine.isyieldable())
  assert(coroutine.status(main) == "normal" and not coroutine.isyieldable(main))
  return coroutine.resume(main)
end)
ok, is_main, err = coroutine.resume(made)
assert(ok and not is_main and err == "cannot resume non-suspended coroutine", err)

ok, err = pcall(coroutine.create, 1)
assert(not ok and err:find("(function expected", 1, true), err)
ok, err = pcall(coroutine.resume, 1)
assert(not ok and err:find("(thread expected", 1, true), err)

-- Closing from inside and outside.
local log = {}
local function guard(name)
  local function close(_, e) log[#log + 1] = name .. ":" .. tostring(e) end
  return setmetatable({}, { __close = close })
end
local closing = coroutine.create(function()
  local a <close>, b = guard "a", 1
  local c <close> = guard "c"
  coroutine.yield(b)
end)
coroutine.resume(closing)
assert(coroutine.close(closing) and table.concat(log, " ") == "c:nil a:nil")
log = {}
local failing = coroutine.wrap(function() local a <close> = guard "a" error("boom", 0) end)
ok, err = pcall(failing)
assert(not ok and err == "boom" and log[1] == "a:boom")

-- The traceback of another coroutine.
local waiting = coroutine.create(function() local function deep() coroutine.yield() end deep() end)
coroutine.resume(waiting)
local trace = debug.traceback(waiting, "message")
assert(trace:find("^message\nstack traceback:\n\t%[C%]: in function 'coroutine.yield'"), trace)
assert(trace:find("in local 'deep'", 1, true) or trace:find("in upvalue 'deep'", 1, true), trace)
