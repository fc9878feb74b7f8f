-- luv's threads and its pool: each a worker of ml.worker, which loads the function's code.
local ml = require "moonloop"
local core = require "moonloop.compat.uv.core"

local uv = core.uv
local POOL = 4

local SOURCE = [[
local job = ...
require("moonloop.compat.uv").install()
local threads = require "moonloop.compat.uv.work"
threads.begin(job.thread)
local fn = assert(load(job.code, job.name, "b"))
return threads.send(fn(threads.receive(job.arguments)))
]]

-- Threads. All states know one by the same id, and print it: a pointer of the state that made it,
-- with a count behind it, since pointers are used again.
local thread = {}
local thread_meta = { __index = thread, __name = "uv_thread" }

function thread_meta.__tostring(self)
  return "uv_thread_t: " .. core.fields(self, thread_meta).id
end

function thread_meta.__eq(one, other)
  one, other = core.fields(one, thread_meta), core.fields(other, thread_meta)
  return one ~= nil and other ~= nil and one.id == other.id
end

local made = 0

local function make(fields)
  core.show(fields, thread_meta)
  made = made + 1
  fields.id = fields.id or ("%p%04x"):format(fields._out, made)
  return fields._out
end

local own = make {}

-- What stands for a value in another state: a table for a thread.
local function in_transit(value)
  local fields = core.fields(value, thread_meta)
  return fields and { thread = fields.id } or value
end

local function arrived(value)
  return type(value) == "table" and make { id = value.thread } or value
end

local function each(convert, values)
  for place = 1, values.n do values[place] = convert(values[place]) end
  return values
end

local threads = {}
function threads.begin(id) if id then own = make { id = id } end end
function threads.send(...)
  return table.unpack(each(in_transit, table.pack(...)), 1, select("#", ...))
end
function threads.receive(values) return table.unpack(each(arrived, values), 1, values.n) end

-- The arguments for another state; those that cannot be passed raise luv's error.
local function pack(level, ...)
  local arguments = table.pack(...)
  for place = 1, arguments.n do
    local kind = type(arguments[place])
    if core.is_handle(arguments[place], "async") then
      arguments[place], kind = core.handle(arguments[place]):_gate(), "number"
    elseif core.fields(arguments[place], thread_meta) then
      arguments[place], kind = in_transit(arguments[place]), "number"
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

local function start(code, arguments, name, id)
  return ml.worker { source = SOURCE, name = name, args = { code = code, arguments = arguments,
    name = "=" .. name, thread = id } }
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
    core.finish_later(job.req, threads.receive(results))
  end)
end

local work = {}
local work_meta = { __index = work, __name = "luv_work_ctx",
  __tostring = core.shown_as "luv_work_ctx_t" }

function uv.new_work(fn, callback)
  local context = { _code = code_of(fn, 1), _callback = core.callback(callback, 2) }
  return core.show(context, work_meta)._out
end

function work.queue(context, ...)
  context = core.fields(context, work_meta)
  core.check(context, 1, "Expected luv_work_ctx")
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

function uv.new_thread(options, fn, ...)
  if type(options) ~= "table" then return uv.new_thread({}, options, fn, ...) end
  local thread_made = make {}
  local fields = core.fields(thread_made, thread_meta)
  local worker, _, code = start(code_of(fn, 1), pack(2, ...), "uv.thread", fields.id)
  if not worker then return core.fail(code) end
  fields._worker = worker
  return thread_made
end

function uv.thread_self() return own end

function thread.join(self)
  self = core.fields(self, thread_meta)
  core.check(self, 1, "Expected uv_thread")
  if not self._worker then return core.fail "EINVAL" end
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

return threads
