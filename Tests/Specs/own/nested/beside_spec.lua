-- Modules are found beside the spec file too.
it("finds modules beside its file", function()
  assert.equal("beside the spec", require "beside")
end)
