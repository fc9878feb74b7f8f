-- Items of any kind, timers too, are added to modes and removed from them (D2).
local ml = require "moonloop"
local loop = ml.current()
loop:add_common_mode "tracking"
local from, to = pipe()
local items = {
  ml.timer { every = 1, print }, ml.source { perform = print }, ml.port {},
  ml.observer { on = "exit", print }, ml.fd { fd = from, read = print },
}
for _, item in ipairs(items) do
  assert(#item:modes() == 0)
  assert(loop:add(item, { "a", "b" }) == item)
  assert(loop:contains(item, "a") and loop:contains(item, "b") and not loop:contains(item))
  assert(table.concat(item:modes(), ",") == "a,b")
  loop:remove(item, "a")
  assert(table.concat(item:modes(), ",") == "b")
  loop:remove(item, "b")
  loop:add(item, "common")
  assert(loop:contains(item, "common"))
  assert(table.concat(item:modes(), ",") == "default,tracking")
end
local modes = loop:modes()
for _, name in ipairs { "default", "tracking" } do
  local mode = modes[name]
  assert(mode.common and not mode.empty)
  assert(mode.timers == 1 and mode.sources == 1 and mode.ports == 1)
  assert(mode.observers == 1 and mode.fds == 1 and mode.blocks == 0)
end
assert(modes.a and not modes.a.common and modes.a.empty)
for _, item in ipairs(items) do item:invalidate() end
close(from) close(to)
assert(loop:modes().default.empty)
