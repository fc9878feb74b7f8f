-- A file beside them that is well.
it("runs", function() end)
