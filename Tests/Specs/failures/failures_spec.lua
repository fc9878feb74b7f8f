-- Each way in which a test can go wrong once.
local ml = require "moonloop"

it("compares tables", function()
  assert.same({ a = 1, b = { 2, 3 }, name = "hello" }, { a = 1, b = { 2, 4 }, name = "hallo" })
end)

it("compares strings", function() assert.equal("the quick brown fox", "the quick red fox") end)

it("compares long texts", function()
  local lines = {}
  for line = 1, 40 do lines[line] = ("line %d of the text"):format(line) end
  local expected = table.concat(lines, "\n")
  lines[20] = "line 20 of another text"
  table.remove(lines, 30)
  assert.equal(expected, table.concat(lines, "\n"))
end)

it("compares what looks alike", function() assert.same({ 1 }, { "1" }) end)

it("compares what must differ", function() assert.not_equal("0\n", "0\n") end)

it("says why another one failed", function()
  local ok, why = pcall(assert.equal, 3, 4)
  assert.equal(true, ok, tostring(why))
end)

it("says why", function() assert.equal(1, 2, "the count of users") end)

it("calls a function that fails", function()
  local function check(value) assert.is_true(value) end
  check(false)
end)

it("raises a string", function() error "no such thing" end)
it("raises a table", function() error { code = "EFAIL", list = { 1, 2 } } end)
it("raises nil", function() error(nil) end)
it("raises an object", function() error(setmetatable({}, { __tostring = "not a function" })) end)

it("indexes nil", function()
  local t
  return t.field
end)

it("fails in a handler", function(loop)
  loop:after(0, function() error "in a timer" end)
  ml.sleep(0.001)
end)

it("fails in a task", function(loop)
  loop:task({ name = "worker" }, function() error "in a task" end)
  ml.sleep(0)
end)

it("fails in a task that it awaits", function(loop)
  local function work() error "at work" end
  loop:task({ name = "worker" }, work):await()
end)

it("calls os.exit", function() os.exit(0) end)
it("calls os.exit and catches it", function() pcall(os.exit, true) end)

it("runs the rest after all that", function() assert.is_true(true) end)

it("fails in many tasks at once", function(loop)
  for _ = 1, 50 do loop:task(function() error("no server", 0) end) end
  ml.sleep(0.01)
end)

it("calls an assertion wrongly", function() assert.matches("200", nil) end)

it("fails in a finalizer", function()
  setmetatable({}, { __gc = function() error "in a finalizer" end })
  collectgarbage()
end)
