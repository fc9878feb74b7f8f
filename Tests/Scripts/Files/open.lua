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
  for name, message in pairs {
    read = "file:read: the position is an option: file:read(count, { at = 5 }) (",
    write = "file:write: the position is an option: file:write(text, { at = 5 }) (",
  } do
    local problem = select(2, pcall(function() one[name](one, "x", 5) end))
    assert(problem:find(message, 1, true), problem)
  end

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

  assert(one:close() and select(3, one:close()) == "EBADF")
  assert(tostring(one):find "%(closed%)")
  assert(select(3, one:read(1)) == "EBADF")

  -- No limit is too large.
  assert(fs.write(one.path, "text") and fs.read(one.path, { limit = math.huge }) == "text")
  assert(select(3, fs.read(one.path, { limit = 3.5 })) == "EFBIG")
  assert(other:read(1 << 40, { at = 0 }) == "text")
  assert(fs.remove(one.path))

  -- Mistakes are raised at the caller's line; "b" has no effect, as with io.open.
  for mode, is_there in pairs { rb = true, ["r+b"] = true, ab = true, b = false, rbb = false } do
    local ok, file = pcall(fs.open, "/dev/null", mode)
    assert(ok == is_there, mode)
    if ok then file:close() end
  end
  for what, call in pairs {
    ["ml.fs.read: 'timeout' must be at least 0, got -1"] = function()
      fs.read("/dev/null", { timeout = -1 })
    end,
    ["ml.fs.read: 'limit' must be at least 0, got -1"] = function()
      fs.read("/dev/null", { limit = -1 })
    end,
    ["ml.fs.mkdir: 'permissions' must be an integer, got 1000000000.0"] = function()
      fs.mkdir("/dev/null", { permissions = 1e9 })
    end,
    ["file:truncate: takes the number of bytes, got 1.5"] = function() other:truncate(1.5) end,
    ["file:truncate: takes the number of bytes, got -1"] = function() other:truncate(-1) end,
    ["file:read: 'at' must be an integer, got 0.5"] = function() other:read(1, { at = 0.5 }) end,
    ["file: unknown field 'line'"] = function() local _ = other.line end,
    ["file:lines: must be called on an open file"] = function() other.lines {} end,
    ["fs.temporary_file: 'prefix' must not have a '/', got 'a/b'; 'folder' says where"] = function()
      fs.temporary_file { prefix = "a/b" }
    end,
  } do
    local ok, problem = pcall(call)
    assert(not ok and problem:find "%(Files/open.lua:%d+%)", problem)
    assert(problem:find(what, 1, true), problem)
  end
end):wait()

-- Lines: over the ends of what is read at once, empty ones, and a last one that does not end.
loop:task(function()
  local file <close> = assert(fs.temporary_file())
  fs.remove(file.path)
  local long, lines = ("x"):rep(70000), {}
  file:write "one"
  assert(file:lines()() == nil)  -- it stands at its end
  local again <close> = assert(fs.temporary_file())
  again:write("one\n\n" .. long .. "\r\nlast")
  local read <close> = assert(fs.open(again.path))
  for line in read:lines() do lines[#lines + 1] = line end
  assert(table.concat(lines, "|") == "one||" .. long .. "\r|last")
  local short <close> = assert(fs.open(again.path))
  local next_line = short:lines { line_limit = 70000 }
  assert(next_line() == "one" and next_line() == "")
  local ok, problem = pcall(next_line)
  assert(not ok and problem == ("file:lines: '%s': a line is longer than 70000 bytes; raise "
    .. "'line_limit' if it may be"):format(again.path), problem)
  local other = assert(fs.open(again.path))
  next_line = other:lines()
  other:close()
  ok, problem = pcall(next_line)
  assert(not ok and problem:find "the file is closed %(EBADF%)$", problem)
  fs.remove(again.path)
end):wait()

-- A wait is named by the function that was called.
local why
local waiting = loop:task(function() fs.read "/dev/null" end)
loop:task(function() why = loop:why(waiting) end):wait()
waiting:wait()
assert(why:find("it waits for a file ('ml.fs.read')", 1, true), why)
