// What scripts see of child processes, with its documentation.

internal import LuaEmbed

/// `ml.process`.
let processModuleEntries: [LuaEntry] = [
  .function("spawn", processSpawn) {
    LuaDocs(
      "Starts a program as a child process, without a shell.",
      details: "The child has default signals, and no descriptors but its standard streams. When "
        + "the script ends, so do its children: they are asked (\"term\"), and killed half a "
        + "second later. A clock that can jump does not while a child lives.",
      parameters: [
        LuaParameter(
          "options", "moonloop.SpawnOptions", "The program, its arguments, and what it is to have.",
          fields: spawnOptionDocs)
      ],
      returns: [LuaParameter("process", "moonloop.Process", "The child, which runs its program.")],
      errors: [
        "Returns `nil, message, code` when the program cannot be run: \"ENOENT\", \"EACCES\", "
          + "\"EMFILE\", ...",
        "Raises an error that names the option that is wrong.",
      ],
      example: """
        loop:task(function()
          local p <close> = assert(ml.process.spawn { "printf", "a\\\\nb\\\\n", stdout = "pipe" })
          for line in p.stdout:lines() do print(line) end   --> a
          --> b
          print(p:await().code)   --> 0
        end)
        """)
  },
  .function("run", processRun) {
    LuaDocs(
      "Runs a program to its end, and gives all that it wrote.",
      details: "Its output is read as it comes, and 'input' is written meanwhile. Standard input "
        + "is empty unless 'input' or 'stdin' is given. A task that is cancelled meanwhile asks "
        + "the child to end.",
      parameters: [
        LuaParameter(
          "options", "moonloop.ProcessRunOptions",
          "The program, its arguments, and what it is to have.",
          fields: runOptionDocs)
      ],
      returns: [LuaParameter("result", "moonloop.ProcessResult", "How it ended, and its output.")],
      errors: [
        "Returns `nil, message, code` when the program cannot be run; \"ETIMEDOUT\" after "
          + "'timeout', \"EMSGSIZE\" for more output than 'limit', with 'check' \"FAILED\" unless "
          + "it ends with code 0.",
        "Raises an error that names the option that is wrong, and what `ml.sleep` raises.",
      ],
      yields: true,
      example: """
        loop:task(function()
          local result = assert(ml.process.run { "sort", input = "b\\na\\n" })
          io.write(result.stdout)   --> a
          --> b
          print(ml.process.run { "false", check = true })
          --> nil run: 'false' ended with code 1 FAILED
        end)
        """)
  },
  .function("kill", processKillAny) {
    LuaDocs(
      "Sends a signal to any process; to a process group, if the number is negative.",
      parameters: [
        LuaParameter("pid", "integer", "The number of the process."),
        LuaParameter("signal", "string|integer", "Such as \"term\"; 0 only asks whether it is."),
      ],
      returns: [LuaParameter("sent", "boolean?", "True.")],
      errors: [
        "Returns `nil, message, code`: \"ESRCH\" if there is none, \"EPERM\" if it is not ours.",
        "Raises an error for a signal that there is not.",
      ],
      example: """
        print(ml.process.kill(ml.process.id(), 0))   --> true
        """)
  },
  .function("id", processID) {
    LuaDocs(
      "The number of this process.",
      returns: [LuaParameter("pid", "integer", "As `ps` shows it.")],
      example: """
        print(ml.process.id() > 0)   --> true
        """)
  },
]

