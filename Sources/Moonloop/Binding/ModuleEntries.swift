// What `require "moonloop"` gives, with its documentation.

internal import LuaEmbed

/// The functions of the module itself.
let moduleEntries: [LuaEntry] = [
  .function("current", moduleCurrent) {
    LuaDocs(
      "The loop of this thread, always the same handle.",
      returns: [LuaParameter("loop", "moonloop.Loop", "It is found, never made.")],
      example: """
        print(ml.current() == loop)   --> true
        """)
  },
  .function("now", moduleNow) {
    LuaDocs(
      "The time on the loop's clock, which only ever goes forward.",
      details: "Its zero means nothing; differences do. Dates of people are `os.time()` and "
        + "`loop:at`.",
      returns: [LuaParameter("time", "number", unit: "s", "With nanoseconds behind the point.")],
      example: """
        local start = ml.now()
        loop:after(3, function() print(("%.1f s"):format(ml.now() - start)) end)   --> 3.0 s
        """)
  },
  .function("configure", moduleConfigure, then: sourceResults) {
    LuaDocs(
      "Makes all that a configuration tells of.",
      details: "Modes, limits, timers, sources, observers, signals. All of it is checked first: an "
        + "error lists every mistake with its line, and then nothing was made. See "
        + "[Configuration](configuration.md).",
      parameters: [
        LuaParameter("what", "string|table", "The path of a file that returns it, or the table.")
      ],
      returns: [
        LuaParameter(
          "running", "table",
          "Its handles as `timers.NAME`, `sources.NAME`, …; `running:run()` runs its phases, "
            + "`running:run { mode = …, timeout = … }` one mode, or all of it for so long; "
            + "`running:close()` ends what it made.")
      ],
      errors: ["Raises an error that lists all mistakes, or says what cannot be opened."],
      example: """
        local running = ml.configure {
          timers = { beat = { every = 1, handler = function(timer)
            print "beat"   --> beat
            timer:invalidate()
          end } },
        }
        running:run()
        """)
  },
  .function("limit", moduleLimit) {
    LuaDocs(
      "Sets what the scripts of this state may use; what is not named stays as it is.",
      details: "A limit stops a call-out; no `pcall` catches it. It holds from the next call-out "
        + "on.",
      parameters: [
        LuaParameter(
          "options", "moonloop.LimitOptions", "The limits.",
          fields: [
            LuaParameter(
              "memory", "integer", unit: "bytes", "The most that Lua may hold; at least 1 MB.",
              optional: true),
            LuaParameter(
              "callout", "number", unit: "s",
              "The most that a call-out may run, waits not counted; at least 0.01.",
              optional: true),
            LuaParameter(
              "instructions", "integer",
              "The most that a call-out may take, from 1000; counting halves the speed.",
              optional: true),
            LuaParameter(
              "handles", "integer",
              "The most timers (sleeps too), and the most other items, at a time.",
              optional: true),
            LuaParameter(
              "nesting", "integer", "How deep calls and runs may be nested, up to 60.",
              optional: true),
          ])
      ],
      example: """
        ml.limit { handles = 1 }
        local timer = loop:after(1, function() end)
        print((pcall(loop.after, loop, 1, print)))   --> false
        ml.limit { handles = 1000 }
        """)
  },
  .function("break_here", moduleBreakHere, then: sourceResults) {
    LuaDocs(
      "Stops the program here until the console says `:continue`.",
      details: "A nested run in a mode of its own: only the console is served, and the "
        + "loop's clock stands, so that no timer is late or lost. Locals and upvalues can be "
        + "looked at and set. Without a console the program goes on, which is told once on "
        + "standard error. See [The console](console.md).",
      parameters: [
        LuaParameter(
          "options", "moonloop.BreakOptions", "How to stop.", optional: true,
          fields: [
            LuaParameter(
              "wait", "boolean", "Whether to wait for a console if there is none.", optional: true)
          ])
      ],
      returns: [LuaParameter("stopped", "boolean", "false: there was no console.")],
      errors: ["Raises an error where runs cannot be nested any deeper."],
      example: """
        print(ml.break_here())   --> false
        """)
  },
  .function("wall_time", moduleWallTime) {
    LuaDocs(
      "The wall clock, as the loop's clock sees it: for dates, and for `loop:at`.",
      details: "On a virtual clock it stands and jumps with it; `os.time` does not.",
      returns: [LuaParameter("time", "number", unit: "s", "Seconds since 1970.")],
      example: """
        loop:at(ml.wall_time() + 1, function() print "a second later" end)   --> a second later
        """)
  },
  .function("sleep", moduleSleep) {
    LuaDocs(
      "Suspends the handler or task that calls it; the loop goes on, and resumes it later.",
      details: "A timer whose handler sleeps does not fire meanwhile: those fires are counted as "
        + "missed.",
      parameters: [LuaParameter("time", "number", unit: "s", "At least 0: then the next pass.")],
      errors: [
        "Raises an error where Lua cannot wait, which it names; and the reason in a task that was "
          + "cancelled."
      ],
      yields: true,
      example: """
        loop:task(function()
          local start = ml.now()
          ml.sleep(0.5)
          print(("%.1f s"):format(ml.now() - start))   --> 0.5 s
        end)
        """)
  },
  .function("timeout", moduleTimeout) {
    LuaDocs(
      "Calls a function, and cancels it if it has not returned in time.",
      parameters: [
        LuaParameter("time", "number", unit: "s", "How long it may take, at least 0."),
        LuaParameter("fn", "fun(...): ...", "What is called; it may wait."),
        LuaParameter("...", "any", "Given to the function."),
      ],
      returns: [LuaParameter("...", "any", "What the function returned.")],
      errors: [
        "Returns `nil, \"timed out\", \"ETIMEDOUT\"` when the time is over.",
        "Raises what the function raises.",
      ],
      yields: true,
      example: """
        loop:task(function()
          print(ml.timeout(2, ml.sleep, 3600))   --> nil timed out ETIMEDOUT
        end)
        """)
  },
  .function("await", moduleAwait, then: moduleAwaitSecond) {
    LuaDocs(
      "Makes a wait of any interface that calls back.",
      details: "The function starts the operation and hands `resume` to it as its callback; only "
        + "the first call of `resume` counts. What the function returns is closed when the task "
        + "is cancelled before that.",
      parameters: [
        LuaParameter(
          "fn", "fun(resume: fun(...)): any?", "Starts the operation; may return a handle.")
      ],
      returns: [LuaParameter("...", "any", "What `resume` was called with.")],
      errors: ["Raises what the function raises, and what `ml.sleep` raises."],
      yields: true,
      example: """
        local function query(text, callback)   -- an interface that knows nothing of tasks
          return loop:after(1, function() callback("row of " .. text) end)
        end
        loop:task(function()
          print(ml.await(function(resume) return query("table", resume) end))   --> row of table
        end)
        """)
  },
  .function("channel", moduleChannel) {
    LuaDocs(
      "Makes a channel, through which tasks hand values to one another.",
      parameters: [channelOptionDocs],
      returns: [LuaParameter("channel", "moonloop.Channel", "The channel.")],
      errors: ["Raises an error that names the option that is wrong."],
      overloads: ["fun(capacity: integer): moonloop.Channel"],
      example: """
        local jobs = ml.channel(16)
        loop:task(function() for job in jobs:items() do print(job) end end)   --> build
        loop:task(function() jobs:send "build"; jobs:close() end)
        """)
  },
  .function("semaphore", moduleSemaphore) {
    LuaDocs(
      "Makes a semaphore, which lets so many tasks do a thing at a time.",
      parameters: [semaphoreOptionDocs],
      returns: [LuaParameter("semaphore", "moonloop.Semaphore", "The semaphore.")],
      errors: ["Raises an error that names the option that is wrong."],
      overloads: ["fun(permits: integer): moonloop.Semaphore"],
      example: """
        local gate = ml.semaphore(2)
        for i = 1, 4 do loop:task(function() gate:with(ml.sleep, 1); print(i, ml.now()) end) end
        """)
  },
  .function("timer", moduleTimer) {
    LuaDocs(
      "Makes a timer without adding it to the loop.", details: madeOnly,
      parameters: [timerOptionDocs(isAdded: false)],
      returns: [LuaParameter("timer", "moonloop.Timer", "The timer.")],
      errors: ["Raises an error that names the option that is wrong."],
      example: """
        local timer = ml.timer { first = 1, function() print "fired" end }   --> fired
        loop:add(timer, { "default", "tracking" })
        """)
  },
  .function("source", moduleSource) {
    LuaDocs(
      "Makes a custom source without adding it to the loop.", details: madeOnly,
      parameters: [sourceOptionDocs(isAdded: false)],
      returns: [LuaParameter("source", "moonloop.Source", "The source.")],
      errors: ["Raises an error that names the option that is wrong."],
      example: """
        local source = ml.source {
          schedule = function(source, loop, mode) print("in " .. mode) end,   --> in default
          cancel = function(source, loop, mode) print("out of " .. mode) end,
          perform = function(source) print "performed"; source:invalidate() end,   --> performed
        }
        loop:add(source)
        source:signal()
        loop:run()
        print(source:is_valid())   --> out of default
        --> false
        """)
  },
  .function("fd", moduleDescriptor) {
    LuaDocs(
      "Makes a source of a descriptor without adding it to the loop.", details: madeOnly,
      parameters: [descriptorOptionDocs(isAdded: false)],
      returns: [LuaParameter("fd", "moonloop.Descriptor", "The handle.")],
      errors: [
        "Returns `nil, message, code` when the descriptor cannot be watched: \"EBADF\" for one "
          + "that is not open, \"EPERM\" for a plain file, which is always ready.",
        "Raises an error that names the option that is wrong.",
      ],
      example: """
        local input = ml.fd { fd = 0, name = "input", read = function(fd)
          print(fd:read "l")   --> one
          fd:invalidate()
        end }
        loop:add(input, "common")
        """)
  },
  .function("stream", moduleStream) {
    LuaDocs(
      "Makes a stream of a descriptor: the same as `loop:stream`.",
      parameters: [streamOptionDocs()],
      returns: [LuaParameter("stream", "moonloop.Stream?", "The stream.")],
      errors: ["As `loop:stream`."],
      example: """
        local input = ml.stream { fd = 0 }
        loop:task(function() print(input:read "l") end)   --> one
        """)
  },
  .function("observer", moduleObserver) {
    LuaDocs(
      "Makes an observer without adding it to the loop.", details: madeOnly,
      parameters: [observerOptionDocs(isAdded: false)],
      returns: [LuaParameter("observer", "moonloop.Observer", "The observer.")],
      errors: ["Raises an error that names the option that is wrong."],
      example: """
        local observer = ml.observer { on = "exit", function() print "the run is over" end }
        loop:add(observer)
        loop:after(1, function() end)
        loop:run()   --> the run is over
        observer:invalidate()
        """)
  },
  .function("worker", moduleWorker) {
    LuaDocs(
      "Starts a thread with a Lua state and a loop of its own, which runs a script.",
      details: "The script runs as a task, then its loop runs until nothing is left in it. It "
        + "talks to its owner by `ml.parent`, and ends with its owner at the latest. Under a "
        + "clock that jumps, owner and worker share one time.",
      parameters: [workerOptionDocs],
      returns: [LuaParameter("worker", "moonloop.Worker", "The worker, running.")],
      errors: [
        "Returns `nil, message, code`: when the file cannot be read, \"ENOEXEC\" when it does not "
          + "compile, \"EAGAIN\" when there are too many workers or threads.",
        "Raises an error that names the option that is wrong.",
      ],
      example: """
        local worker = assert(ml.worker { name = "doubler", source = [[
          local ml = require("moonloop")
          ml.parent:on("message", function(number, reply) reply(number * 2) end)
        ]] })
        loop:task(function()
          print(worker.port:request(21))   --> 42
          worker:stop()
        end)
        """)
  },
  .field("parent", moduleParent) {
    LuaDocs(
      "In a worker, its end of the port to its owner, whose end is `worker.port`; else nil.",
      details: "Messages wait in it until the script listens, by `on` or `receive`; while it does, "
        + "the worker's loop goes on.",
      returns: [LuaParameter("port", "moonloop.Port?", "Always the same handle.")],
      example: """
        print(ml.parent)   --> nil
        local worker = assert(ml.worker { source = [[
          local ml = require("moonloop")
          local job, reply = ml.parent:receive()
          reply(job:upper())
        ]] })
        loop:task(function() print(worker.port:request "ping") end)   --> PING
        """)
  },
]
