-- What a test or a block leaves behind is named, with the line that made it.
local ml = require "moonloop"

it("leaves a timer", function(loop) loop:timer { every = 10, name = "poll", print } end)

it("leaves a task", function(loop)
  loop:task({ name = "worker" }, function() ml.sleep(1000) end)
  ml.sleep(0)
end)

it("leaves a source and an observer", function(loop)
  loop:source { name = "commands", perform = print }
  loop:observer { on = "exit", print }
end)

it("ends what it began", function(loop)
  local timer <close> = loop:every(1, print)
  local task = loop:task(function() ml.sleep(1000) end)
  ml.sleep(0)
  task:cancel "done"
end)

it("is allowed to", { leaks = "allow" }, function(loop) loop:every(1, print) end)

describe("a block", function()
  setup(function() ml.current():every(1, print) end)
  it("leaves its timer", function() end)
end)
