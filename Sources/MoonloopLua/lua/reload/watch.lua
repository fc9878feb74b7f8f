-- `moonloop run --watch`: reloads the file when it or one of its modules changes, and on SIGHUP.
local ml = require "moonloop"
local generation = require "moonloop.generation"
local bodies = require "moonloop.reload.bodies"
local reload = require "moonloop.reload"

local loop = ml.current()

-- The watches by file; they belong to no generation.
local watches = {}
local is_idle = false

local function say(text) generation.tell("moonloop: " .. text) end

local function set_idle(idle)
  is_idle = idle
  for _, one in pairs(watches) do one:keep_alive(idle) end
end

local function load_again()
  if reload.again() then set_idle(false) end
end

-- Starts watching a file.
local function add(file)
  if watches[file] then return end
  generation.outside(true)
  local watch, message = loop:watch { file, debounce = 0.05, name = "--watch " .. file,
    modes = "common", keep_alive = is_idle, load_again }
  generation.outside(false)
  if watch then watches[file] = watch else say(message) end
end

-- Watches exactly the program's files.
local function update()
  local wanted = {}
  for _, file in ipairs(reload.files()) do
    wanted[file] = true
    add(file)
  end
  for file, watch in pairs(watches) do
    if not wanted[file] then
      watch:invalidate()
      watches[file] = nil
    end
  end
end

bodies.on_module, reload.on_load = add, update
generation.outside(true)
loop:signal { "hup", load_again, name = "--watch", modes = "common", keep_alive = false }
generation.outside(false)
update()

-- The program has nothing left to do: wait for a change.
return function(was_loaded)
  if not was_loaded and generation.number() == 1 then
    say(generation.file() .. " was not loaded; waiting for it to change")
  else
    say(("%s has nothing left to wait for; waiting for a file to change")
      :format(generation.file()))
  end
  set_idle(true)
end
