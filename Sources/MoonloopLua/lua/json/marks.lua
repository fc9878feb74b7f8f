-- What JSON has and Lua does not: null as a value, and empty objects.
local marks = {
  -- The metatable of a table that is an object even if it is empty or begins with a 1.
  object = {},
}

--- Stands for null where nil would be lost. Compare it with `==`.
marks.null = setmetatable({}, {
  __tostring = function() return "null" end,
  __newindex = function() error("json: null cannot have fields", 2) end,
  __metatable = false,
})

return marks
