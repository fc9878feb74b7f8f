// What scripts see of the network, with its documentation.

internal import LuaEmbed

private let modesDocs = LuaParameter(
  "modes", "moonloop.Modes", "Where it is served; default: as what makes it.", optional: true)

private let deadlineDocs = LuaParameter(
  "options", "moonloop.DeadlineOptions", "How long to wait.", optional: true,
  fields: [
    LuaParameter("timeout", "number", unit: "s", "From now; default: for ever.", optional: true)
  ])

private let socketOptionDocs: [LuaParameter] = [
  LuaParameter(
    "nodelay", "boolean", "False: small writes are gathered (Nagle); default true.",
    optional: true),
  LuaParameter(
    "keepalive", "integer", unit: "s", "Asks silent peers whether they live, after so long.",
    optional: true),
]

/// The functions of `ml.net`.
let netEntries: [LuaEntry] = [
  .function("listen", netListen) {
    LuaDocs(
      "Listens for connections: each gets a task of its own, which runs the handler.",
      details: "The stream is closed when its handler returns, unless it has a handler of events "
        + "or another task waits for it. Without a handler, `server:accept` gives the "
        + "connections. When descriptors are wanting, that is reported once, and accepting goes "
        + "on by itself when there are some.",
      parameters: [listenOptionDocs()],
      returns: [LuaParameter("server", "moonloop.Server?", "It listens already.")],
      errors: [
        "Returns `nil, message, code`: \"EADDRINUSE\", \"EACCES\", \"EADDRNOTAVAIL\", ...",
        "Raises an error that names the option that is wrong.",
      ],
      example: """
        local server = ml.net.listen { host = "127.0.0.1", port = 0, function(stream, peer)
          for line in stream:lines() do stream:write(line:upper(), "\\n") end
        end }
        loop:task(function()
          local s <close> = ml.net.connect { host = "127.0.0.1", port = server.port }
          s:write "hello\\n"
          print(s:read "l")   --> HELLO
          server:invalidate()
        end)
        """)
  },
  .function("connect", netConnect) {
    LuaDocs(
      "Connects to a server, and waits until that is done.",
      details: "A host is looked up off the loop. Its addresses are tried in turn, families "
        + "alternating: the next when one has failed, or beside it after 250 ms; the first that "
        + "answers is taken.",
      parameters: [connectOptionDocs()],
      returns: [LuaParameter("stream", "moonloop.Stream?", "The connection.")],
      errors: [
        "Returns `nil, message, code`: \"ECONNREFUSED\", \"ETIMEDOUT\", \"EHOSTUNREACH\", "
          + "\"EAI_NONAME\" for a name without address, ...",
        "Raises an error that names the option that is wrong, and where Lua cannot wait.",
      ],
      yields: true,
      example: """
        loop:task(function()
          print(select(3, ml.net.connect { path = "@nobody.listens.here", timeout = 1 }))
          --> ECONNREFUSED
        end)
        """)
  },
  .function("resolve", netResolve) {
    LuaDocs(
      "Looks a name up without blocking the loop, and waits for its addresses.",
      parameters: [
        LuaParameter("name", "string", "A host; an address is given back."),
        LuaParameter(
          "options", "moonloop.ResolveOptions", "Which, and how long to wait.", optional: true,
          fields: [
            LuaParameter(
              "family", "\"any\"|\"inet\"|\"inet6\"", "Default \"any\".", optional: true),
            LuaParameter(
              "timeout", "number", unit: "s", "From now; default: for ever.", optional: true),
          ]),
      ],
      returns: [LuaParameter("addresses", "string[]?", "At least one, the best first.")],
      errors: [
        "Returns `nil, message, code`: \"EAI_NONAME\", \"EAI_AGAIN\", \"ETIMEDOUT\", ...",
        "Raises an error where Lua cannot wait, which it names.",
      ],
      yields: true,
      example: """
        loop:task(function()
          print(ml.net.resolve("localhost", { family = "inet" })[1])   --> 127.0.0.1
        end)
        """)
  },
  .function("udp", netUDP) {
    LuaDocs(
      "Makes a socket for datagrams.",
      parameters: [udpOptionDocs()],
      returns: [LuaParameter("socket", "moonloop.Datagrams?", "It is bound already.")],
      errors: [
        "Returns `nil, message, code`: \"EADDRINUSE\", \"EACCES\", ...",
        "Raises an error that names the option that is wrong.",
      ],
      example: """
        local echo = ml.net.udp { host = "127.0.0.1", function(socket, data, peer)
          socket:send(data:upper(), peer.host, peer.port)
          socket:invalidate()
        end }
        loop:task(function()
          local socket <close> = ml.net.udp { host = "127.0.0.1" }
          socket:send("hello", "127.0.0.1", echo.port)
          print((socket:receive { timeout = 5 }))   --> HELLO
        end)
        """)
  },
]

