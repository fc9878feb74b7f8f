-- One test, for what the options of busted do.
it("passes", function() end)
