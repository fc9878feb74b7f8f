-- What is covered: a line for each caller.
local covered = {}
function covered.by_test() return 1 end
function covered.by_task()
  return 2
end
function covered.by_timer() return 3 end
function covered.by_coroutine() return 4 end
function covered.by_nobody()
  return 5
end
return covered
