-- The globals of spec files. Each block has its own and sees those of the blocks around it; an
-- insulated block restores the real globals and the loaded modules when it ends.
local copy = require("moonloop.text.lists").copy

local environment = {}

--- The block or test that runs or is being defined. Loop thread only; set by the runner.
local current
-- For each entered node: the state to restore when it is left, or false.
local saved = {}
local entered = {}

--- Modules of the program stay loaded, since their state is the loop's. But the module that gives
--- LuaSocket our clock goes with LuaSocket, because the next LuaSocket needs it again.
local function is_ours(name)
  return name == "moonloop"
    or name:find("^moonloop%.") ~= nil and name ~= "moonloop.compat.socket"
end

local function save()
  return { meta = debug.getmetatable(_G), globals = copy(_G), loaded = copy(package.loaded) }
end

local function restore(state)
  debug.setmetatable(_G, state.meta)
  for key in next, copy(_G) do rawset(_G, key, state.globals[key]) end
  for key, value in next, state.globals do rawset(_G, key, value) end
  local loaded = package.loaded
  for name in next, copy(loaded) do
    if state.loaded[name] == nil and not is_ours(tostring(name)) then loaded[name] = nil end
  end
  for name, module in next, state.loaded do loaded[name] = module end
end

--- Where global assignments go: hooks write to their block, `expose` above its parent.
local function target(node)
  local levels = node.mode == "unwrap" and 1 or node.mode == "expose" and 2 or 0
  for _ = 1, levels do node = node and node.parent end
  return node
end

-- The globals of all spec files.
environment.globals = setmetatable({}, {
  __index = function(_, key)
    local node = current
    while node do
      local value = node.env and node.env[key]
      if value ~= nil then return value end
      node = node.parent
    end
    return _G[key]
  end,
  __newindex = function(_, key, value)
    local node = target(current)
    if not node then
      _G[key] = value
    else
      node.env = node.env or {}
      node.env[key] = value
    end
  end,
})

function environment.current() return current end

--- Makes a node the current one. Entering the current node again only counts.
function environment.enter(node)
  local state = false
  if node ~= current and node.mode == "insulate" then state = save() end
  entered[#entered + 1] = current or false
  saved[#saved + 1] = state
  current = node
end

--- Makes the previous node current again, and undoes what an insulated one did.
function environment.leave()
  local node = current
  local state = table.remove(saved)
  current = table.remove(entered) or nil
  if current ~= node then
    -- What is exposed survives the end of the block around it.
    if node.mode == "expose" and saved[#saved] then saved[#saved] = save() end
    if state then restore(state) end
  end
end

return environment
