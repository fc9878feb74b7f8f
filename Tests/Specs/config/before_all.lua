-- Runs before all tests, with busted's functions.
local busted = require "busted"
busted.subscribe({ "suite", "end" }, function() print "# the helper is called at the end" end)
busted.before_each(function() busted.assert.is_table(busted.assert) end)
