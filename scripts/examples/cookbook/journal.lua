-- Log to the journal with priorities
-- Under systemd, a line that begins with `<3>` is an error and one with `<6>` a piece of
-- information: `journalctl -p err` finds the first. At a terminal the words are written out.
--
--   systemd-run --user --pipe moonloop run journal.lua
local names = { err = 3, warning = 4, info = 6, debug = 7 }
local in_journal = os.getenv "JOURNAL_STREAM" ~= nil

local log = setmetatable({}, { __index = function(_, name)
  local priority = assert(names[name], name)
  return function(text, ...)
    local head = in_journal and ("<%d>"):format(priority) or name .. ": "
    -- Each line of a text is an entry of its own.
    for line in text:format(...):gmatch "[^\n]+" do io.stderr:write(head, line, "\n") end
  end
end })

local ml = require "moonloop"
local loop = ml.current()
loop.on_error = function(problem) log.err("%s", problem.message) end

log.info("started with %d arguments", #arg)
loop:after(0, function() error("no luck", 0) end)
loop:after(0.1, function() log.warning "going on" end)
