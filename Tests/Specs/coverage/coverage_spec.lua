-- Lines are counted wherever they run: in tests, in tasks, in handlers, in coroutines.
local covered = require "covered"
local luacov = require "luacov.runner"
local ml = require "moonloop"

it("counts what a test runs", function(loop)
  covered.by_test()
  for _ = 1, 2 do
    loop:task(function()
      ml.sleep(0)
      covered.by_task()
    end):await()
  end
  loop:after(0, function() covered.by_timer() end)
  coroutine.wrap(covered.by_coroutine)()
  loop:run()
end)

it("has counted each line", function()
  assert.is_true(luacov.initialized)
  assert.equal("settings", luacov.configuration.file)
  assert.same({
    [2] = 1, [3] = 2, [4] = 1, [5] = 2, [6] = 1, [7] = 2, [8] = 2, [9] = 1, [11] = 1, [12] = 1,
  }, luacov.lines["./covered.lua"])
  local files = {}
  for file in pairs(luacov.lines) do files[#files + 1] = file end
  table.sort(files)
  assert.same({ "./covered.lua", "coverage_spec.lua" }, files)
  assert.same({ "^defaults$" }, luacov.defaults.exclude)
end)
