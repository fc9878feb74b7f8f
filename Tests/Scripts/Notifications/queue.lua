-- A notification queue posts soon, when idle, or now (R148), and coalesces (R149).
local ml = require "moonloop"
local loop = ml.current()
local trace = {}
local function expect(text)
  assert(table.concat(trace, " ") == text, table.concat(trace, " "))
  trace = {}
end

local queue = loop:notifications { name = "changes", function(queue, name, sender, info)
  assert(queue.name == "changes")
  trace[#trace + 1] = name .. (sender and sender.name or "") .. (info or "")
  if name == "kept" then queue:invalidate() end
end }
local page = { name = "page" }
loop:after(1, function()
  queue:enqueue("idle", { style = "when_idle", sender = page, info = 1 })
  queue:enqueue("idle", { style = "when_idle", sender = page, info = 2 })
  queue:enqueue "soon"
  assert(queue:enqueue("now", { style = "now" }))
  assert(not queue:enqueue("other", { style = "now", modes = "other" }))
  assert(queue.waiting == 2)
end)
loop:after(2, function() trace[#trace + 1] = "timer" end)
loop:run()
expect "now soon idlepage2 timer"

for info = 1, 3 do queue:enqueue("n", { info = info, coalesce = "none" }) end
queue:enqueue("m", { coalesce = { "name", "sender" }, sender = page })
assert(queue:dequeue("n", { coalesce = "sender", sender = page }) == 1)
loop:run()
expect "n1 n2 n3"
queue:enqueue("m", { sender = page })
assert(queue:dequeue "m" == 0 and queue:dequeue("m", { coalesce = "name" }) == 1)
assert(loop:dump():find "0 notifications wait")
assert(loop:why(queue):find "nothing was enqueued")
local mistakes = { { style = "soon" }, { style = {} }, { coalesce = "info" }, { sander = 1 } }
for _, bad in ipairs(mistakes) do
  assert(not pcall(queue.enqueue, queue, "n", bad))
end

-- What is queued is posted even if the script drops the queue.
queue:enqueue "kept"
queue = nil
collectgarbage() collectgarbage()
loop:run()
expect "kept"

-- As many wait as there may be handles.
local narrow <close> = loop:notifications { function() end }
ml.limit { handles = 50 }
for i = 1, 50 do narrow:enqueue(tostring(i)) end
local _, mistake = pcall(narrow.enqueue, narrow, "51")
assert(mistake:find "the limit of 50 notifications that wait is reached", mistake)
ml.limit { handles = 100000 }
loop:run { timeout = 0 }
assert(narrow.waiting == 0)

-- While a handler waits, the others wait for it (D59).
local slow <close> = loop:notifications { function(_, name)
  trace[#trace + 1] = name
  ml.sleep(1)
  trace[#trace + 1] = "slept"
end }
slow:enqueue "a"
slow:enqueue "b"
slow:enqueue("c", { style = "when_idle" })
assert(slow:enqueue("d", { style = "now" }) and slow.waiting == 3)
assert(slow:enqueue("e", { style = "now" }) and slow.waiting == 4)
loop:after(20, function() end)
loop:run()
expect "d slept a slept b slept e slept c slept"
