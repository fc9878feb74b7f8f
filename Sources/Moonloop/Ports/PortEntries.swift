// What scripts see of ports, replies and perform requests, with its documentation.

internal import LuaEmbed

/// What a port handle offers.
let portEntries: [LuaEntry] =
  [
    .method("send", portSend) {
      LuaDocs(
        "Puts a message into the port; its handler gets a copy in a later pass.",
        details: "Tables are copied whole, cycles and shared tables too; metatables are not. What "
          + "cannot be copied is an error that names the path to it, such as `message.items[3]`.",
        parameters: [
          LuaParameter(
            "message", "any",
            "Nil, booleans, numbers, strings, ports, descriptors, tables of these."),
          LuaParameter(
            "options", "moonloop.SendOptions", "How to wait.", optional: true,
            fields: [
              LuaParameter(
                "timeout", "number", unit: "s",
                "How long to wait for room in a full port; default 0: not at all.",
                optional: true)
            ]),
        ],
        returns: [LuaParameter("sent", "true?", "Nil when it was refused.")],
        errors: [
          "Returns `nil, message, code`: \"EAGAIN\" when the port is full, \"ETIMEDOUT\" when it "
            + "stays so, \"EPIPE\" when it has ended.",
          "Raises an error for functions, threads and other userdata.",
        ],
        yields: true,
        example: """
          local port = loop:port { function(port, message)
            print(message.op, message.path)   --> resize a.png
            port:invalidate()
          end }
          port:send { op = "resize", path = "a.png" }
          """)
    },
    .method("request", portRequest) {
      LuaDocs(
        "Sends a message and waits for the reply.",
        details: "A task is suspended meanwhile. Where Lua cannot wait, in a handler of the port "
          + "itself, and with 'mode', it runs the loop: in a private mode, where nothing else is "
          + "served, or in the one that is named.",
        parameters: [
          LuaParameter("message", "any", "As for `send`."),
          LuaParameter(
            "options", "moonloop.RequestOptions", "How to wait.", optional: true,
            fields: [
              LuaParameter(
                "timeout", "number", unit: "s", "How long; default: for ever.", optional: true),
              LuaParameter(
                "send_timeout", "number", unit: "s",
                "How long to wait for room in a full port; default 0.", optional: true),
              LuaParameter("mode", "string", "Runs the loop in this mode.", optional: true),
            ]),
        ],
        returns: [LuaParameter("reply", "any", "A copy of what was replied.")],
        errors: [
          "Returns `nil, message, code`: \"ETIMEDOUT\", \"EPIPE\" (nobody will reply: the port "
            + "has ended, or the request was dropped), \"EAGAIN\" (it is full), \"ECANCELED\" "
            + "(the run was stopped)."
        ],
        yields: true,
        example: """
          local port = loop:port { function(port, message, reply) reply(message * 2) end }
          print(port:request(21, { timeout = 1 }))   --> 42
          port:invalidate()
          """)
    },
    .method("on", portOn) {
      LuaDocs(
        "Sets the handler of the port; it gets no handle, only the message and the reply.",
        details: "With nil the port has none, and messages wait in it.",
        parameters: [
          LuaParameter("event", "\"message\"", "There is one."),
          LuaParameter(
            "handler", "fun(message: any, reply: moonloop.Reply)?", "The handler, or nil."),
        ],
        returns: [LuaParameter("port", "moonloop.Port", "The handle itself.")],
        errors: [
          "Raises an error for another event, when the port is invalid, or when a task receives "
            + "from it."
        ],
        example: """
          local port = loop:port {}
          port:send "early"
          port:on("message", function(message) print(message); port:invalidate() end)   --> early
          """)
    },
    .method("receive", portReceive) {
      LuaDocs(
        "Takes the next message of a port without a handler; suspends the task until there is one.",
        parameters: [
          LuaParameter(
            "options", "moonloop.ReceiveOptions", "How to wait.", optional: true,
            fields: [
              LuaParameter(
                "timeout", "number", unit: "s", "How long; default: for ever.", optional: true)
            ])
        ],
        returns: [
          LuaParameter("message", "any", "A copy of what was sent."),
          LuaParameter("reply", "moonloop.Reply", "Answers it, if it is a request."),
        ],
        errors: [
          "Returns `nil, message, code`: \"ETIMEDOUT\", \"EPIPE\" when the port has ended.",
          "Raises an error when the port has a handler, or another task receives from it.",
        ],
        yields: true,
        example: """
          local port = loop:port {}
          loop:task(function()
            for _ = 1, 2 do print((port:receive())) end   --> one
            port:invalidate()   --> two
          end)
          port:send "one"
          port:send "two"
          """)
    },
    .field("waiting", portWaiting) {
      LuaDocs(
        "How many messages are in the port.",
        returns: [LuaParameter("count", "integer", "Sent and not yet handed out.")],
        example: """
          local port <close> = loop:port { print }
          port:send(1)
          print(port.waiting)   --> 1
          """)
    },
    .field("capacity", portCapacity) {
      LuaDocs(
        "How many messages the port holds at most.",
        returns: [LuaParameter("count", "integer", "As it was made; default 65536.")],
        example: """
          local port <close> = loop:port { capacity = 1, print }
          port:send(1)
          print(select(3, port:send(2)))   --> EAGAIN
          """)
    },
  ] + itemEntries

