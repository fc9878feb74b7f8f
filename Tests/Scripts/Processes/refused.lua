-- Spawn itself reports what cannot be run; wrong arguments are errors that say how to correct them.
local ml = require "moonloop"

local function refused(options) return select(2, ml.process.spawn(options)) end

local function code(options) return select(3, ml.process.spawn(options)) end

assert(refused { "nope" } == "cannot run 'nope': No such file or directory")
assert(code { "nope" } == "ENOENT")
assert(refused { "ls -l" } == "cannot run 'ls -l': No such file or directory; "
  .. 'there is no shell: write { "ls", "-l" }, or { "sh", "-c", … } for one')
assert(refused { "/nope/nope" } == "cannot run '/nope/nope': No such file or directory")
assert(code { "/etc/passwd" } == "EACCES")
assert(code { "/etc/passwd/x" } == "ENOTDIR")
assert(refused { "true", cwd = "/nope" }
  == "cannot run 'true' in '/nope': No such file or directory")
assert(code { "true", cwd = "/etc/passwd" } == "ENOTDIR")
assert(code { "true", stdout = 1000000 } == "EBADF")
assert(code { "nope", stdin = "pipe", stdout = "pipe", stderr = "pipe" } == "ENOENT")
assert(select(3, ml.process.run { "nope" }) == "ENOENT")

local name = os.tmpname()
io.open(name, "w"):write("echo no"):close()
os.execute("chmod +x " .. name)
assert(refused({ name }):find("Exec format error; a script must begin with #!", 1, true))
os.remove(name)

-- An argument list that the system finds too long.
assert(code { "true", ("x"):rep(1 << 22) } == "E2BIG")

local function mistake(options, text)
  local ok, message = pcall(ml.process.spawn, options)
  assert(not ok and message:gsub(" %(%S+:%d+%)", ""):find(text, 1, true), message)
end
mistake({}, "the program is missing")
mistake({ "" }, "the program is missing")
mistake("ls", "takes a table of options")
mistake({ "ls", {} }, "argument 1 must be a string, got a table")
mistake({ "ls", "a\0b" }, "argument 1 must not contain a zero byte")
mistake({ "ls", stdut = "pipe" }, "unknown option 'stdut'; did you mean 'stdout'?")
mistake({ "ls", stdout = "pip" }, "'stdout' must be \"pipe\", \"inherit\", \"null\"")
mistake({ "ls", stdout = "stdout" }, "'stdout' must be")
mistake({ "ls", env = "A=b" }, "'env' must be a table of variables")
mistake({ "ls", env = { ["A=B"] = "c" } }, "must be a string without '='")
mistake({ "ls", env = { [1] = "c" } }, "must be a string without '=', got 1")
mistake({ "ls", env = { A = {} } }, "'env': the value of 'A' must be a string, got a table")
mistake({ "ls", env = { A = "x\0" } }, "must not contain a zero byte")
mistake({ "ls", cwd = 1 == 1 }, "'cwd' must be a string, got true")
mistake({ "ls", linger = -1 }, "'linger' must be seconds")

local function runMistake(options, text)
  local ok, message = pcall(ml.process.run, options)
  assert(not ok and message:gsub(" %(%S+:%d+%)", ""):find(text, 1, true), message)
end
runMistake({ "cat", stdin = "pipe" }, "'stdin' cannot be \"pipe\"")
runMistake({ "cat", stdin = "null", input = "x" }, "cannot both be given")
runMistake({ "cat", input = {} }, "'input' must be a string")
