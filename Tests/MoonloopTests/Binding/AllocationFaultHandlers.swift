// A script for each kind of handler, whose body allocates in every way; `AllocationFaultTests`
// makes the allocations fail.

extension AllocationFaultTests {
  /// `busy` allocates, closes, catches errors, and waits where it may.
  static let handlerPrelude = """
    local ml = require "moonloop"
    local loop = ml.current()
    local function busy(...)
      local t = { ... }
      local x <close> = setmetatable({}, { __close = function() t.closed = ("y"):rep(60) end })
      for i = 1, 5 do t[i] = { name = "n" .. i, f = function() return t[i] end } end
      table.sort(t, function(a, b) return a.name < b.name end)
      t.text = ("abc"):gsub("%w", function(c) return c .. c end) .. tostring(t)
      t.made = coroutine.wrap(function(a) local b = coroutine.yield({ a }) return { b } end)
      t.made(1) t.made(2)
      pcall(error, { message = "x" })
      setmetatable({}, { __gc = function() t.gone = {} end })
      return t
    end
    local function waiting(...) busy(...) ml.sleep(0.01) return busy(...) end

    """

  static let handlers: [(name: String, text: String)] = [
    ("timer", "loop:timer { first = 0.1, every = 1, function(t) waiting(t) t:invalidate() end }"),
    (
      "timer at a wall-clock date",
      "loop:at(os.time() + 1, busy)"
    ),
    (
      "source",
      """
      local s = loop:source { schedule = busy, cancel = busy,
        perform = function(s) waiting(s) s:invalidate() end }
      s:signal()
      """
    ),
    (
      "descriptor",
      """
      local from, to = pipe()
      loop:fd { fd = from, close = true,
        read = function(fd) waiting(fd:read(9)) fd:invalidate() end }
      loop:fd { fd = to, close = true,
        write = function(fd) fd:write "some" busy(fd) fd:invalidate() end }:enable "write"
      """
    ),
    (
      "observer",
      """
      loop:observer { on = { "entry", "before_timers", "before_sources", "before_waiting",
        "after_waiting", "exit" }, busy }
      loop:after(0.1, busy)
      """
    ),
    (
      "port, reply and request",
      """
      local p = loop:port { function(port, message, reply) reply { waiting(message) and 1 } end }
      p:send { 1, { 2 } }
      loop:task(function() busy(p:request({ q = 1 }, { timeout = 5 })) p:invalidate() end)
      """
    ),
    (
      "performed function",
      """
      loop:perform(waiting, 1, {})
      loop:perform({ as_source = true }, busy, 1)
      loop:perform_after({ after = 0.1 }, busy, 1)
      """
    ),
    (
      "task",
      """
      local queue, gate = ml.channel(1), ml.semaphore(1)
      loop:task(function(scope)
        local a, b = scope:task(waiting, 1), scope:task(waiting, 2)
        busy(a:await(), b:await())
        pcall(ml.timeout, 0.1, ml.sleep, 1)
        gate:with(waiting)
      end)
      loop:task(function() for i = 1, 3 do queue:send { i } end queue:close() end)
      loop:task(function() for item in queue:items() do waiting(item) end end)
      local failing = loop:task(function() waiting() error { code = "E" } end)
      loop:task(function() busy(pcall(failing.await, failing)) end)
      local long = loop:task(function() local x <close> = busy().x ml.sleep(100) end)
      loop:after(0.2, function() long:cancel "enough" end)
      busy(loop:task(waiting):wait())
      """
    ),
    (
      "callback that is awaited",
      "busy(ml.await(function(resume) return loop:after(0.1, function() busy() resume(1) end) end))"
    ),
    (
      "nested run",
      """
      loop:after(0.1, function()
        loop:timer { first = 0.1, modes = "inner", function() busy() loop:stop { 1 } end }
        busy(loop:run { mode = "inner", timeout = 5 })
      end)
      """
    ),
    (
      "error handlers",
      """
      loop.on_error = function(e) busy(e.message, e.traceback, e.handle) end
      loop:after(0.1, function() error "one" end)
      loop:timer { first = 0.2, on_error = busy, function() error { "two" } end }
      local object = setmetatable({}, { __tostring = function() return "three" end })
      loop:perform(function() error(object) end)
      """
    ),
    (
      "finalizer and closing",
      """
      for i = 1, 3 do setmetatable({}, { __gc = busy }) end
      loop:after(0.1, function() collectgarbage() local x <close> = loop:every(9, busy) end)
      """
    ),
    (
      "stream",
      """
      local from, to = pipe()
      local reader = ml.stream { fd = from, close = true }
      local writer = ml.stream { fd = to, close = true }
      loop:task(function() writer:write("one\\n", "two\\n") busy() writer:close() end)
      for line in reader:lines() do busy(line) end
      reader:close()
      """
    ),
    (
      "looking inside",
      """
      local t = loop:timer { every = 1, name = "t", function(t) busy() t:invalidate() end }
      busy(loop:why(t), loop:why(), loop:dump(), loop:metrics(), loop:modes(), t:modes())
      """
    ),
    (
      "reload",
      """
      local state = ml.reload.state("fault", { hits = 0 })
      ml.reload.on_unload(busy)
      state.hits = state.hits + 1
      busy(pcall(ml.reload, "nowhere"))
      """
    ),
  ]
}
