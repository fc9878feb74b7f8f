-- Busted's options that have no effect of their own here: what holds in their place.
local foreign = {}

-- For each, why a value cannot be heeded; nil: it changes nothing.
local objections = {}

function objections.lua(_, given)
  if given["ignore-lua"] then return nil end
  return "tests run in moonloop itself, on Lua 5.4; leave it out, or add --ignore-lua"
end

function objections.loaders(names)
  for _, name in ipairs(names) do
    if name ~= "lua" then
      return ("there is no loader '%s', only 'lua'; compile the specs to Lua first"):format(name)
    end
  end
end

function objections.lang(name)
  if name == "en" then return nil end
  return ("messages are in English (en), got '%s'"):format(name)
end

function objections.version(given)
  return given and "use 'moonloop --version'" or nil
end

objections["enable-sound"] = function(given)
  return given and "sounds are not supported; leave it out" or nil
end

--- Why the value of an option cannot be heeded; nil if it can.
-- @param given all values by name
function foreign.objection(name, given)
  local object = objections[name]
  return object and given[name] ~= nil and object(given[name], given) or nil
end

--- The names of the options with objections, sorted.
foreign.names = { "enable-sound", "lang", "loaders", "lua", "version" }

--- What `-Xoutput FILE` means for the reporters that write a file with busted.
-- @return the list of outputs; or nil and a message
function foreign.outputs(outputs, arguments)
  if #arguments == 0 then return outputs end
  if #outputs == 1 and #arguments == 1 and not outputs[1]:find("=", 1, true) then
    return { outputs[1] .. "=" .. arguments[1] }
  end
  return nil, "-Xoutput: a reporter takes only a file; write --output NAME=FILE for each"
end

return foreign
