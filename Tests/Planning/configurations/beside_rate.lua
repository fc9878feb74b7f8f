-- For beside.lua.
return { every = 2, tick = function() end }
