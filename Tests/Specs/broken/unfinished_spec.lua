-- Words that got a name, but no function: none is passed over.
it "is told"
describe("a block", function()
  before_each "is told too"
  it "gets its function later" (function() end)
  pending "needs none"
end)
