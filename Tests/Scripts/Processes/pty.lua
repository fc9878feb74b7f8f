-- A child on a pseudo-terminal: one stream both ways, a size, signals by keys, an end of file.
local ml = require "moonloop"
local loop = ml.current()

local p = assert(ml.process.spawn {
  "sh", "-c", "tty >/dev/null && stty size; read line; echo got $line; stty size", pty = true,
  columns = 100, rows = 30,
})
assert(p.stdin == p.stdout and p.stderr == nil)
assert(p.stdout:read "l" == "30 100\r")
assert(p:resize(50, 10))
p.stdin:write "hello\n"
assert(p.stdout:read "l" == "hello\r")       -- the terminal's echo
assert(p.stdout:read "l" == "got hello\r")
assert(p.stdout:read "l" == "10 50\r")
assert(p.stdout:read "l" == nil)             -- the last program has closed it
assert(p:await().code == 0)
p.stdout:close()
local ok, message, code = p:resize(10, 10)
assert(ok == nil and message == "process:resize: the terminal is closed" and code == "EPIPE")

-- Ctrl-C ends what runs on it; a kill ends the whole session.
local busy = assert(ml.process.spawn { "sh", "-c", "echo on; read line", pty = true })
assert(busy.stdout:read "l" == "on\r")
busy.stdin:write "\3"
assert(busy:await().signal == "int")
local killed <close> = assert(ml.process.spawn { "sleep", "60", pty = true })
assert(killed:terminate():await().signal == "term")

-- A closed terminal hangs up. Linux wakes who reads from it before: that could still end by itself.
local left = assert(ml.process.spawn { "sh", "-c", "echo on; exec sleep 60", pty = true })
assert(left.stdout:read "l" == "on\r")
left.stdout:close()
assert(left:await().signal == "hup")

local function mistake(text, options)
  local ok, message = pcall(ml.process.spawn, options)
  assert(not ok and message:find(text, 1, true), message)
end
mistake("'stdout' cannot be used with 'pty'", { "true", pty = true, stdout = "pipe" })
mistake("'detached' cannot be used with 'pty'", { "true", pty = true, detached = true })
mistake("'rows' is the size of a terminal; set 'pty = true' too", { "true", rows = 10 })
mistake("'columns' must be a whole number from 1 to 1000, got 0",
  { "true", pty = true, columns = 0 })
local plain = assert(ml.process.spawn { "true" })
local ok, message = pcall(plain.resize, plain, 1, 1)
assert(not ok and message:find("the process has no terminal; see 'pty'", 1, true), message)
plain:await()
