-- The output of a program that a test started: all of it is kept, and tests can wait for patterns.
local ml = require "moonloop"
local given = require("moonloop.text.host").given
local failure = require "moonloop.testing.failure"

local output = {}
output.__index = output
output.__name = "moonloop.testing.output"

local WITHIN = 5         -- seconds, unless the test sets another
local SHOWN_LINES = 20   -- of a program's output, in a failure

--- Starts to read a stream, in its own task.
-- @param what its name in messages, such as "stdout of 'redis-server'"
-- @param take called with all that is read; may be nil
function output.new(stream, what, take)
  local self = setmetatable({
    text = "", ended = false, at = 1, what = what, waiting = {},
  }, output)
  self.reader = ml.current():task({ name = "reader of " .. what, owner = "none" }, function()
    while true do
      local data = stream:read_some()
      if not data then break end
      self.text = self.text .. data
      if take then take(data) end
      self:tell()
    end
    self.ended = true
    stream:close()
    self:tell()
  end)
  return self
end

--- Wakes tasks that wait for output.
function output:tell()
  local waiting = self.waiting
  self.waiting = {}
  for _, resume in ipairs(waiting) do resume(true) end
end

--- Waits until there is more output, or its end.
function output.await_more(self)
  ml.await(function(resume) self.waiting[#self.waiting + 1] = resume end)
end

--- The last lines, indented, for a message.
function output:tail()
  if self.text == "" then return "    (nothing)" end
  local lines = {}
  for line in (self.text:gsub("\n$", "") .. "\n"):gmatch("(.-)\n") do lines[#lines + 1] = line end
  local first = math.max(1, #lines - SHOWN_LINES + 1)
  local shown = table.concat(lines, "\n    ", first)
  return (first > 1 and "    ...\n    " or "    ") .. shown
end

--- Waits for a match after the previous one.
local function wait_for(self, pattern, is_plain)
  while true do
    local found = table.pack(self.text:find(pattern, self.at, is_plain))
    if found[1] then return found end
    if self.ended then return "ended" end
    self:await_more()
  end
end

--- Waits until the program's output matches a pattern; the next call looks after that.
-- @param pattern a Lua pattern
-- @param within seconds, by default 5, on the clock of the test's loop
-- @param options `{ plain = true }` takes the pattern literally
-- @param name the function that the test called, for messages
-- @return the captures of the pattern, or the match
function output:expect(pattern, within, options, name)
  if type(pattern) ~= "string" then
    error(("%s: the pattern must be a string, got %s"):format(name or "output:expect",
      given(pattern)), 2)
  end
  within = within or WITHIN
  local is_plain = options and options.plain or false
  local found = ml.timeout(within, wait_for, self, pattern, is_plain)
  if type(found) == "table" then
    self.at = math.max(found[2] + 1, self.at)
    if found.n > 2 then return table.unpack(found, 3, found.n) end
    return self.text:sub(found[1], found[2])
  end
  local reason = found == "ended" and ": it ended" or (" within %g s"):format(within)
  failure.fail(("%s did not match '%s'%s%s. It wrote:\n%s"):format(self.what, pattern, reason,
    failure.advice(pattern, self.text:sub(self.at), is_plain), self:tail()), 2)
end

--- Waits until the output ends, and returns all of it.
function output:all(within)
  within = within or WITHIN
  local ended = ml.timeout(within, function()
    while not self.ended do self:await_more() end
    return true
  end)
  if ended then return self.text end
  failure.fail(("%s did not end within %g s. It wrote:\n%s"):format(
    self.what, within, self:tail()), 2)
end

return output
