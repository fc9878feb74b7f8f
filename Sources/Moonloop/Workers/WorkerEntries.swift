// What scripts see of workers and of ports of other states, with its documentation.

internal import LuaEmbed

/// The options of `ml.worker`.
let workerOptionDocs = LuaParameter(
  "options", "moonloop.WorkerOptions", "The script, and what it gets.",
  fields: [
    LuaParameter(
      "[1]", "string",
      "The script's file: beside this script, as for `require`, else in the working directory.",
      optional: true),
    LuaParameter("source", "string", "The text of the script, instead of a file.", optional: true),
    LuaParameter(
      "args", "any", "What the script gets as `...`: a copy, as by `port:send`.", optional: true),
    LuaParameter(
      "memory", "integer|string",
      "The most that its Lua may hold, such as \"8M\"; default: as here.", optional: true),
    LuaParameter(
      "callout", "number", unit: "s",
      "The most that one call of a handler may run; default: as here.", optional: true),
    LuaParameter(
      "capacity", "integer", "How many messages may wait in each direction; default 65536.",
      optional: true),
  ] + itemOptionDocs(isAdded: true))

/// What the handle of a worker offers.
let workerEntries: [LuaEntry] =
  [
    .field("port", workerPort) {
      LuaDocs(
        "The owner's end of the worker's port; `ml.parent` is the other end.",
        details: "It is in the modes of the worker, and does not hold a run by itself. Messages "
          + "that were sent before the worker ended are still delivered; then it ends.",
        returns: [LuaParameter("port", "moonloop.Port", "Always the same handle.")],
        example: """
          local worker = assert(ml.worker { source = [[
            local ml = require("moonloop")
            ml.parent:send "hello"
          ]] })
          worker.port:on("message", print)   --> hello reply (nobody waits)
          """)
    },
    .method("await", workerAwait) {
      LuaDocs(
        "Suspends the caller until the worker has ended; gives what its script returned.",
        parameters: [
          LuaParameter(
            "options", "moonloop.AwaitOptions", "How to wait.", optional: true,
            fields: [
              LuaParameter(
                "timeout", "number", unit: "s", "How long; default: for ever.", optional: true)
            ])
        ],
        returns: [LuaParameter("...", "any", "Copies of what the script returned.")],
        errors: [
          "Raises the error that ended the script, with its traceback.",
          "Returns `nil, message, code`: \"ECANCELED\" when it was stopped, \"ETIMEDOUT\".",
        ],
        yields: true,
        example: """
          loop:task(function()
            local worker = assert(ml.worker { source = "local n = ... return n * 2", args = 21 })
            print(worker:await())   --> 42
          end)
          """)
    },
    .method("stop", workerStop) {
      LuaDocs(
        "Asks the worker to end, and does not wait for that.",
        details: "Its runs end as if they had been stopped; a call that goes on after 0.3 s is "
          + "interrupted, which no `pcall` catches. Its tasks close what they hold.",
        example: """
          loop:task(function()
            local worker = assert(ml.worker { source = "while true do end" })
            worker:stop()
            print(select(3, worker:await()))   --> ECANCELED
          end)
          """)
    },
    .field("status", workerStatus) {
      LuaDocs(
        "What has become of the worker.",
        returns: [
          LuaParameter(
            "status", "\"running\"|\"stopping\"|\"done\"|\"failed\"|\"stopped\"",
            "As far as this loop has heard of it.")
        ],
        example: """
          loop:task(function()
            local worker = assert(ml.worker { source = "" })
            print(worker.status)   --> running
            worker:await()
            print(worker.status)   --> done
          end)
          """)
    },
    .metamethod("__close", workerClose) {
      LuaDocs("Stops the worker, and waits for its end where a task can wait.")
    },
    .metamethod("__tostring", workerToString),
  ] + itemEntries.filter { !["__close", "__tostring"].contains("\($0.name)") }

/// What the handle of a port of another state offers.
let remotePortEntries: [LuaEntry] =
  portEntries.filter { ["send", "request"].contains("\($0.name)") } + [
    .method("invalidate", remotePortInvalidate) {
      LuaDocs(
        "Gives this way to the port up; the port itself goes on.",
        example: """
          local port = loop:port {}
          port:on("message", function(other) print(other == port); port:invalidate() end)
          port:send(port)   --> true
          """)
    },
    .method("is_valid", remotePortIsValid) {
      LuaDocs(
        "Whether messages can still be sent: false once either end was invalidated.",
        returns: [LuaParameter("valid", "boolean", "As far as can be known here.")],
        example: """
          local worker = assert(ml.worker { source = [[
            local ml = require("moonloop")
            ml.parent:on("message", function(port)
              port:send("from the worker: " .. tostring(port:is_valid()))
              ml.parent:on("message", nil)
            end)
          ]] })
          local port = loop:port { function(port, text) print(text); port:invalidate() end }
          worker.port:send(port)   --> from the worker: true
          """)
    },
    .field("name", remotePortName) {
      LuaDocs(
        "What the port is called where it was made.",
        returns: [LuaParameter("name", "string", "Empty if it has none.")],
        example: """
          local worker = assert(ml.worker { source = [[
            local ml = require("moonloop")
            ml.parent:on("message", function(port)
              port:send(port.name)
              ml.parent:on("message", nil)
            end)
          ]] })
          local port = loop:port { name = "answers", function(port, text)
            print(text)   --> answers
            port:invalidate()
          end }
          worker.port:send(port)
          """)
    },
    .metamethod("__close", remotePortInvalidate),
    .metamethod("__tostring", remotePortToString),
  ]
