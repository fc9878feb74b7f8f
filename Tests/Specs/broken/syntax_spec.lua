-- A file that does not compile: told once, and the other files run.
it("is never defined", function(
