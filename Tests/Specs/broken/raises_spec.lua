-- A file that fails while it defines its tests.
it("is not run", function() error "never" end)
local undefined = nil
undefined.field = 1
