-- Chooses the tests to run, by name, pattern and tag, as busted does.
local memory = require "moonloop.testing.memory"

local filter = {}

--- The names of a node and the blocks around it, without the file's, joined by blanks.
function filter.full_name(node, name)
  local names = { name or node.name }
  local parent = node.parent
  while parent and parent.kind ~= "file" and parent.kind ~= "suite" do
    table.insert(names, 1, parent.name or parent.kind)
    parent = parent.parent
  end
  return table.concat(names, " ")
end

--- Whether `#tag` is a word in a text.
local function has_tag(text, tag)
  local at = 1
  while true do
    local first, last = text:find("#" .. tag, at, true)
    if not first then return false end
    if not text:sub(last + 1, last + 1):find("[%w_-]") then return true end
    at = last + 1
  end
end

local function any(list, holds)
  for _, item in ipairs(list) do
    if holds(item) then return true end
  end
  return false
end

--- The tags in a node's options, written as they appear in names.
local function with_tags(node)
  local text = node.name or ""
  for _, tag in ipairs(node.options.tags or {}) do text = text .. " #" .. tag end
  return text
end

local function with_all_tags(node)
  local text = ""
  while node and node.kind ~= "file" and node.kind ~= "suite" do
    text = with_tags(node) .. " " .. text
    node = node.parent
  end
  return text
end

--- Whether a node or a block around it has the option `only`.
local function is_marked(node)
  while node do
    if node.options and node.options.only then return true end
    node = node.parent
  end
  return false
end

-- Whether a node is in one of a set of files, if there is one.
local function is_in_one_of(node, files)
  while files and node do
    if node.kind == "file" then return files[memory.plain(node.name)] or false end
    node = node.parent
  end
  return false
end

--- Makes the filter: a function that tells whether a node should run.
-- @param options lists: filter, filter_out, name, tags, exclude_tags, exclude_names; and `only`;
--   `whole_files`, files whose names do not matter
function filter.make(options)
  return function(node)
    local full = filter.full_name(node)
    local function matches(pattern) return full:find(pattern) ~= nil end
    local function is_full_name(name) return name == full end
    if any(options.exclude_tags, function(tag) return has_tag(with_tags(node), tag) end) then
      return false
    end
    if any(options.filter_out, matches) or any(options.exclude_names, is_full_name) then
      return false
    end
    if node.kind == "describe" then return true end  -- its tests are filtered one by one
    if options.only and not is_marked(node) then return false end
    if #options.tags > 0 then
      local text = with_all_tags(node)
      if not any(options.tags, function(tag) return has_tag(text, tag) end) then return false end
    end
    if is_in_one_of(node, options.whole_files) then return true end
    local is_named = #options.name > 0 or options.whole_files
    if is_named and not any(options.name, is_full_name) then return false end
    return #options.filter == 0 or any(options.filter, matches)
  end
end

return filter
