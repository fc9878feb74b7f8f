-- A file that does not compile: reported once, and the other files run.
it("is never defined", function(
