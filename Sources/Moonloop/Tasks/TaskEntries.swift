// What scripts see of tasks, with its documentation.

internal import LuaEmbed

/// What a task's handle offers; it is the scope that the task's function gets, too.
let taskEntries: [LuaEntry] = [
  .method("task", taskTask) {
    LuaDocs(
      "Makes a child: this task waits for it, fails with it, and cancels it when it is cancelled.",
      details: "The function gets the arguments. A task has ended when its function has returned "
        + "and its children have ended.",
      parameters: [
        LuaParameter(
          "options", "moonloop.ChildOptions", "May be left out.", optional: true,
          fields: taskOptionDocs(isChild: true)),
        LuaParameter("fn", "fun(...): ...", "What the child does."),
        LuaParameter("...", "any", "Given to the function."),
      ],
      returns: [LuaParameter("task", "moonloop.Task", "The child.")],
      errors: ["Raises an error when this task has ended."],
      overloads: ["fun(self: moonloop.Task, fn: (fun(...): ...), ...: any): moonloop.Task"],
      example: """
        local function fetch(name) ml.sleep(0.1); return name:upper() end
        loop:task(function(scope)
          local a, b = scope:task(fetch, "a"), scope:task(fetch, "b")
          print(a:await() .. b:await())   --> AB
        end)
        """)
  },
  .method("await", taskAwait) {
    LuaDocs(
      "Suspends what runs until the task has ended, and gives what it returned.",
      returns: [LuaParameter("...", "any", "What its function returned.")],
      errors: [
        "Raises the task's error, the same value; or the reason it was cancelled with.",
        "Raises an error where Lua cannot wait (in a comparator, `__tostring`, ...); use `wait` "
          + "there.",
      ],
      yields: true,
      example: """
        local task = loop:task(function() ml.sleep(1); return "done" end)
        loop:task(function() print(task:await()) end)   --> done
        """)
  },
  .method("wait", taskWait) {
    LuaDocs(
      "Runs the loop until the task has ended, for code that cannot suspend.",
      details: "At top level it runs the default mode; in a handler a private mode, in which "
        + "only what the task waits for is served. With 'mode' it serves everybody in that mode.",
      parameters: [
        LuaParameter(
          "options", "moonloop.WaitOptions", "How to wait.", optional: true,
          fields: [
            LuaParameter(
              "timeout", "number", unit: "s", "How long; default: for ever.", optional: true),
            LuaParameter("mode", "string", "The mode of the run.", optional: true),
          ])
      ],
      returns: [LuaParameter("...", "any", "What its function returned.")],
      errors: [
        "Returns `nil, message, code`: \"ETIMEDOUT\", or \"ECANCELED\" when the run was stopped.",
        "Raises the task's error; also one that names what the task waits for when nothing in the "
          + "mode can ever end it.",
      ],
      example: """
        local task = loop:task(function() ml.sleep(1); return "done" end)
        print(task:wait { timeout = 5 })   --> done
        """)
  },
  .method("cancel", taskCancel) {
    LuaDocs(
      "Cancels the task and its children: each of their awaits, now and later, raises the reason.",
      details: "It is told at its next await, and may clean up; its `<close>` variables are "
        + "closed. Has no effect on a task that has ended or is cancelled already.",
      parameters: [
        LuaParameter(
          "reason", "any", "What is raised; default \"the task was cancelled\".", optional: true)
      ],
      example: """
        local task = loop:task(function() ml.sleep(3600) end)
        task:cancel "not needed"
        print(task.status)   --> cancelled
        """)
  },
  .method("invalidate", taskInvalidate) {
    LuaDocs(
      "Cancels the task, as `cancel` without a reason: one verb ends every handle.",
      example: """
        local task = loop:task(function() ml.sleep(3600) end)
        task:invalidate()
        print(task.status)   --> cancelled
        """)
  },
  .method("is_valid", taskIsValid) {
    LuaDocs(
      "Whether it has not ended yet; a task that was cancelled may still clean up.",
      returns: [LuaParameter("valid", "boolean", "False once nothing of it runs or waits.")],
      example: """
        local task = loop:task(function() ml.sleep(1) end)
        print(task:is_valid())   --> true
        """)
  },
  .method("is_done", taskIsDone) {
    LuaDocs(
      "Whether it has ended, in whatever way.",
      returns: [LuaParameter("done", "boolean", "True once nothing of it runs or waits.")],
      example: """
        local task = loop:task(function() ml.sleep(1) end)
        print(task:is_done())   --> false
        """)
  },
  .field("status", taskStatus) {
    LuaDocs(
      "What the task is doing or how it ended.",
      returns: [LuaParameter("status", "moonloop.TaskStatus", "One word.")],
      example: """
        local task = loop:task(function() error "broken" end)
        task.on_error = function(e) print(task.status) end   --> failed
        """)
  },
  .field("name", taskName) {
    LuaDocs(
      "The name that it was made with, or an empty string.",
      returns: [LuaParameter("name", "string", "As reports show it.")],
      example: """
        local task = loop:task({ name = "fetch" }, function() end)
        print(task.name)   --> fetch
        """)
  },
  .field("on_error", taskOnError, set: taskSetOnError) {
    LuaDocs(
      "Who hears of its failure if nobody awaits it, before `loop.on_error` does; nil: nobody.",
      returns: [
        LuaParameter("handler", "moonloop.ErrorHandler?", "The function, or nil for none.")
      ],
      example: """
        local task = loop:task(function() error("no luck", 0) end)
        task.on_error = function(e) print(e.message) end   --> no luck
        """)
  },
  .metamethod("__close", taskClose),
  .metamethod("__tostring", taskToString),
]

/// The options of `loop:task`, and of `task:task`.
func taskOptionDocs(isChild: Bool) -> [LuaParameter] {
  let owner = LuaParameter(
    "owner", "\"none\"", "Nobody waits for it; its failure is reported at once.", optional: true)
  return [
    LuaParameter("name", "string", "What reports call it.", optional: true),
    LuaParameter(
      "modes", "moonloop.Modes",
      "Where it goes on after a wait; default: those of what made it.", optional: true),
    LuaParameter(
      "on_error", "moonloop.ErrorHandler", "Hears of its failure first.", optional: true),
    LuaParameter(
      "[1]", "fun(...): ...", "The function, if it does not follow the options.", optional: true),
  ] + (isChild ? [] : [owner])
}
