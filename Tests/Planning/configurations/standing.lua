-- A source that signals itself forever: the clock never moves.
local source
return {
  sources = {
    spin = { schedule = function(self) source = self self:signal() end,
      perform = function() source:signal() end },
  },
}
