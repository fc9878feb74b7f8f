-- What a test or a block leaves behind is named, with the line that made it.
local bed = require "moonloop.testing.bed"
local ml = require "moonloop"

it("leaves a timer", function(loop) loop:timer { every = 10, name = "poll", print } end)

it("leaves a task", function(loop)
  loop:task({ name = "worker" }, function() ml.sleep(1000) end)
  ml.sleep(0)
end)

it("leaves a source and an observer", function(loop)
  loop:source { name = "commands", perform = print }
  loop:observer { on = "exit", function() end }
end)

it("leaves a port, a block and a signal", function(loop)
  loop:port { name = "jobs", print }
  loop:perform({ modes = "other" }, print)
  loop:signal("usr2", print)
end)

it("leaves a child", function() ml.process.spawn { "sleep", "1000" } end)

it("leaves a worker", function(_, _, t)
  local path = t:file("idle.lua", "require 'moonloop'.current():after(1000, print)")
  ml.worker { path }
end)

it("leaves a file watch", function(loop, _, t) loop:watch { t:tmpdir(), name = "w", print } end)

it("leaves a descriptor", function(loop)
  local from, to = bed.pipe()
  loop:fd { fd = from, name = "pipe", read = function() end }
  bed.close(to)
end)

it("leaves servers", function()
  ml.net.listen { host = "127.0.0.1", port = 0, print }
  ml.http.serve { host = "127.0.0.1", port = 0, print }
  ml.net.udp { host = "127.0.0.1", port = 0, print }
end)

describe("streams", function()
  local kept
  it("are left open by who keeps them", function()
    local from, to = bed.pipe()
    kept = { ml.stream { fd = from }, ml.stream { fd = to, read = false } }
  end)
  it("end with the test that had them", function()
    local from, to = bed.pipe()
    local streams = { ml.stream { fd = from }, ml.stream { fd = to, read = false } }
    assert.equal(2, #streams)
    assert.is_false(kept[1]:is_valid())
  end)
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

describe("what a block has", function()
  local timer
  local function again() timer = ml.current():every(1, print) end
  setup(again)
  teardown(function() timer:invalidate() end)
  it("is the block's", function() end)
  it("is another thing when it is made again", function()
    timer:invalidate()
    again()
  end)
end)

describe("a connection of a block", function()
  local server, client
  setup(function()
    server = ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
      for line in stream:lines() do stream:write(line:upper(), "\n") end
    end }
    client = ml.net.connect { host = "127.0.0.1", port = server.port }
  end)
  teardown(function()
    client:close()
    server:invalidate()
  end)
  for _, word in ipairs { "one", "two" } do
    it("serves its tests: " .. word, function()
      client:write(word, "\n")
      assert.equal(word:upper(), client:read())
    end)
  end
end)

describe("what no loop holds", function()
  local kept = {}
  teardown(function()
    if not kept.fd then return end  -- these tests were not selected
    kept.file:close()
    kept.log:close()
    kept.port:invalidate()
    kept.socket:close()
    require("moonloop.compat.uv").fs_close(kept.fd)
  end)
  it("is an open file", function() kept.file = ml.fs.open "/dev/null" end)
  it("is a log that goes to a file", function() kept.log = ml.log { to = "/dev/null" } end)
  it("is a port that sends", function()
    kept.port = ml.port { name = "jobs", over = "redis://127.0.0.1:1" }
  end)
  it("is a socket of LuaSocket", function()
    kept.socket = require("moonloop.compat.socket").bind("127.0.0.1", 0)
  end)
  it("is a descriptor of luv", function()
    kept.fd = require("moonloop.compat.uv").fs_open("/dev/null", "r", 438)
  end)
  it("is nothing that was closed", function()
    local file <close> = ml.fs.open "/dev/null"
    local log <close> = ml.log { to = "/dev/null" }
    ml.log {}
    ml.port({ name = "jobs", over = "redis://127.0.0.1:1" }):invalidate()
    require("moonloop.compat.socket").tcp():close()
  end)
  it("is nothing that is collected, which is warned about once", function()
    for _ = 1, 3 do ml.fs.open "/dev/null" end
    collectgarbage()
    collectgarbage()
  end)
end)

describe("a handler that waits", function()
  it("is listed, and its timer not beside it", function(loop)
    loop:every(0.01, function() ml.sleep(5) end)
    ml.sleep(0.05)
  end)
end)
