-- Open files: positions, locks, ends; the task waits and the loop goes on.
local ml = require "moonloop"
local fs, loop = ml.fs, ml.current()

loop:task(function()
  local one <close> = assert(fs.temporary_file())
  local other <close> = assert(fs.open(one.path, "r+"))
  assert(select(3, fs.open(one.path, "wx")) == "EEXIST")
  assert(one:write "hello world":truncate(5))
  assert(other:read(100) == "hello" and other:read(100) == "")
  assert(other:write("J", { at = 0 }):sync { data_only = true })
  assert(one:read(2, { at = 0 }) == "Je" and one:stat().size == 5)

  -- The second one waits for the lock while others run, and gets it when the first lets go.
  local trace = {}
  assert(one:lock())
  assert(select(3, other:lock { timeout = 2 }) == "ETIMEDOUT")
  loop:after(5, function() trace[#trace + 1] = "timer" end)
  loop:task(function()
    ml.sleep(10)
    trace[#trace + 1] = "unlock"
    one:unlock()
  end)
  assert(other:lock())
  trace[#trace + 1] = "locked"
  assert(table.concat(trace, " ") == "timer unlock locked", table.concat(trace, " "))

  assert(fs.remove(one.path))
  assert(one:close() and select(3, one:close()) == "EBADF")
  assert(tostring(one):find "%(closed%)")
  assert(select(3, one:read(1)) == "EBADF")
end):wait()
