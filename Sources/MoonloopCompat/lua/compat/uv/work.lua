-- luv's threads and its pool: each a worker of ml.worker, which loads the function's code.
local ml = require "moonloop"
local core = require "moonloop.compat.uv.core"

local uv = core.uv
local POOL = 4

local SOURCE = [[
local job = ...
require("moonloop.compat.uv").install()
local fn = assert(load(job.code, job.name, "b"))
return fn(table.unpack(job.arguments, 1, job.arguments.n))
]]

-- The arguments for another state; those that cannot be passed raise luv's error.
local function pack(level, ...)
  local arguments = table.pack(...)
  for place = 1, arguments.n do
    local kind = type(arguments[place])
    if getmetatable(arguments[place]) == core.classes.async then
      arguments[place], kind = arguments[place]:_gate(), "number"
    end
    if kind == "table" or kind == "function" or kind == "thread" or kind == "userdata" then
      error(("Error: thread arg not support type '%s' at %d"):format(kind, place), level + 1)
    end
  end
  return arguments
end

local function code_of(fn, index)
  core.check(type(fn) == "function" or type(fn) == "string", index,
    "function or string expected, got " .. type(fn))
  return type(fn) == "string" and fn or string.dump(fn)
end

local function start(code, arguments, name)
  return ml.worker { source = SOURCE, name = name, args = { code = code, arguments = arguments,
    name = "=" .. name } }
end

-- The pool -------------------------------------------------------------------------------------

local pools = setmetatable({}, { __mode = "k" })

local function next_job(pool)
  local job = table.remove(pool.waiting, 1)
  if not job then return end
  pool.running = pool.running + 1
  ml.current():task({ name = "uv.work" }, function()
    local _ <close> = setmetatable({}, { __close = function()
      pool.running = pool.running - 1
      next_job(pool)
    end })
    local results = table.pack(assert(start(job.code, job.arguments, "uv.work")):await())
    core.finish(job.req, table.unpack(results, 1, results.n))
  end)
end

local work = {}
local work_meta = { __index = work, __name = "luv_work_ctx",
  __tostring = function(context) return ("luv_work_ctx_t: %s"):format(context._address) end }

function uv.new_work(fn, callback)
  local context = { _code = code_of(fn, 1), _callback = core.callback(callback, 2) }
  context._address = tostring(context):match "0x%x+" or "?"
  return setmetatable(context, work_meta)
end

function work.queue(context, ...)
  core.check(getmetatable(context) == work_meta, 1, "Expected luv_work_ctx")
  local arguments = pack(2, ...)
  local st = core.state()
  local pool = pools[st] or { waiting = {}, running = 0 }
  pools[st] = pool
  pool.waiting[#pool.waiting + 1] = { code = context._code, arguments = arguments,
    req = core.request("work", context._callback) }
  if pool.running < POOL then next_job(pool) end
  return true
end

uv.queue_work = work.queue

-- Threads --------------------------------------------------------------------------------------

local thread = {}
local thread_meta = { __index = thread, __name = "uv_thread",
  __tostring = function(value) return ("uv_thread_t: %s"):format(value._address) end,
  __eq = function(one, other) return one._address == other._address end }

local function make(fields)
  fields._address = fields._address or tostring(fields):match "0x%x+" or "?"
  return setmetatable(fields, thread_meta)
end

function uv.new_thread(options, fn, ...)
  if type(options) ~= "table" then return uv.new_thread({}, options, fn, ...) end
  local worker, _, code = start(code_of(fn, 1), pack(2, ...), "uv.thread")
  if not worker then return core.fail(code) end
  return make { _worker = worker }
end

local main = make {}
function uv.thread_self() return main end

function thread.join(self)
  core.check(getmetatable(self) == thread_meta, 1, "Expected uv_thread")
  if self._is_done then return true end
  return core.block(function(mode, done)
    if self._worker:is_valid() then ml.current():add(self._worker, mode) end
    return ml.current():task({ modes = mode, name = "uv.thread_join" }, function()
      self._worker:await()
      self._is_done = true
      done(true)
    end)
  end)
end

function thread.equal(self, other) return self == other end

uv.thread_join, uv.thread_equal = thread.join, thread.equal
