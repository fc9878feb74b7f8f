// What scripts see of `ml.port`, with its documentation.

internal import LuaEmbed

/// `ml.port { … }`.
let portCallEntry = LuaEntry.metamethod("__call", modulePort) {
  LuaDocs(
    "Makes a port of this process, without adding it to the loop.",
    details: "It is in no mode until `loop:add` puts it there; `loop:port` does both.",
    parameters: [portOptionDocs(isAdded: false)],
    returns: [LuaParameter("port", "moonloop.Port", "The port.")],
    errors: ["Raises an error that names the option that is wrong."],
    example: """
      local port = ml.port { name = "jobs", function(port, job)
        print(job)   --> build
        port:invalidate()
      end }
      loop:add(port, "common")
      port:send "build"
      """)
}

private let nameDocs = LuaParameter(
  "name", "string", "Letters, digits, `.`, `-` and `_`, at most 64; such as \"org.example.app\".")

/// The options of both functions.
private func namedOptionDocs(_ type: String, _ handler: String) -> LuaParameter {
  LuaParameter(
    "options", type, "The handler as first element; without one messages wait.", optional: true,
    fields: [
      LuaParameter(
        "[1]", handler, "The handler; as that of `loop:port`.", optional: true),
      LuaParameter(
        "capacity", "integer", "How many messages wait in each direction; default 65536.",
        optional: true),
    ] + itemOptionDocs(isAdded: true).filter { $0.name != "name" })
}

/// The functions of `ml.port`.
let namedPortEntries: [LuaEntry] = [
  .function("listen", portListen) {
    LuaDocs(
      "Takes a name for a port, which other processes of this user find by it.",
      details: "The handler's last argument is the way to the process that has sent the message; "
        + "its `name` says which. The port is in its modes from the begin. The name is free again "
        + "when the port ends, and when the process does, however that comes.",
      parameters: [
        nameDocs,
        namedOptionDocs(
          "moonloop.PortListenOptions",
          "fun(port: moonloop.Port, message: any, reply: moonloop.Reply, "
            + "from: moonloop.RemotePort)"),
      ],
      returns: [LuaParameter("port", "moonloop.Port?", "The port.")],
      errors: [
        "Returns `nil, message, code`: \"EADDRINUSE\" when the name is taken (the message says by "
          + "which process), \"EACCES\" when the folder of the names is not this user's alone.",
        "Raises an error for what is no name, and that names the option that is wrong.",
      ],
      example: """
        local control = assert(ml.port.listen "org.example.listen")
        control:on("message", function(message, reply, from)
          reply(message:upper())
          control:invalidate()
        end)
        loop:task(function()
          local port <close> = assert(ml.port.connect "org.example.listen")
          print(port:request "ping")   --> PING
        end)
        """)
  },
  .function("connect", portConnect) {
    LuaDocs(
      "Connects to the port with a name, of this process or another one of this user.",
      details: "What is sent goes to the port that listens; what comes is what that sends back by "
        + "its handler's last argument. It holds a run only while it has a handler or a task "
        + "receives from it, and ends with the other process: then `receive` gives \"EPIPE\".",
      parameters: [
        nameDocs,
        namedOptionDocs(
          "moonloop.PortConnectOptions",
          "fun(port: moonloop.Port, message: any, reply: moonloop.Reply)"),
      ],
      returns: [LuaParameter("port", "moonloop.Port?", "This side of the connection.")],
      errors: [
        "Returns `nil, message, code`: \"ECONNREFUSED\" when nobody listens, \"EACCES\" when it is "
          + "another user's.",
        "Raises an error for what is no name, and that names the option that is wrong.",
      ],
      example: """
        print(ml.port.connect "org.example.nobody")
        --> nil port 'org.example.nobody': nobody listens on it ECONNREFUSED
        """)
  },
]
