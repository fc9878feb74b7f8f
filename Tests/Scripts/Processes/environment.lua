-- Environment, folder and program are those that the script sets.
local ml = require "moonloop"

local function out(options) return assert(ml.process.run(options)).stdout end

assert(out { "env", env = { A = "b", N = 1, PATH = "/usr/bin:/bin" } }:gsub("PATH=[^\n]*\n", "")
  :find "^[AN]=[b1]\n[AN]=[b1]\n$")
assert(out { "sh", "-c", "echo $MOONLOOP_TEST", env_add = { MOONLOOP_TEST = "x y" } } == "x y\n")
assert(out { "sh", "-c", "echo ${HOME-none}", env_add = { HOME = false } } == "none\n")
assert(out { "pwd", cwd = "/" } == "/\n")
assert(out { "./sh", "-c", "echo here", cwd = "/bin" } == "here\n")
-- The child's PATH counts.
assert(select(3, ml.process.run { "ls", env = { PATH = "/nope" } }) == "ENOENT")
-- Arguments are passed unchanged: there is no shell.
assert(out { "printf", "%s|", "a b", "$HOME", "*", "", "\"'", 7, 1.5 } == "a b|$HOME|*||\"'|7|1.5|")
assert(out { "printf", "%s", "\xff\x01" } == "\xff\x01")

-- Only the three streams are inherited: no file of Lua's, no descriptor of the loop's.
local file <close> = io.open("/etc/passwd")
assert(out { "ls", "/proc/self/fd" } == "0\n1\n2\n3\n", "3 is the folder that it lists")
-- Signals are as from a shell: none blocked, none ignored, whatever this process does.
local signal <close> = ml.signal { { "hup", "usr2" }, print }
local state = out { "sed", "-nE", "/^Sig(Blk|Ign|Cgt)/p", "/proc/self/status" }
assert(state == ("SigBlk:\t%s\nSigIgn:\t%s\nSigCgt:\t%s\n"):gsub("%%s", ("0"):rep(16)), state)
