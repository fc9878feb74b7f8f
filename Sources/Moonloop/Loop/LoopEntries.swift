// What scripts see of the loop itself: running, stopping, modes, errors; with its documentation.

internal import LuaEmbed

/// What the loop's handle offers.
let loopEntries: [LuaEntry] =
  loopRunEntries + loopMakingEntries + loopSystemEntries + loopItemEntries + loopRecordEntries + [
    .method("why", loopWhy) {
      LuaDocs(
        "Says in words why a handle is not called now, or why the loop is not finished.",
        parameters: [
          LuaParameter(
            "handle", "moonloop.Item|moonloop.ProgramItem|moonloop.Request",
            "What is asked about; without it: what keeps a run from finishing.", optional: true)
        ],
        returns: [LuaParameter("reason", "string", "For people; its wording may change.")],
        example: """
          local timer <close> = loop:timer { every = 1, name = "poll", modes = "tracking", print }
          print(loop:why(timer))
          """)
    },
    .method("dump", loopDump) {
      LuaDocs(
        "A table of every handle, task and request, as text: where it was made, and its state.",
        returns: [LuaParameter("text", "string", "For people; its columns may change.")],
        example: """
          local timer <close> = loop:timer { every = 1, name = "poll", print }
          print(loop:dump())
          """)
    },
    metricsEntry,
    .metamethod("__tostring", loopToString),
  ]

private let loopRunEntries: [LuaEntry] = [
  .method("run", loopRun) {
    LuaDocs(
      "Runs the loop in a mode until there is a reason to return, which it gives.",
      details: "May be called in any handler: the inner run has its own mode, passes and time "
        + "limit. At the end of the main chunk the program runs the default mode by itself, "
        + "unless the script has run its loop.",
      parameters: [
        LuaParameter(
          "options", "moonloop.RunOptions", "How to run, or just the name of the mode.",
          optional: true,
          fields: [
            LuaParameter("mode", "string", "Default \"default\".", optional: true),
            LuaParameter(
              "timeout", "number", unit: "s",
              "How long; default: for ever. 0 or less: serves what is ready and returns.",
              optional: true),
            LuaParameter(
              "until_handled", "boolean", "True: returns after a source, fd or port was served.",
              optional: true),
          ])
      ],
      returns: [
        LuaParameter("result", "moonloop.RunResult", "Why it returned."),
        LuaParameter("value", "any", "What `loop:stop` handed over."),
        LuaParameter("stopped", "boolean", "Whether a stop met the run, whatever the result."),
      ],
      errors: [
        "Raises an error for mode \"common\", in a finalizer, and when runs are nested too deep "
          + "(32)."
      ],
      overloads: [
        "fun(self: moonloop.Loop, mode: string): moonloop.RunResult, any, boolean"
      ],
      example: """
        loop:after(1, function() loop:stop "enough" end)
        print(loop:run { timeout = 10 })   --> stopped enough true
        print((loop:run()))   --> finished
        """)
  },
  .method("stop", loopStop) {
    LuaDocs(
      "Ends the innermost run at the next place where it looks, and hands a value to its caller.",
      details: "When the loop does not run it has no effect, and says so.",
      parameters: [LuaParameter("value", "any", "The second result of `run`.", optional: true)],
      returns: [LuaParameter("met", "boolean", "Whether there was a run to stop.")],
      example: """
        print(loop:stop())   --> false
        loop:after(1, function() print(loop:stop()) end)   --> true
        loop:run()
        """)
  },
  .method("stop_when_next_looking", loopStopLater) {
    LuaDocs(
      "Ends the innermost run, or the next one if the loop does not run: it is remembered.",
      parameters: [LuaParameter("value", "any", "The second result of `run`.", optional: true)],
      example: """
        loop:every(1, function() end)
        loop:stop_when_next_looking "at once"
        print(loop:run())   --> stopped at once true
        loop:stop_when_next_looking()
        """)
  },
  .method("wake_up", loopWakeUp) {
    LuaDocs(
      "Ends the loop's sleep, or the next one of a run that is under way.",
      details: "What `source:signal` does not do. A loop that does not run forgets it.",
      example: """
        local source = loop:source { perform = function(source)
          print "awake"   --> awake
          source:invalidate()
        end }
        loop:observer { on = "before_waiting", repeats = false, function()
          source:signal()
          loop:wake_up()
        end }
        """)
  },
  .field("mode", loopMode) {
    LuaDocs(
      "The mode of the innermost run.",
      returns: [LuaParameter("mode", "string?", "Nil when the loop does not run.")],
      example: """
        loop:after(1, function() print(loop.mode) end)   --> default
        """)
  },
  .field("depth", loopDepth) {
    LuaDocs(
      "How many runs are nested in one another now.",
      returns: [LuaParameter("depth", "integer", "0 when the loop does not run.")],
      example: """
        loop:after(1, function() print(loop.depth) end)
        loop:run()   --> 1
        """)
  },
  .field("on_error", loopOnError, set: loopSetOnError) {
    LuaDocs(
      "Who hears of errors in handlers; nil: they are written to standard error.",
      details: "It may return \"stop\" to end the innermost run; anything else goes on. An error "
        + "never unwinds the loop, and none is lost: one that this function raises itself is "
        + "written. \"stop\" or \"continue\" in its place: they are written, and the run stops or "
        + "goes on.",
      returns: [
        LuaParameter("handler", "moonloop.ErrorHandler?", "The function, or nil for none.")
      ],
      example: """
        loop.on_error = function(e) print(e.message); return "continue" end
        loop:after(1, function() error("no luck", 0) end)
        loop:run()   --> no luck
        """)
  },
]

