-- The terminal side of a console: reads lines, joins them to statements, completes, prints.
local ml = require "moonloop"
local editor = require "moonloop.console.editor"
local session = require "moonloop.console.session"
local loop = ml.current()

local Front = {}
Front.__index = Front

local front = {}

-- The history file; an empty path means none.
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
--- the outcome; `complete(text)` returns an insertion and a list; `interrupt()` cancels the
--- evaluation.
function front.open(options)
  local self = setmetatable({ level = 0, own = options, failures = 0 }, Front)
  -- The readers of statements, by the level of breakpoints at which each began, and the one that
  -- waits for a line. The highest reads; those below still evaluate what stopped the program, or
  -- wait until the levels above are over.
  self.readers, self.waiting = {}, {}
  self.source = loop:source {
    name = "console", modes = session.modes,
    perform = function()
      for kind, text in editor.next do self:hear(kind, text) end
    end,
  }
  self.is_terminal, self.obstacle = editor.open(self.source, history_path())
  return self
end

--- Prints the greeting.
function Front:greet(text)
  if not self.is_terminal then return end
  print(text)
  if self.obstacle then print(("Lines cannot be edited: %s."):format(self.obstacle)) end
end

function Front:close()
  self.source:invalidate()
  editor.close()
end

-- The level of the reader.
function Front:top()
  local top
  for level in pairs(self.readers) do top = math.max(level, top or level) end
  return top
end

function Front:hear(kind, text)
  local top = self:top()
  local resume = top and self.waiting[top]
  if kind == "complete" then
    detached(function()
      local _, insertion, list = pcall(self.own.complete, text)
      editor.answer(insertion or "", list or "")
    end)
  elseif kind == "interrupt" and not resume then
    self.own.interrupt()
  elseif resume then
    self.waiting[top] = nil
    resume(kind, text)
  elseif kind ~= "interrupt" then
    self.early = { kind, text }  -- typed for a prompt that has just closed
  end
end

-- `_PROMPT` and `_PROMPT2` are those of `lua`.
function Front:prompt(is_continued)
  if not self.is_terminal then return "" end
  if self.level > 0 and not is_continued then return "debug> " end
  local own = rawget(_G, is_continued and "_PROMPT2" or "_PROMPT")
  local ok, text = pcall(tostring, own or (is_continued and ">> " or "> "))
  return ok and text or "> "
end

-- One line, as "line" and its text; or "end", "interrupt" or "over".
function Front:read(level, prompt)
  if self.early and level == self:top() then
    local kind, text = table.unpack(self.early, 1, 2)
    self.early = nil
    return kind, text
  end
  return ml.await(function(resume)
    self.waiting[level] = resume
    if level == self:top() then editor.ask(prompt) end
  end)
end

local LEAVES = { quit = true, exit = true, q = true }

-- Whether a line asks to leave: ":quit", or "exit" where nothing has that name.
local function leaves(line)
  local colon, word = line:match "^%s*(:?)(%a+)%(?%)?%s*$"
  if not LEAVES[word] or word == "q" and colon == "" then return false end
  return colon ~= "" or _G[word] == nil
end

-- A whole statement; nil and "quit", "end" at the end of the input, or "over" after a breakpoint.
function Front:statement(level)
  local text
  while true do
    local kind, line = self:read(level, self:prompt(text))
    if kind == "line" and not text and leaves(line) then
      return nil, "quit"
    elseif kind == "line" then
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

-- A reader for a breakpoint that is over stops; otherwise it is asked for a line.
function Front:settle()
  local top = self:top()
  local resume = top and self.waiting[top]
  if not resume then return end
  if top <= self.level then return editor.ask(self:prompt()) end
  self.waiting[top] = nil
  resume "over"
end

-- Reads statements while the breakpoint lasts at which it began.
function Front:serve(level)
  self.readers[level] = true
  while self.level >= level do
    local text, why = self:statement(level)
    if why == "end" or why == "quit" then self.has_ended = true end
    if why == "quit" then self.has_quit = true end
    if text and text:find "%S" then
      if not self.own.evaluate(text) then self.failures = self.failures + 1 end
    end
    if why then break end
  end
  self.readers[level] = nil
  if not self.has_ended then self:settle() end
end

--- Reads statements up to the end of the input. Returns whether none failed.
function Front:run()
  self:serve(0)
  return self.is_terminal or self.failures == 0
end

--- The program has stopped at a breakpoint: what is typed from now on is for it.
function Front:stopped(text)
  self.level = self.level + 1
  print(text)
  if self.waiting[self:top()] then return editor.ask(self:prompt()) end
  local level = self.level
  self.readers[level] = true
  detached(function()
    self:serve(level)
    if self.has_ended then self.own.ended(self.has_quit) end
  end)
end

--- The program continues. What is typed stays.
function Front:continued()
  self.level = self.level - 1
  self:settle()
end

--- Notes, once for each, that an answer came from within a busy call-out.
function Front:tell_busy(text)
  local what = text and text:match "^busy for at least .- s: (.-), at "
  if text and what ~= self.told_busy then
    io.stdout:flush()
    io.stderr:write("(" .. text .. ")\n")  -- in one piece: each print appears above the prompt
  end
  self.told_busy = what
end

--- Prints the outcome of an evaluation. Returns whether it succeeded.
function Front:show(outcome)
  if outcome.failure then
    io.stdout:flush()
    io.stderr:write(outcome.failure .. "\n")
    return false
  end
  if outcome.count > 0 then print(outcome.shown) end
  return true
end

return front
