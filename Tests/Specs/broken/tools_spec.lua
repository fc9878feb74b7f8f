-- The first parameter of a test is its loop, not its tools.
it("takes the loop for the tools", function(t) t:spawn { "true" } end)
