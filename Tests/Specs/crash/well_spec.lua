-- Is run all the same.
it("is well", function() end)
