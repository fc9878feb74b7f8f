-- The first parameter of a test is its loop, not its tools.
it("names what is wrong with arguments", { clock = "virtual" }, function(_, clock, t)
  assert.error_matches(function() t:file("a") end,
    "^t:file: the text must be a string, got nil$")
  assert.error_matches(function() finally(5) end,
    "^finally: takes a function, got a number$")
  assert.error_matches(function() clock:advance "1" end, 'got "1"$')
  assert.error_matches(function() clock:advance(1/0) end, "must be a finite number >= 0, got inf$")
end)
it("takes the loop for the tools", function(t) t:spawn { "true" } end)
