-- ml.workers: several workers that run the same script, for more than one core.
local ml = require "moonloop"
local handles = require "moonloop.text.handles"
local host = require "moonloop.text.host"
local spelling = require "moonloop.text.spelling"
local mistake = host.mistake

local methods = {}
local meta = handles.close({}, "workers")

function meta.__index(_, key)
  if methods[key] or math.type(key) then return methods[key] end
  spelling.no_field("workers", key, {}, methods)
end

local function check_self(self, method)
  if getmetatable(self) ~= meta.__metatable then handles.refuse("workers", method) end
end

function methods:stop()
  check_self(self, "stop")
  for _, worker in ipairs(self) do worker:stop() end
end

local cancelling <const> = { __close = function(tasks)
  for _, task in ipairs(tasks) do task:cancel() end
end }

function methods:await()
  check_self(self, "await")
  local results, ended = {}, ml.channel { name = "ends of workers", capacity = #self }
  local tasks <close> = setmetatable({}, cancelling)
  for number, worker in ipairs(self) do
    tasks[number] = ml.current():task({ name = "workers:await" }, function()
      local ok, value = pcall(worker.await, worker)
      ended:try_send { number = number, ok = ok, value = value or false }
    end)
  end
  for _ = 1, #self do
    local one = ended:receive()
    if not one.ok then
      self:stop()
      -- The others are awaited on, so that none reports a failure of its own beside this one.
      for place = #tasks, 1, -1 do tasks[place] = nil end
      self[one.number]:await()  -- raises its error
    end
    results[one.number] = one.value
  end
  return results
end

function meta:__tostring() return ("%d workers"):format(#self) end

function meta:__close()
  self:stop()
  for _, worker in ipairs(self) do pcall(worker.await, worker) end
end

-- The options of one of them.
local function options_of(number, options)
  local own = {}
  for key, value in pairs(options) do own[key] = value end
  if type(own.args) == "function" then own.args = own.args(number) end
  if type(own.name) == "string" then own.name = ("%s %d"):format(own.name, number) end
  return own
end

return function(count, options)
  if math.type(count) ~= "integer" or count < 1 then
    mistake(("ml.workers: needs the number of workers first, got %s"):format(
      host.given(count)))
  elseif type(options) ~= "table" then
    mistake("ml.workers: needs the options of ml.worker second: ml.workers(4, { \"serve.lua\" })")
  end
  local workers = setmetatable({}, meta)
  local is_whole = false
  local _ <close> = setmetatable({}, { __close = function()
    if not is_whole then workers:stop() end
  end })
  for number = 1, count do
    local worker, problem, code = ml.worker(options_of(number, options))
    if not worker then return nil, problem, code end
    rawset(workers, number, worker)
  end
  is_whole = true
  return workers
end
