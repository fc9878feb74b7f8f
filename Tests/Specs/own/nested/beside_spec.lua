it("finds modules beside its file", function()
  assert.equal("beside the spec", require "beside")
end)
