-- The output of a program that a test started: it is kept, and tests can wait for patterns.
local ml = require "moonloop"
local beds = require "moonloop.testing.beds"
local failure = require "moonloop.testing.failure"
local quoting = require "moonloop.text.quoting"

local output = {}
output.__name = "moonloop.testing.output"

local SHOWN_LINES = 20     -- of a program's output, in a failure
local SHOWN_BYTES = 16384  -- of it, at most
local KEPT = 16 << 20      -- bytes of an output that are kept: the last ones
local SETTLE = 0.05        -- seconds for more of a capture that may not be whole
local PAUSE = 0.01         -- seconds between reads of more than that, while nothing waits for it

-- `text` is made of its parts when it is asked for.
function output.__index(self, key)
  if key ~= "text" then return output[key] end
  if #self.parts > 1 then self.parts = { table.concat(self.parts) } end
  return self.parts[1] or ""
end

-- Keeps what was read; of too much, the last half.
local function keep(self, data)
  self.parts[#self.parts + 1] = data
  self.size = self.size + #data
  if self.size <= KEPT then return end
  local text = self.text:sub(-(KEPT // 2))
  local dropped = self.size - #text
  self.at, self.marked = math.max(1, self.at - dropped), math.max(0, self.marked - dropped)
  self.parts, self.size, self.is_cut = { text }, #text, true
end

--- Starts to read a stream, in its own task.
-- @param what its name in messages, such as "stdout of 'redis-server'"
-- @param take called with all that is read; may be nil
function output.new(stream, what, take)
  local self = setmetatable({
    parts = {}, size = 0, ended = false, at = 1, marked = 0, what = what,
    waiting = {}, stream = stream,
  }, output)
  self.reader = ml.current():task({ name = "reader of " .. what, owner = "none" }, function()
    while true do
      local data = stream:read_some()
      if not data then break end
      keep(self, data)
      if take then take(data) end
      -- Time passes, and others get their turns, however fast the program writes. A virtual clock
      -- stands while the program runs.
      local is_free = self.is_cut and #self.waiting == 0 and beds.clock() ~= "virtual"
      self:tell()
      ml.sleep(is_free and PAUSE or 0)
    end
    self.ended = true
    stream:close()
    self:tell()
  end)
  return self
end

-- Waits until the output ends.
local function wait_for_end(self)
  while not self.ended do self:await_more() end
  return true
end

--- Ends the reading, at the end of the output or after a time.
function output:finish(within)
  if self.ended or ml.timeout(within, wait_for_end, self) then return end
  self.reader:cancel()
  self.stream:close()
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
  local all = self.text
  if all == "" then return "    (nothing)" end
  local lines, text = {}, all:sub(-SHOWN_BYTES)
  for line in (text:gsub("\n$", "") .. "\n"):gmatch("(.-)\n") do lines[#lines + 1] = line end
  local first = math.max(1, #lines - SHOWN_LINES + 1)
  for place = first, #lines do lines[place] = quoting.ends(lines[place]) end
  local shown = table.concat(lines, "\n    ", first)
  return ((first > 1 or #text < #all) and "    ...\n    " or "    ") .. shown
end

local function hear_more(self)
  self:await_more()
  return true
end

-- Whether a capture may not be whole: it reaches the end of what has come so far. Programs write
-- in pieces; a virtual clock stands while they run.
local function may_grow(self, found)
  return found.n > 2 and found[2] == #self.text and not self.ended and beds.clock() ~= "virtual"
end

--- Waits for a match after the previous one.
local function wait_for(self, pattern, is_plain)
  while true do
    local found = table.pack(self.text:find(pattern, self.at, is_plain))
    if found[1] then
      if not may_grow(self, found) or not ml.timeout(SETTLE, hear_more, self) then return found end
    elseif self.ended then
      return "ended"
    else
      self:await_more()
    end
  end
end

--- Waits until the program's output matches a pattern; the next call looks after that.
-- @param pattern a Lua pattern
-- @param within seconds, by default 5, on the clock of the test's loop
-- @param options `{ plain = true }` takes the pattern literally
-- @param name the function that the test called, for messages
-- @return the captures of the pattern, or the match
function output:expect(pattern, within, options, name)
  if type(within) == "table" and options == nil then within, options = nil, within end
  local is_plain = options and options.plain or false
  within = failure.check_wait(name or "output:expect", pattern, within, is_plain)
  local found = ml.timeout(within, wait_for, self, pattern, is_plain)
  if type(found) == "table" then
    self.at = math.max(found[2] + 1, self.at)
    if found.n > 2 then return table.unpack(found, 3, found.n) end
    return self.text:sub(found[1], found[2])
  end
  local reason = (" within %g s"):format(within)
  if found == "ended" then reason = ": it " .. (self.how_ended() or "ended") end
  local rest = self.text:sub(self.at)
  local wrote = "It wrote:\n" .. self:tail()
  if self.at > 1 then
    wrote = "After what was matched before, it wrote:\n" .. output.tail { text = rest }
  end
  failure.fail(("%s did not match '%s'%s%s. %s"):format(self.what, quoting.line(pattern), reason,
    failure.advice(pattern, rest, is_plain), wrote), 2)
end

--- Waits until the output ends, and returns all of it.
function output:all(within)
  within = within or failure.WITHIN
  if ml.timeout(within, wait_for_end, self) then return self.text end
  failure.fail(("%s did not end within %g s. It wrote:\n%s"):format(
    self.what, within, self:tail()), 2)
end

return output