/// What a process handle offers.
let processEntries: [LuaEntry] = [
  .method("await", processAwait) {
    LuaDocs(
      "Suspends the caller until the process has ended and so has its output.",
      details: "Output ends when the last process that holds it has closed it, and whoever here "
        + "reads it has read the end. After the child's end that is waited for at most 'linger' "
        + "seconds.",
      returns: [
        LuaParameter("status", "moonloop.ProcessStatus", "How it ended; the same each time.")
      ],
      errors: ["Raises what `ml.sleep` raises."], yields: true,
      example: """
        loop:task(function()
          local p = assert(ml.process.spawn { "sh", "-c", "exit 3" })
          print(p:await().code)   --> 3
        end)
        """)
  },
  .method("wait", processWait) {
    LuaDocs(
      "Runs the loop until the process has ended, where the caller cannot suspend.",
      parameters: [
        LuaParameter(
          "options", "moonloop.WaitOptions", "As for `task:wait`.", optional: true,
          fields: [
            LuaParameter("timeout", "number", unit: "s", "Default: no limit.", optional: true),
            LuaParameter(
              "mode", "string", "Default: one of its own, or \"default\" at top level.",
              optional: true),
          ])
      ],
      returns: [LuaParameter("status", "moonloop.ProcessStatus?", "How it ended.")],
      errors: [
        "Returns `nil, message, code`: \"ETIMEDOUT\", or \"ECANCELED\" after `loop:stop()`."
      ],
      example: """
        local p = assert(ml.process.spawn { "true" })
        print(p:wait().code)   --> 0
        """)
  },
  .method("kill", processKill) {
    LuaDocs(
      "Sends a signal to the process; with 'group' to all of its group.",
      parameters: [
        LuaParameter(
          "signal", "string|integer", "Such as \"hup\"; default \"kill\".", optional: true)
      ],
      returns: [LuaParameter("sent", "boolean?", "True.")],
      errors: ["Returns `nil, message, code`: \"ESRCH\" when it has ended."],
      example: """
        loop:task(function()
          local p = assert(ml.process.spawn { "sleep", "60" })
          p:kill "usr1"
          print(p:await().signal)   --> usr1
        end)
        """)
  },
  .method("terminate", processTerminate) {
    LuaDocs(
      "Asks the process to end, and kills it if it has not after a time; does not wait for that.",
      details: "The time is the system's, whatever the loop's clock is. Has no effect on a process "
        + "that has ended.",
      parameters: [
        LuaParameter(
          "options", "moonloop.TerminateOptions", "May be left out.", optional: true,
          fields: [
            LuaParameter(
              "grace", "number", unit: "s", "Until it is killed; default 5.", optional: true),
            LuaParameter(
              "signal", "string|integer", "What asks; default \"term\".", optional: true),
          ])
      ],
      returns: [LuaParameter("process", "moonloop.Process", "The handle itself.")],
      example: """
        loop:task(function()
          local p = assert(ml.process.spawn { "sleep", "60" })
          print(p:terminate({ grace = 2 }):await().signal)   --> term
        end)
        """)
  },
  .method("invalidate", processInvalidate) {
    LuaDocs(
      "Kills the process at once; its end is told as ever.",
      example: """
        local p = assert(ml.process.spawn { "sleep", "60",
          on_exit = function(p, status) print(status.signal) end })   --> kill
        p:invalidate()
        """)
  },
  .method("is_valid", processIsValid) {
    LuaDocs(
      "Whether the end of the process has not been told yet.",
      returns: [LuaParameter("valid", "boolean", "True while it runs.")],
      example: """
        local p = assert(ml.process.spawn { "true" })
        print(p:is_valid())   --> true
        p:wait()
        print(p:is_valid())   --> false
        """)
  },
  .method("keep_alive", processKeepAlive) {
    LuaDocs(
      "Says whether a run goes on for this process alone; it does until told otherwise.",
      parameters: [LuaParameter("holds", "boolean", "False: nobody waits for it.")],
      returns: [LuaParameter("process", "moonloop.Process", "The handle itself.")],
      example: """
        assert(ml.process.spawn { "sleep", "60" }):keep_alive(false)
        print((loop:run()))   --> finished
        """)
  },
  .field("pid", processPid) {
    LuaDocs(
      "The number of the process.",
      returns: [LuaParameter("pid", "integer", "Another's, perhaps, once it has ended.")],
      example: """
        local p = assert(ml.process.spawn { "true" })
        print(p.pid > 0)   --> true
        """)
  },
  .field("status", processStatus) {
    LuaDocs(
      "How the process ended, once that was told.",
      returns: [LuaParameter("status", "moonloop.ProcessStatus?", "Nil before.")],
      example: """
        local p = assert(ml.process.spawn { "true" })
        print(p.status)   --> nil
        p:wait()
        print(p.status.code)   --> 0
        """)
  },
  .field("stdin", processInput) {
    LuaDocs(
      "Where the script writes what the process reads, if that was asked for.",
      returns: [LuaParameter("stream", "moonloop.Stream?", "With `stdin = \"pipe\"`, else nil.")],
      example: """
        loop:task(function()
          local p = assert(ml.process.spawn { "cat", stdin = "pipe", stdout = "pipe" })
          p.stdin:write "hello"
          p.stdin:close()
          print(p.stdout:read "a")   --> hello
        end)
        """)
  },
  .field("stdout", processOutput) {
    LuaDocs(
      "Where the script reads what the process writes, if that was asked for.",
      returns: [LuaParameter("stream", "moonloop.Stream?", "With `stdout = \"pipe\"`, else nil.")],
      example: """
        loop:task(function()
          local p = assert(ml.process.spawn { "echo", "hello", stdout = "pipe" })
          print(p.stdout:read "l")   --> hello
        end)
        """)
  },
  .field("stderr", processErrors) {
    LuaDocs(
      "The same for its standard error.",
      returns: [LuaParameter("stream", "moonloop.Stream?", "With `stderr = \"pipe\"`, else nil.")],
      example: """
        loop:task(function()
          local p = assert(ml.process.spawn { "sh", "-c", "echo no >&2", stderr = "pipe" })
          print(p.stderr:read "l")   --> no
        end)
        """)
  },
  .field("name", processName) {
    LuaDocs(
      "The name that it was made with, or that of its program.",
      returns: [LuaParameter("name", "string", "As reports and traces show it.")],
      example: """
        local p = assert(ml.process.spawn { "/bin/true" })
        print(p.name)   --> true
        """)
  },
  .metamethod("__close", processClose),
  .metamethod("__tostring", processToString),
]

