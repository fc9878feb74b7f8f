-- Changes globals and modules, which the next file must not see.
_G.from_a = true
global_of_the_file = true  --luacheck: ignore
package.loaded["made.up"] = {}
string.shout = string.upper
it("sees its own", function()
  assert.is_true(from_a)
  assert.is_true(global_of_the_file)
  assert.is_table(require "made.up")
end)
