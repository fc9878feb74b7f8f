-- W18: what it costs that values cross between Lua and the program, a call, an item or a record.
local bench = require "harness"

local list, words, text = {}, {}, ("x"):rep(32)
for i = 1, 1000 do list[i] = i end
for i = 1, 100 do words["word" .. i] = i end
local records = {}
for i = 1, 1000 do
  records[i] = { id = i, score = i / 2, active = i % 2 == 0, name = "record " .. i,
    tags = { "tag " .. i % 10, "tag " .. i % 7 } }
end

local results = {
  [0] = function() return 1 end,
  function(a) return a end,
  function(a) return a end,
  function(_, b) return b end,
}

return function(host)
  local counter, call = host.counter, host.call
  local take_list, give_list = host.take_list, host.give_list
  local take_dictionary, give_dictionary = host.take_dictionary, host.give_dictionary
  local echo, take_records = host.echo, host.take_records
  local calls = {
    method = function(n) for _ = 1, n do counter:add(1) end end,
    get = function(n) for _ = 1, n do local _ = counter.value end end,
    set = function(n) for i = 1, n do counter.value = i end end,
    list = function(n) for _ = 1, n // 1000 do take_list(list) end end,
    new_list = function(n) for _ = 1, n // 1000 do give_list() end end,
    dictionary = function(n) for _ = 1, n // 100 do take_dictionary(words) end end,
    new_dictionary = function(n) for _ = 1, n // 100 do give_dictionary() end end,
    text = function(n) for _ = 1, n do echo(text) end end,
    records = function(n) for _ = 1, n // 1000 do take_records(records) end end,
  }
  for arguments = 0, 3 do
    calls["call" .. arguments] = function(n) call(results[arguments], arguments, n) end
  end
  local only = os.getenv "BENCH_CALL"  -- one of them, so often: for counting instructions
  if only then
    bench.probe.count(true)
    calls[only](tonumber(os.getenv "BENCH_TURNS"))
    bench.probe.count(false)
  else
    bench.calls(calls, 1e6)
  end
  os.exit(0)
end