/// Modes, and items of any kind in them.
private let loopItemEntries: [LuaEntry] = [
  .method("add", loopAdd) {
    LuaDocs(
      "Adds an item to modes; it is served in passes that run in one of them.",
      details: "The loop holds the item then: dropping the variable does not stop it. Adding it "
        + "twice to a mode has no effect. In \"common\" it is in every common mode, now and "
        + "later.",
      parameters: [
        LuaParameter(
          "item", "moonloop.Item|moonloop.ProgramItem", "A timer, source, fd, observer or port."),
        LuaParameter("modes", "moonloop.Modes", "Default \"default\".", optional: true),
      ],
      returns: [LuaParameter("item", "moonloop.Item|moonloop.ProgramItem", "The same item.")],
      errors: ["Raises an error when the item has ended."],
      example: """
        local timer = loop:add(ml.timer { first = 1, function() end }, "tracking")
        print(timer:modes()[1])   --> tracking
        """)
  },
  .method("remove", loopRemove) {
    LuaDocs(
      "Takes an item out of modes; it stays valid, and may be added again.",
      details:
        "Taking a common item out of \"common\" takes it out of every common mode; for other items "
        + "that has no effect.",
      parameters: [
        LuaParameter(
          "item", "moonloop.Item|moonloop.ProgramItem", "A timer, source, fd, observer or port."),
        LuaParameter("modes", "moonloop.Modes", "Default \"default\".", optional: true),
      ],
      returns: [LuaParameter("item", "moonloop.Item|moonloop.ProgramItem", "The same item.")],
      example: """
        local timer = loop:after(1, print)
        print(#loop:remove(timer):modes())   --> 0
        """)
  },
  .method("contains", loopContains) {
    LuaDocs(
      "Whether an item is in a mode.",
      parameters: [
        LuaParameter(
          "item", "moonloop.Item|moonloop.ProgramItem", "A timer, source, fd, observer or port."),
        LuaParameter(
          "mode", "string", "Default \"default\"; \"common\": whether it is a common item.",
          optional: true),
      ],
      returns: [LuaParameter("contained", "boolean", "Whether it is in that mode.")],
      example: """
        local timer <close> = loop:every(1, print)
        print(loop:contains(timer), loop:contains(timer, "common"))   --> true false
        """)
  },
  .method("modes", loopModes) {
    LuaDocs(
      "Every mode that was used so far, and what is in it.",
      returns: [
        LuaParameter(
          "modes", "table<string, moonloop.ModeContents>",
          "By name: 'timers', 'sources', 'fds', 'ports', 'observers', 'blocks' (counts); 'common', "
            + "'empty' (booleans).")
      ],
      example: """
        local timer <close> = loop:every(1, print)
        print(loop:modes().default.timers)   --> 1
        """)
  },
  .method("add_common_mode", loopAddCommonMode) {
    LuaDocs(
      "Makes a mode one of the common modes, for good.",
      details: "Everything that was added to \"common\" comes into it. The default mode is one "
        + "from the start.",
      parameters: [LuaParameter("mode", "string", "Its name; it need not be used yet.")],
      returns: [LuaParameter("added", "true?", "True.")],
      errors: [
        "Returns `nil, message, code` when a descriptor of \"common\" cannot be watched in it: the "
          + "rest is in it all the same."
      ],
      example: """
        loop:add_common_mode "tracking"
        loop:timer { first = 1, modes = "common", function() print(loop.mode) end }
        loop:run "tracking"   --> tracking
        """)
  },
  .method("next_timer", loopNextTimer) {
    LuaDocs(
      "When the earliest timer of a mode is due, on the clock of `ml.now()`.",
      parameters: [LuaParameter("mode", "string", "Default \"default\".", optional: true)],
      returns: [LuaParameter("date", "number?", unit: "s", "Nil when the mode has no timer.")],
      example: """
        local timer <close> = loop:every(2, print)
        print(("%.1f s"):format(loop:next_timer() - ml.now()))   --> 2.0 s
        """)
  },
]
