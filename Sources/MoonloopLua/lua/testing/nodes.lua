-- Nodes of the tree of blocks, hooks and tests: where they are, how reports name them.
local filter = require "moonloop.testing.filter"

local nodes = {}

--- "file:line" of a site; nil if that has no line.
function nodes.place(site)
  return site and site.currentline > 0 and ("%s:%d"):format(site.short_src, site.currentline) or nil
end

--- The file that a node is in.
function nodes.file_of(node)
  while node and node.kind ~= "file" do node = node.parent end
  return node
end

--- An option of a node, inherited from the blocks around it.
function nodes.option(node, name)
  while node do
    if node.options and node.options[name] ~= nil then return node.options[name] end
    node = node.parent
  end
  return nil
end

--- The name in reports of what failed outside of a test.
function nodes.title(node)
  if node.kind == "describe" then return "the block " .. filter.full_name(node) end
  if node.kind == "it" or node.kind == "file" then return node.name end
  if node.kind == "suite" then return "the run" end
  local parent = node.parent
  if parent.kind == "suite" then return node.word .. " of the run" end
  return node.word .. " of " .. (parent.kind == "file" and parent.name or filter.full_name(parent))
end

return nodes
