-- Ends the process in the middle of its tests.
it("runs", function() end)
it("ends the process", function() os.exit(5) end)
it("never runs", function() end)
