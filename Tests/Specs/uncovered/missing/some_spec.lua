-- Not run: what --coverage needs is not there.
it("is not run", function() end)
