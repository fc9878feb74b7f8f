-- Names are one where their bytes are, as Lua's strings are: not where they are the same text. What
-- is no text is refused.
local ml = require "moonloop"
local loop = ml.current()

for _, pair in ipairs {
  { "\u{E9}", "e\u{301}" }, { "\u{C5}", "\u{212B}" }, { "\u{AC00}", "\u{1100}\u{1161}" },
  { "a\u{301}\u{323}", "a\u{323}\u{301}" }, { "a", "a\0" }, { "a\0b", "a\0c" },
} do
  local one, other = pair[1], pair[2]
  local trace = {}
  local function note(name) return function() trace[#trace + 1] = name end end

  local first <close> = loop:timer { first = 0, modes = one, note "one" }
  local second <close> = loop:timer { first = 0, modes = other, note "other" }
  assert(loop:contains(first, one) and not loop:contains(first, other))
  assert(not loop:contains(second, one) and loop:contains(second, other))
  loop:run { mode = other, timeout = 1 }
  loop:run { mode = one, timeout = 1 }
  assert(table.concat(trace, " ") == "other one", table.concat(trace, " "))
  local both <close> = loop:timer { first = 9, modes = { one, other }, print }
  local modes = both:modes()
  assert(#modes == 2 and modes[1] ~= modes[2], #modes)
  for _, mode in ipairs(modes) do assert(mode == one or mode == other) end
  both:invalidate()

  trace = {}
  local queue <close> = loop:notifications { function(_, name) trace[#trace + 1] = name end }
  queue:enqueue(one)
  queue:enqueue(other)
  queue:enqueue(one)
  assert(queue.waiting == 2, queue.waiting)
  loop:run { timeout = 0 }
  assert(#trace == 2 and trace[1] == other and trace[2] == one)
  queue:enqueue(one)
  assert(queue:dequeue(other) == 0 and queue:dequeue(one) == 1)
end

local function refused(words, f, ...)
  local done, message = pcall(f, ...)
  assert(not done and message:find(words, 1, true), message)
end
local bad, flaw = "n\xff", " must be a UTF-8 string, got one with the byte 0xff at 2"
local queue <close> = loop:notifications { print }
refused("'modes'" .. flaw, loop.timer, loop, { first = 1, modes = bad, print })
refused("a name in 'modes'" .. flaw, loop.timer, loop, { first = 1, modes = { bad }, print })
refused("'mode'" .. flaw, loop.run, loop, { mode = bad })
refused("the mode" .. flaw, loop.run, loop, bad)
refused("the mode" .. flaw, loop.contains, loop, queue, bad)
refused("the name" .. flaw, queue.enqueue, queue, bad)
refused("'name'" .. flaw, loop.timer, loop, { first = 1, name = bad, print })
refused("'name' must not contain a zero byte", loop.timer, loop, { first = 1, name = "a\0", print })
