-- LuaSocket on the clock of the test, in each block that loads it again.
local ml = require "moonloop"

for _, block in ipairs { "the first block", "the second block" } do
  insulate(block, function()
    it("sleeps on the clock of the test", { clock = "virtual" }, function()
      local socket = require "moonloop.compat.socket"
      assert.equal(socket, require "socket")
      local before, began = ml.now(), socket.gettime()
      require "socket".sleep(3600)
      assert.equal(3600, ml.now() - before)
      assert.is_true(socket.gettime() - began > 3599)
    end)
  end)
end
