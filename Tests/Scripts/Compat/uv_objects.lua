-- luv objects are userdata, with the methods of their class and no fields.
local uv = require "moonloop.compat.uv"

local function refused(message, fn, ...)
  local ok, given = pcall(fn, ...)
  assert(not ok and given:find(message, 1, true), given)
end

local tcp = uv.new_tcp()
assert(type(tcp) == "userdata" and tostring(tcp):find "^uv_tcp_t: 0x%x+$", tostring(tcp))
assert(tcp == tcp and tcp:get_type() == "tcp" and tcp.nothing == nil)
refused("attempt to index a uv_tcp value", function() tcp.field = 1 end)
refused("Expected uv_timer userdata", uv.timer_start, tcp, 1, 0, print)
refused("Expected uv_handle userdata", uv.close, {})

-- The methods that scripts see are luv's.
local listed = {}
for name, method in pairs(getmetatable(uv.new_timer()).__index) do
  assert(type(method) == "function")
  listed[#listed + 1] = name
end
table.sort(listed)
assert(table.concat(listed, " ") == "again close fileno get_due_in get_repeat get_type has_ref "
  .. "is_active is_closing recv_buffer_size ref send_buffer_size set_repeat start stop unref",
  table.concat(listed, " "))

local seen = {}
uv.walk(function(handle)
  seen[#seen + 1] = handle:get_type()
  if handle:get_type() == "tcp" then assert(handle == tcp) end
  handle:close()
end)
assert(table.concat(seen, " ") == "tcp timer", table.concat(seen, " "))
uv.run()

-- Requests too, as well as folders, threads and work.
local req = uv.fs_stat("/", function() end)
assert(type(req) == "userdata" and tostring(req):find "^uv_fs_t: 0x" and req:get_type() == "fs")
refused("Expected uv_req userdata", uv.cancel, tcp)
uv.run()
assert(type(uv.fs_scandir "/") == "userdata" and type(uv.fs_opendir "/") == "userdata")
local results
local work = uv.new_work(function(thread, value)
  local luv = require "luv"
  return luv.thread_self(), luv.thread_self() == thread, value, tostring(luv.thread_self())
end, function(...) results = table.pack(...) end)
assert(tostring(work):find "^luv_work_ctx_t: 0x")
work:queue(uv.thread_self(), 7)
uv.run()
assert(type(results[1]) == "userdata" and results[2] == false and results[3] == 7)
assert(results[1] ~= uv.thread_self() and uv.thread_self() == uv.thread_self())
assert(tostring(results[1]) == results[4])
assert(select(3, uv.thread_self():join()) == "EINVAL")
