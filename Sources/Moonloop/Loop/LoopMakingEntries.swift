// What scripts make with the loop (timers, sources, blocks, tasks), with its documentation.

internal import LuaEmbed

/// The methods of the loop that make something and add it.
let loopMakingEntries: [LuaEntry] = [
  .method("timer", loopTimer) {
    LuaDocs(
      "Makes a timer and adds it.",
      details: "Fires lie on a fixed grid: a late handler does not move the next ones, and those "
        + "that come too late are one call.",
      parameters: [timerOptionDocs(isAdded: true)],
      returns: [LuaParameter("timer", "moonloop.Timer", "The timer.")],
      errors: ["Raises an error that names the option that is wrong."],
      example: """
        loop:timer { first = 1, every = 0.25, tolerance = 0.05, modes = "common", name = "poll",
          function(timer, missed)
            print(missed)   --> 0
            timer:invalidate()
          end }
        """)
  },
  .method("after", loopAfter) {
    LuaDocs(
      "Calls a function once, after a delay, in the default mode.",
      parameters: [
        LuaParameter("delay", "number", unit: "s", "From now; 0 is the next pass, never at once."),
        LuaParameter("handler", "fun(timer: moonloop.Timer, missed: integer)", "The function."),
      ],
      returns: [LuaParameter("timer", "moonloop.Timer", "A timer that fires once.")],
      errors: ["Raises an error for a delay that is negative or no number."],
      example: """
        loop:after(2, function() print "once" end)   --> once
        """)
  },
  .method("every", loopEvery) {
    LuaDocs(
      "Calls a function again and again, in the default mode.",
      parameters: [
        LuaParameter("interval", "number", unit: "s", "> 0; also the delay of the first call."),
        LuaParameter("handler", "fun(timer: moonloop.Timer, missed: integer)", "The function."),
      ],
      returns: [LuaParameter("timer", "moonloop.Timer", "A timer that repeats.")],
      errors: ["Raises an error for an interval that is not > 0."],
      example: """
        loop:every(60, function(timer)
          print "a minute"   --> a minute
          timer:invalidate()
        end)
        """)
  },
  .method("at", loopAt) {
    LuaDocs(
      "Calls a function once at a date of the wall clock, and follows when that clock is set.",
      parameters: [
        LuaParameter("epoch", "number", unit: "s since 1970", "As `os.time()` gives it."),
        LuaParameter("handler", "fun(timer: moonloop.Timer, missed: integer)", "The function."),
      ],
      returns: [LuaParameter("timer", "moonloop.Timer", "A timer that fires once.")],
      errors: [
        "Returns `nil, message, code` when the system has no timer for it left (\"EMFILE\").",
        "Raises an error for a date that is no finite number.",
      ],
      example: """
        loop:at(os.time { year = 2001, month = 1, day = 1 }, function() print "past" end)   --> past
        """)
  },
  .method("source", loopSource) {
    LuaDocs(
      "Makes a custom source, which is signalled by hand, and adds it.",
      parameters: [sourceOptionDocs(isAdded: true)],
      returns: [LuaParameter("source", "moonloop.Source", "The source.")],
      errors: ["Raises an error that names the option that is wrong."],
      example: """
        local commands = {}
        local source = loop:source { name = "commands", perform = function(source)
          print(#commands .. " commands")   --> 2 commands
          source:invalidate()
        end }
        for _, command in ipairs { "clean", "build" } do
          commands[#commands + 1] = command
          source:signal()
        end
        """)
  },
  .method("fd", loopDescriptor) {
    LuaDocs(
      "Makes a source of a descriptor, which the kernel signals, and adds it.",
      details: "Readiness is a level: a handler that leaves something unread is called again in "
        + "the next pass. Ready descriptors take turns.",
      parameters: [descriptorOptionDocs(isAdded: true)],
      returns: [LuaParameter("fd", "moonloop.Descriptor", "The handle.")],
      errors: [
        "Returns `nil, message, code` when the descriptor cannot be watched: \"EBADF\" for one "
          + "that is not open, \"EPERM\" for a plain file, which is always ready.",
        "Raises an error that names the option that is wrong.",
      ],
      example: """
        local bytes = 0
        loop:fd { fd = 0, read = function(fd)
          local data = fd:read(4096)
          if data then bytes = bytes + #data
          else
            print(bytes .. " bytes")   --> 14 bytes
            fd:invalidate()
          end
        end }
        """)
  },
  .method("stream", loopStream) {
    LuaDocs(
      "Makes a stream of a descriptor: bytes in and out, with waits in straight-line code.",
      details: "The stream reads and writes at once what it can, and is in a mode only while "
        + "somebody waits for it: in the modes of the task that waits.",
      parameters: [streamOptionDocs()],
      returns: [LuaParameter("stream", "moonloop.Stream?", "The stream.")],
      errors: [
        "Returns `nil, message, code` when the descriptor cannot be used: \"EBADF\", \"EISDIR\".",
        "Raises an error that names the option that is wrong.",
      ],
      example: """
        loop:task(function()
          local input <close> = loop:stream { fd = 0, timeout = 5 }
          for line in input:lines() do print(#line) end   --> 3
          --> 3
          --> 5
        end)
        """)
  },
  .method("observer", loopObserver) {
    LuaDocs(
      "Makes an observer, which hears of the stages of a run, and adds it.",
      details: "An observer keeps no run alive.",
      parameters: [observerOptionDocs(isAdded: true)],
      returns: [LuaParameter("observer", "moonloop.Observer", "The observer.")],
      errors: ["Raises an error that names the option or the activity that is wrong."],
      example: """
        loop:observer { on = { "entry", "exit" }, function(observer, activity)
          print(activity)   --> entry
        end }
        loop:after(1, function() end)
        loop:run()   --> exit
        """)
  },
  .method("port", loopPort) {
    LuaDocs(
      "Makes a port, a queue of messages inside this process, and adds it.",
      parameters: [portOptionDocs(isAdded: true)],
      returns: [LuaParameter("port", "moonloop.Port", "The port.")],
      errors: ["Raises an error that names the option that is wrong."],
      example: """
        local port = loop:port { name = "jobs", function(port, message, reply)
          reply { ok = true, id = message.id }
        end }
        print(port:request({ id = 7 }).id)   --> 7
        port:invalidate()
        """)
  },
  .method("perform", loopPerform) {
    LuaDocs(
      "Queues a function: the next pass in one of its modes calls it, once.",
      details: "Functions run in the order of queuing. One that is queued by another runs in a "
        + "later step. With 'wake' a sleeping loop wakes for it, as is the default.",
      parameters: [
        LuaParameter(
          "options", "moonloop.PerformOptions", "May be left out.", optional: true,
          fields: [
            LuaParameter("modes", "moonloop.Modes", "Default \"default\".", optional: true),
            LuaParameter(
              "wake", "boolean", "False: a sleeping loop sleeps on; default true.", optional: true),
            LuaParameter(
              "as_source", "boolean", "True: a run with 'until_handled' returns after it.",
              optional: true),
          ]),
        LuaParameter("fn", "fun(...)", "The function."),
        LuaParameter("...", "any", "Given to the function."),
      ],
      returns: [LuaParameter("request", "moonloop.Request", "What can be taken back.")],
      errors: ["Raises an error that names the option that is wrong."],
      overloads: ["fun(self: moonloop.Loop, fn: (fun(...)), ...: any): moonloop.Request"],
      example: """
        loop:perform({ modes = { "default", "tracking" } }, print, "second thing")
        print "first thing"   --> first thing
        loop:run()   --> second thing
        """)
  },
  .method("perform_after", loopPerformAfter) {
    LuaDocs(
      "Calls a function with arguments once, after a delay.",
      parameters: [
        LuaParameter(
          "delay", "number|moonloop.PerformAfterOptions", unit: "s",
          "From now; or a table of options, in which 'after' must be there.",
          fields: [
            LuaParameter("after", "number", unit: "s", "From now, at least 0."),
            LuaParameter("modes", "moonloop.Modes", "Default \"default\".", optional: true),
          ]),
        LuaParameter("fn", "fun(...)", "The function."),
        LuaParameter("...", "any", "Given to the function."),
      ],
      returns: [LuaParameter("request", "moonloop.Request", "What can be taken back.")],
      errors: ["Raises an error for a delay that is negative or no number."],
      example: """
        loop:perform_after(1, print, "one", "two")   --> one two
        """)
  },
  .method("task", loopTask) {
    LuaDocs(
      "Runs a function as a task, which may wait; it gets its scope, then the arguments.",
      details: "The function begins in the next pass of its modes. A failure that nobody awaits is "
        + "reported.",
      parameters: [
        LuaParameter(
          "options", "moonloop.TaskOptions", "May be left out.", optional: true,
          fields: taskOptionDocs(isChild: false)),
        LuaParameter("fn", "fun(scope: moonloop.Task, ...): ...", "What the task does."),
        LuaParameter("...", "any", "Given to the function, behind its scope."),
      ],
      returns: [LuaParameter("task", "moonloop.Task", "The task; also the scope of its children.")],
      errors: ["Raises an error that names the option that is wrong."],
      overloads: [
        "fun(self: moonloop.Loop, fn: (fun(scope: moonloop.Task, ...): ...), ...: any): "
          + "moonloop.Task"
      ],
      example: """
        loop:task({ name = "greet" }, function(scope, name)
          ml.sleep(1)
          print("hello, " .. name)   --> hello, moon
        end, "moon")
        """)
  },
]
