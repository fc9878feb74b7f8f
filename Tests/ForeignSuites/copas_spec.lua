-- copas's own tests, unmodified, on the clock of the test: `scripts/foreign-suites` runs this.
local folder = assert(os.getenv "COPAS", "COPAS is to name a checkout of copas")

-- Those that pass on stock Lua without TLS and without servers elsewhere.
local names = {
  "close", "errhandlers", "exit", "exittest", "future", "http-timeout", "lock", "loop_starter",
  "pause", "queue", "removeserver", "removethread", "semaphore", "starve", "tcptimeout",
  "timeout_errors", "timer", "udptimeout",
}

--- Makes os.exit end a test where a program would end: at the latest when copas next waits.
-- @return the value it was ended with, and a function that restores os.exit
local function catch_exit(socket)
  local ended = setmetatable({}, { __tostring = function() return "os.exit" end })
  local exit = os.exit
  os.exit = function(code)
    ended.code = code or 0
    error(ended, 0)
  end
  for _, name in ipairs { "select", "sleep" } do
    local original = socket[name]
    socket[name] = function(...)
      if ended.code then error(ended, 0) end
      return original(...)
    end
  end
  return ended, setmetatable({}, { __close = function() os.exit = exit end })
end

for _, name in ipairs(names) do
  insulate(name, function()
    it("ends well", function()
      local ended, restored <close> = catch_exit(require "moonloop.compat.socket")
      _G.print = function() end
      local ok, problem = pcall(dofile, ("%s/tests/%s.lua"):format(folder, name))
      if not ok and problem ~= ended then error(problem, 0) end
      assert.equal(0, ended.code or 0)
    end)
  end)
end