/// What a server's handle offers.
let serverEntries: [LuaEntry] =
  [
    .method("accept", serverAccept) {
      LuaDocs(
        "Waits for the next connection, of a server without a handler.",
        parameters: [deadlineDocs],
        returns: [
          LuaParameter("stream", "moonloop.Stream?", "The connection."),
          LuaParameter("peer", "moonloop.Peer", "Who it is."),
        ],
        errors: [
          "Returns `nil, message, code`: \"ETIMEDOUT\", \"ECANCELED\" when it is closed meanwhile.",
          "Raises an error when it has a handler, and when another task waits already.",
        ],
        yields: true,
        example: """
          local server = ml.net.listen { path = "@accept.example" }
          loop:task(function()
            local stream, peer = server:accept()
            print(stream:read "a")   --> hello
            server:invalidate()
          end)
          loop:task(function()
            ml.net.connect({ path = "@accept.example" }):write("hello"):close()
          end)
          """)
    },
    .field("port", serverPort) {
      LuaDocs(
        "The port, also if the system chose it; nil of a Unix socket.",
        returns: [LuaParameter("port", "integer?", "From 1 to 65535.")],
        example: """
          local server <close> = ml.net.listen { host = "127.0.0.1", port = 0 }
          print(server.port > 0)   --> true
          """)
    },
    .field("address", serverAddress) {
      LuaDocs(
        "Where it listens.",
        returns: [LuaParameter("address", "moonloop.Peer", "Host, port and family, or path.")],
        example: """
          local server <close> = ml.net.listen { path = "@address.example" }
          print(server.address.path)   --> @address.example
          """)
    },
    .field("connections", serverConnections) {
      LuaDocs(
        "How many of its connections are open.",
        returns: [LuaParameter("count", "integer", "At most 'max_connections'.")],
        example: """
          local server <close> = ml.net.listen { path = "@connections.example" }
          print(server.connections)   --> 0
          """)
    },
  ] + itemEntries

/// What the handle of a socket for datagrams offers.
let datagramEntries: [LuaEntry] =
  [
    .method("send", datagramSend) {
      LuaDocs(
        "Sends one datagram, whole or not at all, without waiting.",
        parameters: [
          LuaParameter("data", "string", "At most about 65507 bytes."),
          LuaParameter("host", "string", "An address; not for a connected socket.", optional: true),
          LuaParameter("port", "integer", "From 1 to 65535.", optional: true),
        ],
        returns: [LuaParameter("sent", "true?", "The kernel has taken it.")],
        errors: [
          "Returns `nil, message, code`: \"EAGAIN\", \"EMSGSIZE\", \"ECONNREFUSED\", ...",
          "Raises an error when the socket is invalid, or the address is a name.",
        ],
        example: """
          local socket <close> = ml.net.udp { host = "127.0.0.1" }
          print(socket:send("hello", "127.0.0.1", 9))   --> true
          """)
    },
    .method("receive", datagramReceive) {
      LuaDocs(
        "Waits for the next datagram, of a socket without a handler.",
        parameters: [deadlineDocs],
        returns: [
          LuaParameter("data", "string?", "The datagram, at most 65536 bytes."),
          LuaParameter("peer", "moonloop.Peer", "Who sent it."),
        ],
        errors: [
          "Returns `nil, message, code`: \"ETIMEDOUT\", \"ECONNREFUSED\", \"ECANCELED\", ...",
          "Raises an error when it has a handler, and when another task waits already.",
        ],
        yields: true,
        example: """
          loop:task(function()
            local socket <close> = ml.net.udp { host = "127.0.0.1" }
            print(select(3, socket:receive { timeout = 0 }))   --> ETIMEDOUT
          end)
          """)
    },
    .field("port", datagramPort) {
      LuaDocs(
        "The port, also if the system chose it.",
        returns: [LuaParameter("port", "integer", "From 1 to 65535.")],
        example: """
          local socket <close> = ml.net.udp { host = "127.0.0.1" }
          print(socket.port > 0)   --> true
          """)
    },
  ] + itemEntries

private let nameDocs = LuaParameter(
  "name", "string", "What reports and traces call it; default: its address.", optional: true)

