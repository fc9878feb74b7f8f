-- A whole child in one call: input and output together, limits, deadlines.
local ml = require "moonloop"
local loop = ml.current()

local r = assert(ml.process.run { "sh", "-c", "cat; echo err >&2; exit 3", input = "in" })
assert(r.stdout == "in" and r.stderr == "err\n" and r.code == 3 and r.signal == nil)
assert(ml.process.run({ "cat" }).stdout == "", "its input is empty")
assert(ml.process.run({ "sh", "-c", "kill -USR1 $$" }).signal == "usr1")

-- More than fits into pipes, in all three directions at once.
local text = ("0123456789abcde\n"):rep(1 << 16)
local big = assert(ml.process.run { "tee", "/dev/stderr", input = text })
assert(big.stdout == text and big.stderr == text)

-- Input that it does not read is dropped.
assert(ml.process.run({ "head", "-c", "3", input = text }).stdout == "012")
assert(ml.process.run({ "true", input = text }).code == 0)

local merged = assert(ml.process.run { "sh", "-c", "echo a; echo b >&2", stderr = "stdout" })
assert(merged.stdout == "a\nb\n" and merged.stderr == nil)

-- A run that fails gives what it has as a fourth result.
local function fails(code, text, options)
  local ok, message, found, result = ml.process.run(options)
  assert(ok == nil and found == code and message:find(text, 1, true), message)
  return result
end
r = fails("FAILED", "ml.process.run: 'sh' ended with code 3: no luck",
  { "sh", "-c", "echo half; echo no luck >&2; exit 3", check = true })
assert(r.code == 3 and r.stdout == "half\n" and r.stderr == "no luck\n")
r = fails("FAILED", "ml.process.run: 'sh' was killed by SIGHUP",
  { "sh", "-c", "kill -HUP $$", check = true, stderr = "null" })
assert(r.signal == "hup" and r.stdout == "" and r.stderr == nil)
assert(fails("ENOENT", "cannot run", { "/no such program" }) == nil)
assert(ml.process.run({ "true", check = true }).code == 0)
r = fails("EMSGSIZE",
  "ml.process.run: 'yes' wrote more than 100001 bytes to its standard output, and was killed",
  { "yes", limit = 100001 })
assert(r.signal == "kill" and r.stdout == ("y\n"):rep(50000) .. "y", "as much as is allowed")
fails("EMSGSIZE", "standard error", { "sh", "-c", "echo long >&2", limit = 3 })
assert(ml.process.run({ "printf", "123", limit = 3 }).stdout == "123")
fails("ETIMEDOUT", "ml.process.run: 'sleep' had not ended after 0.01 s",
  { "sleep", "100", timeout = 0.01 })
r = fails("ETIMEDOUT", "had not ended",
  { "sh", "-c", "trap 'echo last words; exit 9' TERM; echo first; while :; do sleep 0.01; done",
    timeout = 0.2 })
assert(r.code == 9 and r.stdout == "first\nlast words\n")
fails("ETIMEDOUT", "had not ended", { "sh", "-c", "trap '' TERM; while :; do sleep 0.01; done",
  timeout = 0.05, grace = 0.05, group = true })

-- Several at once.
local jobs = {}
for i = 1, 8 do
  jobs[i] = loop:task(function() return ml.process.run({ "echo", i }).stdout end)
end
for i = 1, 8 do assert(jobs[i]:await() == i .. "\n") end

-- It waits, and says so where that is impossible.
local ok, message = pcall(table.sort, { 1, 2 }, function() ml.process.run { "true" } end)
assert(not ok and message:find("inside the comparator of table.sort", 1, true), message)
