// What scripts see of channels, with its documentation.

internal import LuaEmbed

let channelEntries: [LuaEntry] = [
  .method("send", channelSend) {
    LuaDocs(
      "Hands a value to whoever receives; waits while the channel is full.",
      details:
        "With capacity 0 it waits until somebody takes the value. Who began to wait first is "
        + "served first. A task that is cancelled while it waits has sent nothing.",
      parameters: [
        LuaParameter("value", "any", "Anything but nil, which is the end; the very value."),
        waitOptionDocs,
      ],
      returns: [LuaParameter("sent", "true?", "Once it was taken, or lies in the channel.")],
      errors: [
        "Returns `nil, \"closed\", \"EPIPE\"` when the channel is or gets closed, and `nil, "
          + "\"timed out\", \"ETIMEDOUT\"`: then nobody gets the value.",
        "Raises an error where Lua cannot wait; use `try_send` there.",
      ],
      yields: true,
      example: """
        local jobs = ml.channel(1)
        loop:task(function()
          print(jobs:send "first")                      --> true
          print(jobs:send("second", { timeout = 1 }))   --> nil timed out ETIMEDOUT
        end)
        """)
  },
  .method("try_send", channelTrySend) {
    LuaDocs(
      "Sends a value if that can be done at once, anywhere.",
      parameters: [LuaParameter("value", "any", "Anything but nil.")],
      returns: [LuaParameter("sent", "true?", "If it was taken, or lies in the channel.")],
      errors: [
        "Returns `nil, \"full\", \"EAGAIN\"` if it would have to wait, and `nil, \"closed\", "
          + "\"EPIPE\"`."
      ],
      example: """
        local jobs = ml.channel(1)
        print(jobs:try_send "first")    --> true
        print(jobs:try_send "second")   --> nil full EAGAIN
        """)
  },
  .method("receive", channelReceive) {
    LuaDocs(
      "Takes the next value; waits while there is none.",
      details: "Values come in the order of sending. Who began to wait first gets the first.",
      parameters: [waitOptionDocs],
      returns: [
        LuaParameter("value", "any", "The value; nil when the channel is closed and empty.")
      ],
      errors: [
        "Returns `nil, \"timed out\", \"ETIMEDOUT\"` when the time is over.",
        "Raises an error where Lua cannot wait; use `try_receive` there.",
      ],
      yields: true,
      example: """
        local jobs = ml.channel(1)
        loop:task(function() print(jobs:receive()) end)   --> build
        jobs:try_send "build"
        """)
  },
  .method("try_receive", channelTryReceive) {
    LuaDocs(
      "Takes the next value if there is one, anywhere.",
      returns: [
        LuaParameter("value", "any", "The value; nil when the channel is closed and empty.")
      ],
      errors: ["Returns `nil, \"empty\", \"EAGAIN\"` if it would have to wait."],
      example: """
        local jobs = ml.channel(1)
        print(jobs:try_receive())   --> nil empty EAGAIN
        """)
  },
  .method("items", channelItems) {
    LuaDocs(
      "For a `for`: receives until the channel is closed and empty.",
      returns: [
        LuaParameter("next", "fun(channel: moonloop.Channel): any", "Receives; may suspend."),
        LuaParameter("channel", "moonloop.Channel", "What it is called with."),
      ],
      example: """
        local jobs = ml.channel(2)
        jobs:try_send "one"; jobs:try_send "two"; jobs:close()
        for job in jobs:items() do print(job) end   --> one
        --> two
        """)
  },
  .method("close", channelClose) {
    LuaDocs(
      "Says that nothing more is sent: receivers get the rest, then nil.",
      details: "Senders, those that wait too, get `nil, \"closed\", \"EPIPE\"`. Has no effect on a "
        + "closed channel.",
      example: """
        local jobs = ml.channel(1)
        jobs:try_send "last"
        jobs:close()
        print(jobs:receive(), jobs:receive())   --> last nil
        """)
  },
  .method("invalidate", channelInvalidate) {
    LuaDocs(
      "Closes the channel and drops what is in it; so does a `<close>` variable.",
      example: """
        local jobs = ml.channel(1)
        jobs:try_send "lost"
        jobs:invalidate()
        print(jobs:receive())   --> nil
        """)
  },
  .method("is_valid", channelIsValid) {
    LuaDocs(
      "Whether something can still be sent: it was neither closed nor invalidated.",
      returns: [LuaParameter("valid", "boolean", "False once it was closed.")],
      example: """
        local jobs = ml.channel(1)
        jobs:close()
        print(jobs:is_valid())   --> false
        """)
  },
  .field("name", channelName) {
    LuaDocs(
      "The name that it was made with, or an empty string.",
      returns: [LuaParameter("name", "string", "As deadlocks show it.")],
      example: """
        print(ml.channel({ name = "jobs" }).name)   --> jobs
        """)
  },
  .field("capacity", channelCapacity) {
    LuaDocs(
      "How many values it holds for those who will receive.",
      returns: [LuaParameter("capacity", "integer", "0: a sender waits for a receiver.")],
      example: """
        print(ml.channel(16).capacity)   --> 16
        """)
  },
  .field("count", channelCount) {
    LuaDocs(
      "How many values are in it now; `#channel` is the same.",
      returns: [LuaParameter("count", "integer", "Without those of senders that wait.")],
      example: """
        local jobs = ml.channel(4)
        jobs:try_send "one"
        print(jobs.count, #jobs)   --> 1 1
        """)
  },
  .metamethod("__len", channelCount),
  .metamethod("__close", channelInvalidate),
  .metamethod("__tostring", channelToString),
]

/// How long a wait may take: of channels and semaphores.
let waitOptionDocs = LuaParameter(
  "options", "moonloop.DeadlineOptions", "How to wait.", optional: true,
  fields: [
    LuaParameter("timeout", "number", unit: "s", "How long; default: for ever.", optional: true)
  ])

let channelOptionDocs = LuaParameter(
  "options", "moonloop.ChannelOptions", "Options; the capacity may stand for them.",
  optional: true,
  fields: [
    LuaParameter(
      "capacity", "integer", "How many values it holds; default 0: a sender waits for a receiver.",
      optional: true),
    LuaParameter("name", "string", "What deadlocks call it.", optional: true),
  ])