private let childStream =
  "\"pipe\"|\"inherit\"|\"null\"|integer|moonloop.Stream|moonloop.Descriptor"

/// What `spawn` and `run` both take.
private let childOptionDocs: [LuaParameter] = [
  LuaParameter("[1]", "string", "The program; without a slash it is looked for in PATH."),
  LuaParameter("[2]", "string|number", "Its arguments follow.", optional: true),
  LuaParameter("cwd", "string", "The folder that it begins in.", optional: true),
  LuaParameter(
    "env", "table<string, string>", "Its environment, instead of ours.", optional: true),
  LuaParameter(
    "env_add", "table<string, string|false>", "Variables besides; false takes one away.",
    optional: true),
  LuaParameter(
    "group", "boolean", "True: it leads a process group, which signals are for.", optional: true),
  LuaParameter(
    "linger", "number", unit: "s",
    "How long output that others hold open is waited for; default 5.", optional: true),
  LuaParameter("name", "string", "What reports and traces call it.", optional: true),
]

private let spawnOptionDocs: [LuaParameter] =
  childOptionDocs + [
    LuaParameter(
      "stdin", childStream, "Default \"inherit\". A stream is given away: it is closed here.",
      optional: true),
    LuaParameter("stdout", childStream, "Default \"inherit\".", optional: true),
    LuaParameter(
      "stderr", childStream + "|\"stdout\"", "Default \"inherit\"; \"stdout\": where that goes.",
      optional: true),
    LuaParameter(
      "detached", "boolean", "True: it has a session of its own, and outlives the script.",
      optional: true),
    LuaParameter(
      "modes", "moonloop.Modes", "Where its end is heard of; default \"default\".",
      optional: true),
    LuaParameter(
      "keep_alive", "boolean", "False: a run does not go on for it; default true.",
      optional: true),
    LuaParameter(
      "on_exit", "fun(process: moonloop.Process, status: moonloop.ProcessStatus)",
      "Called at its end.", optional: true),
    LuaParameter(
      "on_error", "moonloop.ErrorHandler", "Hears of errors in its handler first.",
      optional: true),
  ]

private let runOptionDocs: [LuaParameter] =
  childOptionDocs + [
    LuaParameter("input", "string", "What it reads from its standard input.", optional: true),
    LuaParameter(
      "stdin", "\"inherit\"|\"null\"|integer|moonloop.Stream|moonloop.Descriptor",
      "Default \"null\".", optional: true),
    LuaParameter("stdout", childStream, "Default \"pipe\": it is in the result.", optional: true),
    LuaParameter(
      "stderr", childStream + "|\"stdout\"", "Default \"pipe\".", optional: true),
    LuaParameter(
      "timeout", "number", unit: "s", "By the system's clock: then it is ended.", optional: true),
    LuaParameter(
      "grace", "number", unit: "s", "Between asking and killing; default 5.", optional: true),
    LuaParameter(
      "check", "boolean", "True: any end but with code 0 is a failure.", optional: true),
    LuaParameter(
      "limit", "integer", unit: "bytes", "The most of each output; default 67108864.",
      optional: true),
  ]

/// The tables that scripts get of processes.
let processRecords: [LuaParameter] = [
  LuaParameter(
    "moonloop.ProcessStatus", "table", "How a process ended.", fields: statusFields),
  LuaParameter(
    "moonloop.ProcessResult", "table", "What came of a process that was run to its end.",
    fields: statusFields + [
      LuaParameter("stdout", "string", "What it wrote, if that was read here.", optional: true),
      LuaParameter("stderr", "string", "The same of its standard error.", optional: true),
    ]),
]

private let statusFields: [LuaParameter] = [
  LuaParameter("code", "integer", "Its exit code, unless it was killed.", optional: true),
  LuaParameter("signal", "string", "What killed it, such as \"term\".", optional: true),
]
