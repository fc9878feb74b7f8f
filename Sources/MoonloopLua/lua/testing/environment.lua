-- The globals of spec files: each block has its own, sees those of the blocks around it, and an
-- insulated block leaves the real globals and the loaded modules as it found them.
local environment = {}

--- The block or test that runs or is being defined. Loop thread only; the runner enters and leaves.
local current
-- For each node that was entered: the state to restore when it is left, or false.
local saved = {}
local entered = {}

--- Modules that belong to the program stay loaded: their state is the loop's. But the one that
--- gives LuaSocket our clock goes with LuaSocket: the next one is to be given it anew.
local function is_ours(name)
  return name == "moonloop"
    or name:find("^moonloop%.") ~= nil and name ~= "moonloop.compat.socket"
end

local function copy(t)
  local result = {}
  for key, value in next, t do result[key] = value end
  return result
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

--- Where an assignment to a global goes: hooks write into their block, `expose` above its parent.
local function target(node)
  local levels = node.mode == "unwrap" and 1 or node.mode == "expose" and 2 or 0
  for _ = 1, levels do node = node and node.parent end
  return node
end

-- What all spec files have as their globals.
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

--- Makes a node the current one. Entering the current one again changes nothing but the depth.
function environment.enter(node)
  local state = false
  if node ~= current and node.mode == "insulate" then state = save() end
  entered[#entered + 1] = current or false
  saved[#saved + 1] = state
  current = node
end

--- Goes back to the node that was current before, and undoes what an insulated one did.
function environment.leave()
  local node = current
  local state = table.remove(saved)
  current = table.remove(entered) or nil
  if current ~= node then
    -- What is exposed is to survive the end of the block around it.
    if node.mode == "expose" and saved[#saved] then saved[#saved] = save() end
    if state then restore(state) end
  end
end

return environment
