-- Handles that are made in Lua: opaque like those of the host. Their metatable is closed, and what
-- they hold is kept where no script reaches it.
local host = require "moonloop.text.host"
local spelling = require "moonloop.text.spelling"

local handles = {}

--- Raises the mistake of a call without a handle before the dot.
function handles.refuse(name, method)
  host.mistake(("%s:%s: must be called with a colon"):format(name, method))
end

--- Closes a metatable, whose handles then have a name in messages and nothing else to see.
function handles.close(meta, name)
  meta.__name, meta.__metatable = name, name
  function meta.__newindex(_, key)
    host.mistake(("%s.%s: cannot be set"):format(name, tostring(key)))
  end
  return meta
end

--- A kind of handle. Its `make(state)` gives one, `of(handle, method)` what it was made with.
-- @param name what stands for a handle in messages
-- @param methods the methods; they may be added later, and `close` also ends a `<close>` variable
-- @param fields the fields, by name: functions of the state, which give the value
function handles.kind(name, methods, fields)
  local states = setmetatable({}, { __mode = "k" })
  local kind = { meta = handles.close({}, name) }

  function kind.of(handle, method) return states[handle] or handles.refuse(name, method) end

  function kind.make(state)
    local handle = setmetatable({}, kind.meta)
    states[handle] = state
    return handle
  end

  function kind.meta.__index(handle, key)
    if fields[key] then return fields[key](states[handle]) end
    if methods[key] then return methods[key] end
    local names = {}
    for field in pairs(fields) do names[#names + 1] = field end
    spelling.no_field(name, key, names, methods)
  end

  function kind.meta.__close(handle) methods.close(handle) end
  return kind
end

return handles
