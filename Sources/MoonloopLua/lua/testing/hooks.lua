-- What runs around tests: setup and teardown of blocks, before_each and after_each of tests.
--
-- The order is busted's: outer befores first, outer afters last. A failing before_each skips those
-- further in; then only the after_eachs from its own block outwards run.
local hooks = {}

local function list(block, kind) return block.hooks[kind] or {} end

--- Runs the hooks of one block, all of them even if one fails.
-- @param call runs a hook and returns whether it went well
local function all(block, kind, call)
  local is_well = true
  for _, hook in ipairs(list(block, kind)) do
    if not call(hook) then is_well = false end
  end
  return is_well
end

--- Runs a block's strict setups, before its first child.
function hooks.setup(block, call) return all(block, "strict_setup", call) end

--- Runs the lazy setups of a block and those around it, each once and before the first test.
function hooks.lazy_setup(block, call)
  if block.parent and not hooks.lazy_setup(block.parent, call) then return false end
  if block.lazy_is_well == nil then block.lazy_is_well = all(block, "lazy_setup", call) end
  return block.lazy_is_well
end

--- Whether a block or one around it has lazy setups that have not run yet.
function hooks.has_lazy(block)
  while block do
    if block.lazy_is_well == nil and #list(block, "lazy_setup") > 0 then return true end
    block = block.parent
  end
  return false
end

--- Runs a block's teardowns; the lazy ones only if its lazy setups have run.
function hooks.teardown(block, call)
  if block.lazy_is_well ~= nil then
    all(block, "lazy_teardown", call)
    block.lazy_is_well = nil
  end
  all(block, "strict_teardown", call)
end

--- Runs the before_eachs of a block and of those around it.
-- @return whether all went well, and the block at which the after_eachs must start
function hooks.before_each(block, call)
  if block.parent then
    local is_well, ancestor = hooks.before_each(block.parent, call)
    if not is_well then return false, ancestor end
  end
  return all(block, "before_each", call), block
end

--- Runs the after_eachs of a block and of those around it.
function hooks.after_each(block, call)
  all(block, "after_each", call)
  if block.parent then hooks.after_each(block.parent, call) end
end

return hooks
