-- Reads standard input as it arrives, prints a rate each second, and a summary at the end.
--
--   seq 1000000 | moonloop run lines.lua              tail -f log | moonloop run lines.lua
local ml = require "moonloop"
local loop = ml.current()

local lines, bytes, seen, last = 0, 0, 0, ""
local began = ml.now()

local rate = loop:every(1, function()
  io.stderr:write(("%d lines/s\n"):format(lines - seen))
  seen = lines
end)
rate:keep_alive(false)                   -- the input keeps the run open, the report does not

loop:fd { fd = 0, name = "input",
  read = function(fd)
    local data = fd:read(65536)          -- what is available, at most this much; nil at the end
    if data then
      bytes = bytes + #data
      local _, count = data:gsub("\n", "")
      lines = lines + count
      last = data:sub(-1)
      return
    end
    if last ~= "" and last ~= "\n" then lines = lines + 1 end      -- a last line without a newline
    print(("%d lines, %d bytes"):format(lines, bytes))
    io.stderr:write(("in %.2f s\n"):format(ml.now() - began))
    fd:invalidate()
  end }
