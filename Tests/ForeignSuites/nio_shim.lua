-- Stands for what nvim-nio asks of Neovim: vim.wait is a nested run, vim.loop our luv.
local ml, uv = require "moonloop", require "moonloop.compat.uv"
local loop = ml.current
unpack, loadstring = table.unpack, load  -- Lua 5.1's words, and maxn
function table.maxn(list)
  local last = 0
  for key in pairs(list) do if math.type(key) then last = math.max(last, key) end end
  return last
end

function getfenv(level)
  local fn = debug.getinfo(level + 1, "f").func
  for place = 1, math.huge do
    local name, value = debug.getupvalue(fn, place)
    if name == "_ENV" then return value end
    if not name then return _G end
  end
end

local function inspect(value)
  if type(value) ~= "table" then return tostring(value) end
  return ml.inspect(value)
end

local function split(text, separator)
  local parts, from = {}, 1
  while true do
    local first, last = text:find(separator, from, true)
    parts[#parts + 1] = text:sub(from, (first or 0) - 1)
    if not first then return parts end
    from = last + 1
  end
end

local function flatten(list, into)
  into = into or {}
  for _, value in ipairs(list) do
    if type(value) == "table" then flatten(value, into) else into[#into + 1] = value end
  end
  return into
end

local folder = os.getenv "TMPDIR" or "/tmp"

vim = {
  loop = uv, uv = uv, env = {}, notify = print, inspect = inspect, split = split,
  tbl_flatten = flatten, log = { levels = { TRACE = 0, DEBUG = 1, INFO = 2, WARN = 3, ERROR = 4 } },
  startswith = function(text, start) return text:sub(1, #start) == start end,
  endswith = function(text, ending) return ending == "" or text:sub(-#ending) == ending end,
  in_fast_event = function() return false end,
  schedule = function(fn) loop():perform(function() fn() end) end,
  schedule_wrap = function(fn) return function(...) loop():perform(fn, ...) end end,
  defer_fn = function(fn, delay)
    local timer = uv.new_timer()
    timer:start(delay, 0, function()
      timer:close()
      fn()
    end)
    return timer
  end,
  fn = {
    tempname = function()
      local path = os.tmpname()
      os.remove(path)
      return path
    end,
    stdpath = function() return folder end, mkdir = function() end,
    has = function() return 1 end,
  },
  api = {}, ui = {}, lsp = {},
}

-- As much as nio needs: flat lists.
function vim.iter(list)
  local made = {}
  function made.flatten()
    return { totable = function() return flatten(list) end }
  end
  return made
end

function vim.tbl_extend(_, ...)
  local all = {}
  for _, part in ipairs { ... } do for key, value in pairs(part) do all[key] = value end end
  return all
end

function vim.wait(timeout, is_done, interval)
  if is_done() then return true end
  local deadline = ml.now() + timeout / 1000
  local held <close> = loop():every((interval or 200) / 1000, function()
    if is_done() then loop():stop() end
  end)
  repeat
    loop():run { timeout = math.max(0, deadline - ml.now()), until_handled = true }
  until is_done() or ml.now() >= deadline
  return is_done()
end
