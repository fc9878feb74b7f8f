-- The words of a spec file, as in busted: each adds a node to the block being defined.
local environment = require "moonloop.testing.environment"
local failure = require "moonloop.testing.failure"
local spelling = require "moonloop.text.spelling"

local words = {}

-- What the words stand for, and how such a node treats globals (see environment).
local table_of_words = {
  describe = { kind = "describe" }, context = { kind = "describe" },
  insulate = { kind = "describe", mode = "insulate" },
  expose = { kind = "describe", mode = "expose" },
  it = { kind = "it" }, spec = { kind = "it" }, test = { kind = "it" },
  pending = { kind = "pending" },
  before_each = { kind = "before_each", mode = "unwrap" },
  after_each = { kind = "after_each", mode = "unwrap" },
  strict_setup = { kind = "strict_setup", mode = "unwrap" },
  strict_teardown = { kind = "strict_teardown", mode = "unwrap" },
  lazy_setup = { kind = "lazy_setup", mode = "unwrap" },
  lazy_teardown = { kind = "lazy_teardown", mode = "unwrap" },
  setup = { kind = "strict_setup", mode = "unwrap" },
  teardown = { kind = "strict_teardown", mode = "unwrap" },
}

local is_block = { suite = true, file = true, describe = true }
local is_judged = { describe = true, it = true, pending = true }

local test_options = {
  clock = "string", timeout = "number", orders = "number", seed = "any", tags = "table",
  leaks = "string", only = "boolean",
}
local clocks = { real = true, virtual = true, skip_idle = true }

--- Decides whether a node runs; set by the runner.
function words.wants() return true end

local function nothing() end

local function is_callable(value)
  if type(value) == "function" then return true end
  local meta = debug.getmetatable(value)
  return meta ~= nil and meta.__call ~= nil
end

--- Where the spec file called a word: the first frame that is not ours or luassert's.
local function call_site()
  local level = 3
  while true do
    local info = debug.getinfo(level, "Sl")
    if not info then return { short_src = "?", currentline = 0, source = "?", what = "C" } end
    local is_hidden = info.what == "C" or info.source:find("^[@=]?moonloop/testing")
    if not is_hidden then return info end
    level = level + 1
  end
end

local option_names = { "clock", "leaks", "only", "orders", "seed", "tags", "timeout" }

local function check_options(word, options)
  for key, value in pairs(options) do
    local wanted = test_options[key]
    if not wanted then
      error(("%s: unknown option '%s'%s"):format(word, tostring(key),
        spelling.hint(tostring(key), option_names, "the options are")), 3)
    end
    if wanted ~= "any" and type(value) ~= wanted then
      error(("%s: '%s' must be a %s, got %s"):format(word, key, wanted, type(value)), 3)
    end
  end
  if options.clock and not clocks[options.clock] then
    error(("%s: 'clock' must be 'real', 'virtual' or 'skip_idle', got '%s'"):format(
      word, options.clock), 3)
  end
  if options.timeout and not (options.timeout > 0) then
    error(("%s: 'timeout' must be > 0 seconds, got %s"):format(word, options.timeout), 3)
  end
  if options.orders and (options.orders < 1 or math.type(options.orders) ~= "integer") then
    error(("%s: 'orders' must be a whole number of at least 1, got %s"):format(
      word, options.orders), 3)
  end
  if options.leaks and options.leaks ~= "fail" and options.leaks ~= "allow" then
    error(("%s: 'leaks' must be 'fail' or 'allow', got '%s'"):format(word, options.leaks), 3)
  end
end

--- Adds a node to the current block.
local function add(word, name, options, fn, site)
  local about = table_of_words[word]
  local block = environment.current()
  local node = {
    kind = about.kind, word = word, mode = about.mode, name = name, options = options, run = fn,
    trace = site, parent = block, children = {}, hooks = {},
    descriptor = about.kind, attributes = { envmode = about.mode },  -- busted's names for these
  }
  if is_judged[node.kind] then
    if words.wants(node) then table.insert(block.children, node) end
  else
    local hooks = block.hooks[node.kind] or {}
    block.hooks[node.kind] = hooks
    hooks[#hooks + 1] = node
  end
end

-- What stands behind the name and the options.
local function check_function(word, fn)
  if is_callable(fn) then return end
  error(("%s: takes a name, options and a function, in this order; got a %s for the function")
    :format(word, type(fn)), 3)
end

local function reject(word)
  error(("'%s' not supported inside current context block"):format(word), 3)
end

--- `word(name, options, fn)`, `word(name, fn)`, `word(fn)` or `word(name)(fn)`.
local function define(word, name, options, fn)
  local block = environment.current()
  if word == "pending" and block and block.kind == "it" and block.phase == "body" then
    failure.pending(name)
  end
  if not block or not is_block[block.kind] then reject(word) end
  if not options and not fn and is_callable(name) then
    name, fn = nil, name
  elseif not fn and is_callable(options) then
    options, fn = nil, options
  end
  if options ~= nil and type(options) ~= "table" then options = nil end
  options = options or {}
  if fn ~= nil then check_function(word, fn) end
  check_options(word, options)
  if not fn and word == "pending" then fn = nothing end
  local site = call_site()
  if fn then return add(word, name and tostring(name) or word, options, fn, site) end
  local unfinished = { word = word, name = name, site = site }
  block.unfinished = block.unfinished or {}
  block.unfinished[#block.unfinished + 1] = unfinished
  return function(later)
    unfinished.is_finished = true
    check_function(word, later)
    return add(word, name and tostring(name) or word, options, later, site)
  end
end

--- The words of a block that never got a function: a list of { word, name, site }.
function words.unfinished(block)
  local list = {}
  for _, one in ipairs(block.unfinished or {}) do
    if not one.is_finished then list[#list + 1] = one end
  end
  block.unfinished = nil
  return list
end

--- `randomize()`, `randomize(seed)`, `randomize(true, seed)`, `randomize(false)`: for this block.
local function randomize(...)
  local block = environment.current()
  if not block or not is_block[block.kind] then reject("randomize") end
  local first, second = ...
  block.is_random = select("#", ...) == 0 or (first and true or false)
  if block.is_random then block.seed = tonumber(first) or tonumber(second) end
end

--- The words by name.
-- @param lazy whether `setup` and `teardown` mean the lazy ones
function words.all(lazy)
  table_of_words.setup.kind = lazy and "lazy_setup" or "strict_setup"
  table_of_words.teardown.kind = lazy and "lazy_teardown" or "strict_teardown"
  local all = { randomize = randomize }
  for word in pairs(table_of_words) do
    all[word] = function(name, options, fn) return define(word, name, options, fn) end
  end
  return all
end

--- `finally(fn)` of a test.
-- @param take gets the function
function words.finally(take)
  return function(fn)
    if not is_callable(fn) then
      error(("finally: takes a function, got a %s"):format(type(fn)), 2)
    end
    take(fn)
  end
end

return words
