// What scripts see of semaphores and permits, with its documentation.

internal import LuaEmbed

let semaphoreEntries: [LuaEntry] = [
  .method("acquire", semaphoreAcquire) {
    LuaDocs(
      "Takes a permit; waits while all are given. Who began to wait first gets the first.",
      details:
        "The permit is given back once: by `<close>` or `permit:release()`, or, for who does "
        + "not keep it, by `semaphore:release()`. A permit that is only dropped stays taken.",
      parameters: [waitOptionDocs],
      returns: [LuaParameter("permit", "moonloop.Permit?", "Gives it back at the end of a block.")],
      errors: [
        "Returns `nil, \"timed out\", \"ETIMEDOUT\"`, and `nil, \"closed\", \"EPIPE\"` when the "
          + "semaphore is or gets invalidated.",
        "Raises an error where Lua cannot wait; use `try_acquire` there.",
      ],
      yields: true,
      example: """
        local gate = ml.semaphore(1)
        loop:task(function()
          local permit <close> = gate:acquire()
          ml.sleep(1)
        end)
        loop:task(function()
          print(gate:acquire { timeout = 0.5 })   --> nil timed out ETIMEDOUT
        end)
        """)
  },
  .method("try_acquire", semaphoreTryAcquire) {
    LuaDocs(
      "Takes a permit if one is free, anywhere.",
      returns: [LuaParameter("permit", "moonloop.Permit?", "As of `acquire`.")],
      errors: ["Returns `nil, \"no permit is free\", \"EAGAIN\"` if it would have to wait."],
      example: """
        local gate = ml.semaphore(1)
        local permit <close> = gate:try_acquire()
        print(gate:try_acquire())   --> nil no permit is free EAGAIN
        """)
  },
  .method("with", semaphoreWith, then: semaphoreWithSecond) {
    LuaDocs(
      "Calls a function with a permit, which is given back however that ends.",
      details: "Also when the function raises, or its task is cancelled.",
      parameters: [
        LuaParameter("fn", "fun(...): ...", "What is called; it may wait."),
        LuaParameter("...", "any", "Given to the function."),
      ],
      returns: [LuaParameter("...", "any", "What the function returned.")],
      errors: [
        "Raises what the function raises.",
        "Returns `nil, \"closed\", \"EPIPE\"` when the semaphore is or gets invalidated.",
      ],
      yields: true,
      example: """
        local gate = ml.semaphore(1)
        local function work(name) ml.sleep(1); print(name) end
        for _, name in ipairs { "one", "two" } do
          loop:task(function() gate:with(work, name) end)   --> one
        end                                                 --> two
        """)
  },
  .method("release", semaphoreRelease) {
    LuaDocs(
      "Gives back a permit whose handle nobody keeps; whoever has waited longest gets it.",
      errors: ["Raises an error when all permits are here: one was released twice."],
      example: """
        local gate = ml.semaphore(1)
        gate:try_acquire()
        gate:release()
        print(pcall(gate.release, gate))
        """)
  },
  .method("invalidate", semaphoreInvalidate) {
    LuaDocs(
      "Ends the semaphore: who waits or asks from now on is told that it is closed.",
      details:
        "Permits that were given can still be given back. A `<close>` variable does the same.",
      example: """
        local gate = ml.semaphore(1)
        gate:invalidate()
        print(gate:try_acquire())   --> nil closed EPIPE
        """)
  },
  .method("is_valid", semaphoreIsValid) {
    LuaDocs(
      "Whether it was not invalidated.",
      returns: [LuaParameter("valid", "boolean", "False once it has ended.")],
      example: """
        print(ml.semaphore(1):is_valid())   --> true
        """)
  },
  .field("name", semaphoreName) {
    LuaDocs(
      "The name that it was made with, or an empty string.",
      returns: [LuaParameter("name", "string", "As deadlocks show it.")],
      example: """
        print(ml.semaphore({ permits = 1, name = "gate" }).name)   --> gate
        """)
  },
  .field("permits", semaphorePermits) {
    LuaDocs(
      "How many permits there are in all.",
      returns: [LuaParameter("count", "integer", "At least 1.")],
      example: """
        print(ml.semaphore(4).permits)   --> 4
        """)
  },
  .field("available", semaphoreAvailable) {
    LuaDocs(
      "How many permits are free now.",
      returns: [LuaParameter("count", "integer", "0 while somebody waits.")],
      example: """
        local gate = ml.semaphore(4)
        gate:try_acquire()
        print(gate.available)   --> 3
        """)
  },
  .metamethod("__close", semaphoreInvalidate),
  .metamethod("__tostring", semaphoreToString),
]

let permitEntries: [LuaEntry] = [
  .method("release", permitRelease) {
    LuaDocs(
      "Gives the permit back; has no effect the second time. `<close>` does the same.",
      example: """
        local gate = ml.semaphore(1)
        local permit = gate:try_acquire()
        permit:release()
        print(gate.available)   --> 1
        """)
  },
  .method("invalidate", permitRelease) {
    LuaDocs(
      "The same as `release`.",
      example: """
        local gate = ml.semaphore(1)
        gate:try_acquire():invalidate()
        print(gate.available)   --> 1
        """)
  },
  .method("is_valid", permitIsValid) {
    LuaDocs(
      "Whether it was not given back.",
      returns: [LuaParameter("valid", "boolean", "False once it was released.")],
      example: """
        local permit <close> = ml.semaphore(1):try_acquire()
        print(permit:is_valid())   --> true
        """)
  },
  .metamethod("__close", permitRelease),
  .metamethod("__tostring", permitToString),
]

let semaphoreOptionDocs = LuaParameter(
  "options", "moonloop.SemaphoreOptions", "Options; the number of permits may stand for them.",
  fields: [
    LuaParameter("permits", "integer", "How many there are, at least 1."),
    LuaParameter("name", "string", "What deadlocks call it.", optional: true),
  ])
