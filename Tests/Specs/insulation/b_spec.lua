-- Comes after a_spec.lua.
it("sees nothing of the file before", function()
  assert.is_nil(from_a)
  assert.is_nil(global_of_the_file)
  assert.is_nil(package.loaded["made.up"])
end)
expose("an exposed block", function()
  shared = 1  --luacheck: ignore
  it("sets globals for those around it", function() assert.equal(1, shared) end)
end)
it("sees what was exposed", function() assert.equal(1, shared) end)
