-- Evaluates the text of a configuration, which is data: effects outside of it (a print, a timer, a
-- file) are mistakes with a line, and so is a text that never ends (D40).
local ml = require "moonloop"
local sources = require "moonloop.configuration.sources"

local evaluation = {}

-- Instruction limits for a text (about one second) and a module (about ten).
local TEXT_MOST, MODULE_MOST, STEP = 100000000, 1000000000, 1000000

local sethook, getinfo, getlocal = debug.sethook, debug.getinfo, debug.getlocal

-- Functions with effects, and their names in messages.
local effects = {}

-- Functions missing from this state cannot be called anyway.
local function note(from, names, form)
  for name in names:gmatch "%S+" do
    local ok, fn = pcall(function() return from[name] end)
    if ok and type(fn) == "function" then effects[fn] = form:format(name) end
  end
end

note(_G, "print", "%s")
note(io and getmetatable(io.stdout).__index, "write", "file:%s")
note(io, "write read output input tmpfile popen", "io.%s")
note(os, "execute exit remove rename tmpname setlocale", "os.%s")
note(ml.current(), "add add_common_mode after at cron every observer perform record remove run "
  .. "stop task timer wake_up", "loop:%s")
note(ml, "await break_here configure guest limit observer sleep stream timeout timer worker",
  "ml.%s")
for method in pairs(sources.by_method "method") do
  note(ml.current(), method, "loop:%s")
  note(ml, method, "ml.%s")
end
note(ml.net, "connect listen resolve udp", "ml.net.%s")
note(ml.process, "run spawn", "ml.process.%s")
note(ml.reload, "on_unload", "ml.reload.%s")
note(ml.port, "connect listen new pair", "ml.port.%s")

-- Whether this call of `io.open` opens a file for writing.
local function writes()
  local _, mode = getlocal(4, 2)
  return type(mode) == "string" and mode:find "[wa+]" ~= nil
end

-- A raised value as text.
local function in_words(value)
  if type(value) == "string" then return value end
  if type(value) == "table" and type(rawget(value, "message")) == "string" then
    return value.message
  end
  return ("raised a %s instead of a message"):format(type(value))
end

-- Resumes a coroutine under an instruction limit. `on_call` is called for each call.
local function resume(co, most, refuse, on_call, ...)
  local count = 0
  local function hook(event)
    if event ~= "count" then
      on_call()  -- not a tail call: `refuse` looks at the levels above
      return
    end
    count = count + STEP
    if count < most then return end
    sethook(co, hook, "", 1)  -- raise it again, in case a pcall caught it
    refuse(("does not end: stopped after %d million instructions"):format(most // 1000000))
  end
  sethook(co, hook, on_call and "c" or "", STEP)
  local results = table.pack(coroutine.resume(co, ...))
  sethook(co)
  return results
end

-- Calls a function that must end. Returns true and its results; or false and the raised value.
function evaluation.bounded(fn, ...)
  local mistake
  local co = coroutine.create(fn)
  local results = resume(co, MODULE_MOST, function(problem)
    mistake = problem
    error(problem, 0)
  end, nil, ...)
  if mistake then return false, mistake end
  if results[1] and coroutine.status(co) == "suspended" then
    coroutine.close(co)
    return false, "it waits while it loads"
  end
  return table.unpack(results, 1, results.n)
end

-- Runs a chunk that was loaded from a path. Returns true and a table of its results; or false and
-- what is wrong, and whether it was refused.
-- @param is_strict whether effects of modules that it loads are refused, too
function evaluation.run(chunk, path, is_strict)
  local source, mistake = getinfo(chunk, "S").source, nil
  local co = coroutine.create(chunk)
  -- The line of the text that runs or waits.
  local function line()
    for level = 0, 40 do
      local one = getinfo(co, level, "Sl")
      if not one then break end
      if one.source == source and one.currentline > 0 then return one.currentline end
    end
    return 1
  end
  local function refuse(problem)
    mistake = mistake or ("%s:%d: %s"):format(path, line(), problem)
    error(mistake, 0)
  end
  local results = resume(co, TEXT_MOST, refuse, function()
    local called = getinfo(3, "f").func
    local name = effects[called] or io and called == io.open and writes() and "io.open"
    if not name then return end
    -- The caller is the text or a module it loads, but not pcall and the like.
    local level, caller = 4, getinfo(4, "S")
    while caller and caller.what == "C" do
      level = level + 1
      caller = getinfo(level, "S")
    end
    if is_strict or not caller or caller.source == source then
      refuse(("a configuration is data; call %s in a handler")
        :format(name))
    end
  end)
  if not mistake and results[1] and coroutine.status(co) == "suspended" then
    mistake = ("%s:%d: a configuration is data and cannot wait"):format(path, line())
  end
  if mistake or not results[1] then
    local text = mistake or type(results[2]) == "string" and results[2]
      or ("%s:%d: %s"):format(path, line(), in_words(results[2]))
    coroutine.close(co)
    return false, text, mistake ~= nil
  end
  return true, table.pack(table.unpack(results, 2, results.n))
end

return evaluation