private func listenOptionDocs() -> LuaParameter {
  LuaParameter(
    "options", "moonloop.ListenOptions", "Where to listen, and the handler.",
    fields: [
      LuaParameter(
        "[1]", "fun(stream: moonloop.Stream, peer: moonloop.Peer)",
        "Called in a task for each connection.", optional: true),
      LuaParameter(
        "host", "string",
        "An address, \"localhost\", or \"*\" for all of the machine (the default), by IPv6 too.",
        optional: true),
      LuaParameter("port", "integer", "0: the system chooses one.", optional: true),
      LuaParameter(
        "path", "string",
        "Instead of them, a Unix socket; behind \"@\" an abstract name. A file that was left "
          + "behind is replaced; the own file is removed at the end.", optional: true),
      LuaParameter(
        "backlog", "integer", "How many may wait to be accepted; default 1024.", optional: true),
      LuaParameter(
        "reuse_port", "boolean", "Others may listen on the port too (SO_REUSEPORT).",
        optional: true),
      LuaParameter("v6_only", "boolean", "Of an IPv6 address: no IPv4.", optional: true),
      LuaParameter(
        "permissions", "integer", "Of the socket's file, such as 384 (0600).", optional: true),
      LuaParameter(
        "max_connections", "integer", "More wait to be accepted; default: no limit.",
        optional: true),
      nameDocs, modesDocs,
      LuaParameter(
        "keep_alive", "boolean", "False: a run does not go on for it; default true.",
        optional: true),
      LuaParameter(
        "on_error", "moonloop.ErrorHandler", "Hears first of errors in handlers, and of its own.",
        optional: true),
    ] + socketOptionDocs + streamLimitDocs())
}

private func connectOptionDocs() -> LuaParameter {
  LuaParameter(
    "options", "moonloop.ConnectOptions", "Where to, and how long it may take.",
    fields: [
      LuaParameter("host", "string", "A name or an address.", optional: true),
      LuaParameter("port", "integer", "From 1 to 65535.", optional: true),
      LuaParameter(
        "path", "string", "Instead of them, a Unix socket; behind \"@\" an abstract name.",
        optional: true),
      LuaParameter(
        "family", "\"any\"|\"inet\"|\"inet6\"", "Of the addresses of a name; default \"any\".",
        optional: true),
      LuaParameter(
        "timeout", "number", unit: "s", "For all of it, the name included; default: none.",
        optional: true),
      LuaParameter("local_host", "string", "The own address to use.", optional: true),
      nameDocs,
      LuaParameter(
        "modes", "moonloop.Modes",
        "Where queued bytes are written and its handler is called; default: as what makes it.",
        optional: true),
      LuaParameter(
        "io_timeout", "number", unit: "s", "For each read and write; default: none.",
        optional: true),
    ] + socketOptionDocs + streamLimitDocs().filter { $0.name != "timeout" })
}

private func udpOptionDocs() -> LuaParameter {
  LuaParameter(
    "options", "moonloop.DatagramOptions", "Where it is, and the handler.",
    fields: [
      LuaParameter(
        "[1]",
        "fun(socket: moonloop.Datagrams, data: string?, peer: moonloop.Peer|string, code?: string)",
        "Called with each datagram; or with nil, message and code.", optional: true),
      LuaParameter(
        "host", "string", "The own address; default \"0.0.0.0\".", optional: true),
      LuaParameter("port", "integer", "Default 0: the system chooses one.", optional: true),
      LuaParameter(
        "connect", "{ host: string, port: integer }", "The only peer, by address.",
        optional: true),
      LuaParameter("broadcast", "boolean", "It may send to all.", optional: true),
      LuaParameter(
        "reuse_port", "boolean", "Others may have the port too (SO_REUSEPORT).", optional: true),
      nameDocs, modesDocs,
      LuaParameter(
        "keep_alive", "boolean", "False: a run does not go on for it; default true.",
        optional: true),
      LuaParameter(
        "on_error", "moonloop.ErrorHandler", "Hears first of errors in its handler.",
        optional: true),
    ])
}

/// What tells of an address.
let peerRecord = LuaParameter(
  "moonloop.Peer", "table", "Where a socket is, and who is there.",
  fields: [
    LuaParameter("family", "string", "\"inet\", \"inet6\" or \"unix\"."),
    LuaParameter("host", "string", "The address.", optional: true),
    LuaParameter("port", "integer", "The port.", optional: true),
    LuaParameter("path", "string", "Of a Unix socket; often empty.", optional: true),
    LuaParameter("pid", "integer", "Of a Unix peer: its process.", optional: true),
    LuaParameter("uid", "integer", "Of a Unix peer: its user.", optional: true),
    LuaParameter("gid", "integer", "Of a Unix peer: its group.", optional: true),
  ])
