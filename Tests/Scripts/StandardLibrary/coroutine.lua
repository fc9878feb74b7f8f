-- Switching between coroutines: the same results and messages as in stock Lua 5.4.

local function same(want, ...)
  local got = table.pack(...)
  assert(#want == got.n, "results: " .. got.n)
  for i = 1, got.n do
    assert(want[i] == got[i], tostring(want[i]) .. " is not " .. tostring(got[i]))
  end
end

local function closing(f)
  return setmetatable({}, { __close = f })
end

-- Values pass both ways.
local co = coroutine.create(function(a, b)
  local c = coroutine.yield(a + b)
  local d, e = coroutine.yield(c * 2)
  return d, e, "end"
end)
same({ true, 3 }, coroutine.resume(co, 1, 2))
same({ true, 20 }, coroutine.resume(co, 10))
same({ true, "x", "y", "end" }, coroutine.resume(co, "x", "y"))
same({ false, "cannot resume dead coroutine" }, coroutine.resume(co))
same({ false, "cannot resume non-suspended coroutine" }, coroutine.resume(coroutine.running()))

-- Errors keep their value; wrap adds the place to a string and closes pending variables.
co = coroutine.create(function() error({ code = 7 }) end)
local ok, err = coroutine.resume(co)
assert(not ok and err.code == 7 and coroutine.status(co) == "dead")
local closed = 0
local f = coroutine.wrap(function()
  local _ <close> = closing(function(_, e) closed = closed + 1; assert(e:find("boom")) end)
  error("boom", 0)
end)
ok, err = pcall(function() f() end)
assert(not ok and err:find("^.+:%d+: boom$") and closed == 1, err)
ok, err = pcall(function() f() end)
assert(not ok and err:find(":%d+: cannot resume dead coroutine$"), err)

-- Yields pass through pcall and xpcall.
f = coroutine.wrap(function()
  local ok1, a = pcall(function() return coroutine.yield(1) + 1 end)
  local function mark(m) return m .. "!" end
  local ok2, b = xpcall(function() error(coroutine.yield(a), 0) end, mark)
  local ok3, c, d = xpcall(function(...) return coroutine.yield(...) end, print, b)
  return ok1, ok2, ok3, c, d
end)
same({ 1 }, f())
same({ 6 }, f(5))
same({ "late!" }, f("late"))
same({ true, false, true, "c", "d" }, f("c", "d"))

-- close.
co = coroutine.create(function()
  local _ <close> = closing(function() closed = 5 end)
  coroutine.yield()
end)
coroutine.resume(co)
same({ true }, coroutine.close(co))
assert(closed == 5 and coroutine.status(co) == "dead")
same({ true }, coroutine.close(co))
co = coroutine.create(function()
  local _ <close> = closing(function() error("late", 0) end)
  coroutine.yield()
end)
coroutine.resume(co)
same({ false, "late" }, coroutine.close(co))
same({ true }, coroutine.close(coroutine.create(print)))
co = coroutine.create(function() error("first", 0) end)
coroutine.resume(co)
same({ false, "first" }, coroutine.close(co))
co = coroutine.wrap(function()
  local outer = coroutine.running()
  return coroutine.wrap(function() return pcall(coroutine.close, outer) end)()
end)
same({ false, "cannot close a normal coroutine" }, co())
f = coroutine.wrap(function() return pcall(coroutine.close, coroutine.running()) end)
same({ false, "cannot close a running coroutine" }, f())

-- A message handler sees the stack of the error, and arguments are passed on.
local function where() error("here") end
ok, err = xpcall(where, debug.traceback)
assert(err:find("in function 'error'", 1, true) and err:find("in upvalue 'where'", 1, true) or
  err:find("in function", 1, true), err)
ok, err = xpcall(where, function() return debug.getinfo(2, "n").name end)
assert(err == "error", err)
same({ true, 1, nil, 3 }, xpcall(function(...) return ... end, print, 1, nil, 3))
