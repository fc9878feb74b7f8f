-- A wait in a coroutine that the script made itself suspends the task that resumed it, not the
-- loop: schedulers of libraries run beside ours. To the script, such a coroutine runs meanwhile.
local ml = require "moonloop"
local socket = require "moonloop.compat.socket"
local loop = ml.current()

local function same(given, expected) assert(given == expected, tostring(given)) end

local server = assert(socket.bind("127.0.0.1", 0))
local _, port = server:getsockname()
local ticks = 0
local ticking <close> = loop:every(0.1, function() ticks = ticks + 1 end)

-- Answers each line, 0.25 s later.
local serving = loop:task(function()
  local peer = assert(server:accept())
  for line in function() return peer:receive() end do
    socket.sleep(0.25)
    peer:send(line .. "\n")
  end
  peer:close()
end)

local client = assert(socket.connect("127.0.0.1", port))
local function ask(text)
  assert(client:send(text .. "\n"))
  return assert(client:receive())
end

-- A generator, one in another, and what is yielded between two waits.
local inner = coroutine.wrap(function(first)
  local second = coroutine.yield(ask(first), "yielded")
  return ask(second), ask "c"
end)
local outer = coroutine.create(function()
  local answer, word = inner "a"
  coroutine.yield(answer, word)
  return inner "b"
end)
same(table.concat({ select(2, coroutine.resume(outer)) }, " "), "a yielded")
same(ticks, 2)
same(coroutine.status(outer), "suspended")
same(table.concat({ select(2, coroutine.resume(outer)) }, " "), "b c")
same(ticks, 7)
same(coroutine.status(outer), "dead")

-- While it waits it runs, as far as others can see.
local waits = coroutine.create(function() return ask "d" end)
loop:after(0.1, function()
  same(coroutine.status(waits), "normal")
  local is_ok, why = coroutine.resume(waits)
  same(is_ok == false and why, "cannot resume non-suspended coroutine")
  same(select(2, pcall(coroutine.close, waits)), "cannot close a normal coroutine")
end)
same(select(2, coroutine.resume(waits)), "d")

-- Errors are those of Lua's own functions, also those that end a wait.
local function fails(text, fn, ...)
  local is_ok, why = pcall(fn, ...)
  assert(not is_ok and why:find(text, 1, true), why)
end
fails("#1 to 'resume' (thread expected, got number)", function() coroutine.resume(1) end)
fails("#1 to 'wrap' (function expected, got number)", function() coroutine.wrap(1) end)
local broken = coroutine.wrap(function()
  ask "e"
  error "broken"
end)
fails("broken", broken)
fails("cannot resume dead coroutine", broken)

local seen
local job = loop:task(function()
  return coroutine.wrap(function()
    local is_ok, why = pcall(ask, "f")
    seen = why
    error(why, 0)
  end)()
end)
loop:after(0.1, function() job:cancel "enough" end)
fails("enough", job.await, job)
same(seen, "enough")

client:close()
serving:await()
server:close()
