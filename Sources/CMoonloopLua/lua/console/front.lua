-- The terminal side of a console: asks for lines, puts statements together, completes, prints.
local ml = require "moonloop"
local editor = require "moonloop.console.editor"
local session = require "moonloop.console.session"
local loop = ml.current()

local Front = {}
Front.__index = Front

local front = {}

-- Where lines that were typed are kept; an empty path keeps none.
local function history_path()
  local home = os.getenv "HOME"
  local state = os.getenv "XDG_STATE_HOME"
  if not state or state:sub(1, 1) ~= "/" then state = home and home .. "/.local/state" end
  return state and state .. "/moonloop/history" or ""
end

local function detached(body)
  return loop:task({ owner = "none", name = "console", modes = session.modes }, body)
end

--- Opens the terminal. The options are functions: `evaluate(text)` evaluates a statement and prints
--- the outcome; `complete(text)` gives an insertion and a list; `interrupt()` gives up what is
--- evaluated.
function front.open(options)
  local self = setmetatable({ level = 0, own = options, failures = 0 }, Front)
  self.source = loop:source {
    name = "console", modes = session.modes,
    perform = function()
      for kind, text in editor.next do self:hear(kind, text) end
    end,
  }
  self.edits, self.obstacle = editor.open(self.source, history_path())
  return self
end

function Front:close()
  self.source:invalidate()
  editor.close()
end

function Front:hear(kind, text)
  if kind == "complete" then
    detached(function()
      local _, insertion, list = pcall(self.own.complete, text)
      editor.answer(insertion or "", list or "")
    end)
  elseif kind == "interrupt" and not self.resume then
    self.own.interrupt()
  elseif self.resume then
    local resume = self.resume
    self.resume = nil
    resume(kind, text)
  elseif kind ~= "interrupt" then
    self.early = { kind, text }  -- typed for a prompt that was over in that moment
  end
end

function Front:prompt() return self.edits and (self.level > 0 and "debug> " or "> ") or "" end

-- One line, as "line" and its text; or "end", "interrupt" or "over".
function Front:read(prompt)
  if self.early then
    local kind, text = table.unpack(self.early, 1, 2)
    self.early = nil
    return kind, text
  end
  return ml.await(function(resume)
    self.resume, self.reader = resume, self.serving
    editor.ask(prompt)
  end)
end

-- A whole statement; nil at the end of the input, or when the breakpoint is over.
function Front:statement()
  local text
  while true do
    local kind, line = self:read(text and self.edits and ">> " or self:prompt())
    if kind == "line" then
      text = text and text .. "\n" .. line or line
      local made, _, is_incomplete = session.compile(text, _ENV)
      if made or not is_incomplete then return text end
    elseif kind == "interrupt" then
      if not text then self.own.interrupt() end
      text = nil
    else
      return text, kind
    end
  end
end

-- Statement after statement, as long as the breakpoint lasts that it began at.
function Front:serve(level)
  while self.level >= level do
    self.serving = level
    local text, why = self:statement()
    if why == "end" then self.has_ended = true end
    if text and text:find "%S" then
      if not self.own.evaluate(text) then self.failures = self.failures + 1 end
    end
    if why then return end
  end
end

--- Statement after statement, to the end of the input. Returns whether none failed.
function Front:run()
  self:serve(0)
  return self.edits or self.failures == 0
end

--- The program stands at a breakpoint: what is typed from now on is for that.
function Front:stopped(text)
  self.level = self.level + 1
  print(text)
  if self.resume then return editor.ask(self:prompt()) end
  local level = self.level
  detached(function()
    self:serve(level)
    if self.has_ended then self.own.ended() end
  end)
end

--- It goes on. Whoever reads for the breakpoint reads no more; what is typed there stays.
function Front:continued()
  self.level = self.level - 1
  if not self.resume then return end
  if self.reader <= self.level then return editor.ask(self:prompt()) end
  local resume = self.resume
  self.resume = nil
  resume "over"
end

--- Says that an answer came from the middle of a call-out that is busy: once for each.
function Front:tell_busy(text)
  local what = text and text:match "^busy for at least .- s: (.-), at "
  if text and what ~= self.told_busy then
    io.stdout:flush()
    io.stderr:write("(" .. text .. ")\n")  -- in one piece: each stands above the prompt
  end
  self.told_busy = what
end

--- Prints what an evaluation gave. Returns whether it did not fail.
function Front:show(outcome, text)
  if outcome.failure then
    io.stdout:flush()
    io.stderr:write(outcome.failure .. "\n")
    return false
  end
  if outcome.values.n > 0 then print(text) end
  return true
end

return front
