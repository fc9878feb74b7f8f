-- Options that are wrong, each reported at its line.
assert.error_matches(function() it("x", { clok = "real" }, print) end, "did you mean 'clock'")
assert.error_matches(function() it("x", { timeout = 0 }, print) end, "'timeout' must be > 0")
assert.error_matches(function() it("x", { clock = "fast" }, print) end, "got 'fast'")
it("x", { orders = 0 }, print)