/// What the reply of a message offers: it is called.
let replyEntries: [LuaEntry] = [
  .metamethod("__call", replyCall) {
    LuaDocs(
      "Answers a request: `reply(value)`.",
      parameters: [LuaParameter("value", "any", "Copied, as by `port:send`.")],
      returns: [LuaParameter("sent", "true?", "Nil when nobody waits.")],
      errors: [
        "Returns `nil, message, \"EPIPE\"` when nobody waits for it: a message that was only "
          + "sent, a request that has timed out, or one that was answered."
      ],
      example: """
        local port = loop:port { function(port, message, reply) print(reply(1)) end }   --> true
        port:request "count"
        port:invalidate()
        """)
  },
  .metamethod("__tostring", replyToString),
]

/// What the handle of a request offers.
let requestEntries: [LuaEntry] = [
  .method("cancel", requestCancel) {
    LuaDocs(
      "Takes the request back if it was not performed yet.",
      returns: [LuaParameter("cancelled", "boolean", "Whether it was still waiting.")],
      example: """
        local request = loop:perform(print, "never")
        print(request:cancel(), request:cancel())   --> true false
        """)
  },
  .method("invalidate", requestInvalidate) {
    LuaDocs(
      "The same as `cancel`, without an answer: the verb that ends every handle.",
      example: """
        local request = loop:perform_after(1, print, "never")
        request:invalidate()
        """)
  },
  .method("is_pending", requestIsPending) {
    LuaDocs(
      "Whether it still waits to be performed.",
      returns: [LuaParameter("pending", "boolean", "False once it runs, ran or was cancelled.")],
      example: """
        local request = loop:perform(function() end)
        print(request:is_pending())   --> true
        """)
  },
  .method("is_valid", requestIsPending) {
    LuaDocs(
      "The same as `is_pending`: what every handle answers.",
      returns: [LuaParameter("valid", "boolean", "False once it runs, ran or was cancelled.")],
      example: """
        local request = loop:perform(function() end)
        loop:run()
        print(request:is_valid())   --> false
        """)
  },
  .metamethod("__close", requestInvalidate),
  .metamethod("__tostring", requestToString),
]

/// The options of `loop:port` and `ml.port`.
func portOptionDocs(isAdded: Bool) -> LuaParameter {
  LuaParameter(
    "options", isAdded ? "moonloop.LoopPortOptions" : "moonloop.PortOptions",
    "The handler as first element; without one messages wait.",
    fields: [
      LuaParameter(
        "[1]", "fun(port: moonloop.Port, message: any, reply: moonloop.Reply)",
        "The handler; `reply` answers a request.", optional: true),
      LuaParameter(
        "capacity", "integer", "How many messages it holds, up to 16777216; default 65536.",
        optional: true),
    ] + itemOptionDocs(isAdded: isAdded))
}
