-- The third parameter of a test: what it needs to drive real programs.
local tools = {}
tools.__index = tools

--- Makes the tools of a test.
function tools.new(node, options)
  return setmetatable({ node = node, options = options, actions = {} }, tools)
end

--- What is to be done when the test has ended, last things first.
function tools.endings(t)
  local list = {}
  for index = #t.actions, 1, -1 do list[#list + 1] = t.actions[index] end
  return list
end

--- Forgets what belongs to a spec file.
function tools.forget_file() end

return tools
