-- Signals that cannot be handled, with the reason, and names that do not exist.
local ml = require "moonloop"
local loop = ml.current()

local function mistake(text, ...)
  local ok, message = pcall(loop.signal, loop, ...)
  assert(not ok and message:gsub(" %(%S+:%d+%)", ""):find(text, 1, true), message)
end
local function nothing() end
mistake("\"kill\" cannot be handled: no process can catch it", "kill", nothing)
mistake("handle \"term\"", "SIGKILL", nothing)
mistake("\"stop\" cannot be handled", 19, nothing)
mistake("\"segv\" cannot be handled: it reports a fault in the program itself", "segv", nothing)
mistake("\"32\" cannot be handled: the C library reserves it", 32, nothing)
mistake("\"pipe\" cannot be handled: a write to a closed pipe gives nil, message", "pipe", nothing)
mistake("\"urg\" cannot be handled: it stops call-outs that run too long", "urg", nothing)
mistake("unknown signal \"trem\"; did you mean \"term\"?", "trem", nothing)
mistake("unknown signal \"foo\"; use one of hup, int, quit, usr1, ", "foo", nothing)
mistake("unknown signal \"pipp\"; use one of", "pipp", nothing)
mistake("unknown signal \"rtmin+99\"", "rtmin+99", nothing)
mistake("there is no signal 0", 0, nothing)
mistake("there is no signal 65", 65, nothing)
mistake("the signal must be a name such as \"term\", or a number, got true", true, nothing)
mistake("the handler must be a function, got no value", "term")
mistake("needs the name of a signal", {}, nothing)
mistake("the handler, the second element of the table, must be a function", { "term" })
mistake("unknown option 'mode'; did you mean 'modes'?", { "term", nothing, mode = "x" })
mistake("unknown element [3]; only 2 elements may be unnamed", { "term", nothing, 1 })
local ok, message = pcall(ml.signal, { "term", nothing, modes = "x" })
assert(not ok and message:find("'modes' is for loop:signal", 1, true), message)

local signal <close> = loop:signal({ "usr1", 12, "SIGUSR2", "usr1" }, nothing)
assert(table.concat(signal.signals, " ") == "usr1 usr2")
local row = "signal +usr1,usr2 +default +%S+:%d+ +0 +on usr1,usr2"
assert(loop:dump():find(row), loop:dump())
ml.sleep(0)  -- the loop runs
assert(loop:why(signal):find("no signal of usr1,usr2 has come", 1, true))
