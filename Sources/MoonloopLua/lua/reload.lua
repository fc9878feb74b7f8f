-- Reloading (D35, D36). The file and its modules make up one generation. The next one is loaded
-- while the loop serves nothing; if that fails, everything stays as it was.
local generation = require "moonloop.generation"
local bodies = require "moonloop.reload.bodies"
local host = require "moonloop.text.host"
local copy = require("moonloop.text.lists").copy
local mistake = host.mistake

-- `trace` is the traceback of the last load that failed; `on_load` is called for each load.
local reload = {}

-- State that survives reloads, by name.
local states = {}
-- Handlers to call when the current generation is unloaded.
local unloaders = {}
-- The running configuration, if the file is one.
local running
-- What the current load restores if it fails; nil when none is under way.
local before
-- The files of the last failed load: changing one of them triggers another try.
local tried = {}

local traceback = debug.traceback

-- Modules ---------------------------------------------------------------------------------------

-- The files of the program: the main one and those of its modules.
function reload.files()
  local files, seen = {}, {}
  local function add(file)
    if file and not seen[file] then
      seen[file] = true
      files[#files + 1] = file
    end
  end
  add(generation.file())
  for _, list in ipairs { bodies.files, tried } do
    for _, file in pairs(list) do add(file) end
  end
  table.sort(files)
  return files
end

-- The running configuration.
function reload.note(made) running = made end

-- What survives -----------------------------------------------------------------------------------

local function restore(into, from)
  for key in next, into do
    if rawget(from, key) == nil then rawset(into, key, nil) end
  end
  for key, value in next, from do rawset(into, key, value) end
end

-- Saves the contents of a table, and of the tables in it at any depth.
local function remember(value, seen)
  local rest = {}
  local function see(one)
    if type(one) ~= "table" or seen[one] then return end
    seen[one] = copy(one)
    rest[#rest + 1] = one
  end
  see(value)
  while #rest > 0 do
    for key, one in next, table.remove(rest) do
      see(key)
      see(one)
    end
  end
end

function reload.state(name, default)
  if type(name) ~= "string" then
    mistake("ml.reload.state: the name must be a string, got " .. host.given(name))
  end
  if default ~= nil and type(default) ~= "table" then
    mistake("ml.reload.state: the default must be a table (its contents survive), got "
      .. host.given(default))
  end
  if states[name] == nil then
    states[name] = default or {}
  elseif before then
    remember(states[name], before.contents)
  end
  return states[name]
end

function reload.on_unload(handler)
  if type(handler) ~= "function" then
    mistake("ml.reload.on_unload: the handler must be a function, got " .. host.given(handler))
  end
  unloaders[#unloaders + 1] = handler
end

-- Loading -----------------------------------------------------------------------------------------

local function begin()
  before = {
    globals = copy(_G), loaded = copy(package.loaded), preload = copy(package.preload),
    path = package.path, cpath = package.cpath, states = copy(states), contents = {},
    unloaders = unloaders, modules = bodies.files,
  }
  unloaders, bodies.files = {}, {}
  for name in next, before.modules do package.loaded[name] = nil end
  generation.begin()
end

-- Restores everything.
function reload.undo()
  local old = before
  if not old then return end
  before = nil
  generation.undo()
  generation.at()
  tried = bodies.files
  unloaders, bodies.files = old.unloaders, old.modules
  restore(_G, old.globals)
  restore(package.loaded, old.loaded)
  restore(package.preload, old.preload)
  package.path, package.cpath = old.path, old.cpath
  restore(states, old.states)
  for one, content in next, old.contents do restore(one, content) end
end

-- A raised value as text.
local function in_words(value)
  if type(value) == "table" and type(rawget(value, "message")) == "string" then
    return value.message
  end
  local ok, text = pcall(tostring, value)
  return ok and text or host.given(value)
end

-- A traceback without the calls of our modules, which stand between a module and its `require`.
local function without_ours(text)
  local kept, is_after = {}, false
  for line in text:gmatch "[^\n]+" do
    local is_ours = line:find "^\tmoonloop/"
    if is_ours and kept[#kept] == "\t[C]: in function 'error'" then kept[#kept] = nil end
    if not is_ours and not (is_after and line == "\t(...tail calls...)") then
      kept[#kept + 1] = line
    end
    is_after = is_ours
  end
  return table.concat(kept, "\n")
end

-- Runs the chunk without letting it wait. Returns true and its result; or false, the message and
-- the traceback.
local function run(chunk, ...)
  local co = coroutine.create(chunk)
  local ok, result = coroutine.resume(co, ...)
  if ok and coroutine.status(co) == "suspended" then
    ok, result = false, ("%s: the file waits while it is reloaded, which it must not; "
      .. "do that in a loop:task"):format(traceback(co):match "\n%s*([^\n]-:%d+):")
  end
  if ok then return true, result end
  local trace = without_ours(traceback(co, in_words(result)))
  coroutine.close(co)
  return false, in_words(result), trace
end

-- Makes what a configuration describes. Returns true and what runs; or nil and what is wrong.
local function configure(value, path)
  local found, configuration = pcall(require, "moonloop.configuration")
  if not found then return true end  -- Safe libraries have no configurations.
  if not configuration.is_one(value) then
    if not running then return true end
    return nil, path .. ": it is no longer a configuration; restart the program"
  end
  local text, problem = configuration.text(path)
  if not text then return nil, problem end
  local made, mistakes = configuration.prepare(value, path, text)
  if made then return true, made end
  return nil, mistakes
end

-- Runs the phases of a file that was not a valid configuration before, so nothing runs them yet.
local function run_phases()
  local loop = require("moonloop").current()
  generation.outside(true)
  loop:task({ owner = "none", name = "phases" }, function()
    running:run(require("moonloop.configuration").bounds)
    loop:stop()
  end)
  generation.outside(false)
end

-- Loads, and swaps. Returns counts; or nil, the message and the traceback.
local function attempt(path, ...)
  -- Safe libraries have no `loadfile`.
  local chunk, mistake = (loadfile or generation.chunk)(path, "t")
  if not chunk then return nil, mistake end
  begin()
  local ok, result, trace = run(chunk, ...)
  if not ok then return nil, result, trace end
  local good, made = configure(result, path)
  if not good then return nil, made end
  local old = before
  for place = #old.unloaders, 1, -1 do
    local done, problem = xpcall(old.unloaders[place], function(value)
      return without_ours(traceback(in_words(value)))
    end)
    if not done then generation.report(problem) end
  end
  before, tried = nil, {}
  local kept, new, ended = generation.commit()
  if made and running then
    require("moonloop.configuration.items").become(running, made)
  elseif made then
    running = made
    run_phases()
  end
  return { generation = generation.number(), kept = kept, made = new, ended = ended }
end

-- Reloads the file: the body of `ml.reload()`. Called between two passes.
function reload.load(path, ...)
  local done, message, trace = attempt(path, ...)
  if not done then reload.undo() end
  reload.trace = trace
  if reload.on_load then reload.on_load() end
  if done then return done end
  return nil, message, "ENOEXEC"
end

-- Reloads the file and reports it on standard error. Returns whether it was loaded.
function reload.again()
  local done, message = require("moonloop").reload()
  local file = generation.file()
  if done then
    generation.tell(("moonloop: reloaded %s (generation %d): %d kept, %d new, %d ended")
      :format(file, done.generation, done.kept, done.made, done.ended))
  else
    generation.tell(("moonloop: not reloaded: %s\nmoonloop: generation %d of %s continues")
      :format(reload.trace or message, generation.number(), file))
  end
  return done ~= nil
end

-- Reloads the file when it changes; after `idle`, the loop keeps running only for that.
function reload.watch() reload.idle = require "moonloop.reload.watch" end

function reload.generation() return generation.number() end

return reload
