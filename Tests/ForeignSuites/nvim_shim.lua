-- Stands for what the specs of async.nvim ask of Neovim: vim.schedule is a perform request,
-- vim.wait a nested run, vim.uv our luv.
local ml, uv = require "moonloop", require "moonloop.compat.uv"
local loop = ml.current()
-- Neovim has Lua 5.1's words.
unpack, loadstring = table.unpack, load
newproxy = function() return setmetatable({}, { __gc = true }) end
local function same(a, b)
  if a == b or type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for key, value in pairs(a) do if not same(value, b[key]) then return false end end
  for key in pairs(b) do if a[key] == nil then return false end end
  return true
end
vim = {
  uv = uv, deep_equal = same, log = { levels = { ERROR = 4 } }, notify = print,
  inspect = function(value)
    if type(value) ~= "table" then return tostring(value) end
    local parts = {}
    for key, one in pairs(value) do parts[#parts + 1] = key .. " = " .. vim.inspect(one) end
    return "{ " .. table.concat(parts, ", ") .. " }"
  end,
  tbl_count = function(t) local n = 0 for _ in pairs(t) do n = n + 1 end return n end,
  schedule = function(f) loop:perform(function() f() end) end,
}
function vim.wait(timeout, predicate)
  if predicate() then return true end
  local watcher <close> = loop:observer { on = "before_waiting",
    function() if predicate() then loop:stop() end end }
  local holder <close> = loop:port {}
  loop:run { timeout = (timeout or 0) / 1000 }
  return predicate() and true or false, -1
end
return {
  clear = function()
    for name in pairs(package.loaded) do
      if name:find "^async" then package.loaded[name] = nil end
    end
  end,
  exec_lua = function(code, ...)
    loop:run { timeout = 0 }  -- each call is a message to Neovim, whose loop turns for it
    if type(code) == "string" then code = assert(load(code)) end
    return code(...)
  end,
}
