-- A limit of instructions is exact, for each coroutine; the count is reported.
local ml = require "moonloop"
local loop = ml.current()

local text = [[
  function work(rounds) for i = 1, rounds do end return true end
  function pieces(rounds)
    for i = 1, 3 do coroutine.wrap(work)(rounds) end
    return true
  end
]]
local guest <close> = ml.guest { text = text, limits = { instructions = 100000, callout = 5 },
  on_error = function() end }
local other <close> = ml.guest { text = text }
loop:task(function()
  assert(other:call("work", 10000) and other:usage().instructions == nil)
  assert(guest:call("work", 1))
  local before = guest:usage().instructions
  assert(guest:call("work", 10000))
  local first = guest:usage().instructions - before
  -- A loop without a body is one instruction a round.
  assert(first > 9000 and first <= 10100, first)
  assert(guest:call("work", 99000))
  local second = guest:usage().instructions - before - first
  assert(second > 98000 and second <= 99100, second)
  assert(not pcall(guest.call, guest, "work", 100001))
  assert(guest:call("pieces", 90000), "each coroutine has its own count")
  guest:stop()
  assert(guest:usage().instructions > 450000)
end):wait { mode = "default" }
