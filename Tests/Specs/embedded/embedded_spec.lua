-- Run by a Swift test, which gives it `add`.
it("calls the program", function() assert.equal(5, add(2, 3)) end)
it("has its own loop", { clock = "virtual" }, function(loop, clock)
  local fired = false
  loop:after(3600, function() fired = true end)
  clock:advance(3600)
  assert.is_true(fired)
end)
pending "more"
