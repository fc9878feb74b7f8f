-- Errors in hooks: each is reported, none hides another, and the rest of the file runs.
describe("setup that fails", function()
  setup(function() error "setup" end)
  teardown(function() error "teardown" end)
  it("does not run", function() error "never" end)
end)

describe("before_each that fails", function()
  before_each(function() error "before" end)
  after_each(function() error "after" end)
  it("does not run", function() error "never" end)
  describe("further in", function()
    before_each(function() error "never" end)
    after_each(function() error "never" end)
    it("does not run either", function() error "never" end)
  end)
end)

describe("after_each that fails", function()
  after_each(function() error "first after" end)
  after_each(function() assert.equal(1, 2) end)
  it("runs", function() end)
  it("fails too", function()
    finally(function() error "finally" end)
    error "body"
  end)
end)

describe("lazy setup that fails", function()
  lazy_setup(function() error "lazy setup" end)
  lazy_teardown(function() error "lazy teardown" end)
  it("does not run", function() error "never" end)
end)

describe("body that fails", function()
  it("is not run", function() error "never" end)
  error "body of the block"
end)

describe("pending in a hook", function()
  before_each(function() pending "not here" end)
  it("does not run", function() error "never" end)
end)

describe("hooks that compare tables", function()
  setup(function() assert.same({ a = 1 }, { a = 2 }) end)
  teardown(function() assert.same({ code = 0 }, { code = 1 }) end)
  it("does not run", function() error "never" end)
end)

describe("a body that compares tables", function() assert.same({ 1 }, { 2 }) end)

it("runs after all that", function() end)
