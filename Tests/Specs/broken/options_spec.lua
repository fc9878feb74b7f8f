-- Options that are wrong, each reported at its line.
assert.error_matches(function() it("x", { clok = "real" }, print) end, "did you mean 'clock'")
assert.error_matches(function() it("x", { timeout = 0 }, print) end, "'timeout' must be > 0")
assert.error_matches(function() it("x", { clock = "fast" }, print) end, "got 'fast'")
assert.error_matches(function() it("x", print, { timeout = 1 }) end,
  "it: takes a name, options and a function, in this order; got a table for the function")
assert.error_matches(function() it "x" (5) end, "got a number for the function")
it("x", { orders = 0 }, print)
