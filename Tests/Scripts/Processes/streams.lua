-- The standard streams of a child: pipes, null, merged, given away.
local ml = require "moonloop"

local cat = assert(ml.process.spawn { "cat", stdin = "pipe", stdout = "pipe" })
assert(cat.stderr == nil)
assert(cat.stdin == cat.stdin, "the same handle each time")
cat.stdin:write("one\n", "two\n")
assert(cat.stdout:read "l" == "one")
cat.stdin:close()
assert(cat.stdout:read "a" == "two\n")
assert(cat:await().code == 0)

local both = assert(ml.process.spawn {
  "sh", "-c", "echo out; echo err >&2", stdout = "pipe", stderr = "stdout",
})
assert(both.stdout:read "a" == "out\nerr\n" and both.stderr == nil)
both:await()

local split = assert(ml.process.spawn {
  "sh", "-c", "echo out; echo err >&2", stdout = "pipe", stderr = "pipe",
})
assert(split.stderr:read "a" == "err\n" and split.stdout:read "a" == "out\n")
split:await()

-- Empty input, and output that goes nowhere.
local null = assert(ml.process.spawn { "sh", "-c", "cat; echo gone; cat >&2", stdin = "null",
  stdout = "null", stderr = "null" })
assert(null:await().code == 0)

-- A stream is given away: it is closed here, and blocks there.
local source = assert(ml.process.spawn { "printf", "b\\na\\nb\\n", stdout = "pipe" })
local sort = assert(ml.process.spawn { "sort", stdin = source.stdout, stdout = "pipe" })
assert(not source.stdout:is_valid())
local count = assert(ml.process.spawn { "uniq", "-c", stdin = sort.stdout, stdout = "pipe" })
assert(count.stdout:read "a" == "      1 a\n      2 b\n")
for _, p in ipairs { source, sort, count } do assert(p:await().code == 0) end

-- What was read ahead would be lost.
local ahead = assert(ml.process.spawn { "printf", "1\\n2\\n", stdout = "pipe" })
assert(ahead.stdout:read "l" == "1")
local ok, message = pcall(ml.process.spawn, { "cat", stdin = ahead.stdout })
assert(not ok and message:find("has bytes in its buffer", 1, true), message)
ahead:await()

-- A full pipe: the child waits, and nothing is lost.
local full = assert(ml.process.spawn { "sh", "-c", "head -c 300000 /dev/zero", stdout = "pipe" })
ml.process.run { "sleep", "0.05" }
assert(full:is_valid())
assert(#full.stdout:read "a" == 300000)
assert(full:await().code == 0)

-- The reader is gone: the child gets SIGPIPE, which it does not ignore as we do.
local broken = assert(ml.process.spawn { "yes", stdout = "pipe" })
broken.stdout:read "l"
broken.stdout:close()
assert(broken:await().signal == "pipe")
