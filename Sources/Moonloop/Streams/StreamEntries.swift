// What scripts see of streams, with its documentation.

internal import LuaEmbed

private let waitErrors =
  "Raises an error when the stream is closed, when another task waits for the same, and where Lua "
  + "cannot wait, which it names."

private let deadlineDocs = LuaParameter(
  "options", "moonloop.DeadlineOptions", "How long to wait.", optional: true,
  fields: [
    LuaParameter(
      "timeout", "number", unit: "s", "From now; default: that of the stream.", optional: true)
  ])

/// What a stream's handle offers.
let streamEntries: [LuaEntry] =
  streamReadingEntries + streamWritingEntries + streamLifeEntries + streamFieldEntries

private let streamReadingEntries: [LuaEntry] = [
  .method("read", streamRead) {
    LuaDocs(
      "Reads, waiting until there is what the formats ask for.",
      details: "The formats are those of the io library: `\"l\"` a line without its newline, "
        + "`\"L\"` with it, `\"a\"` all up to the end of file, `\"n\"` a number, and a number of "
        + "bytes, which gives fewer only before the end of file. Nothing is taken before all "
        + "formats are there: a read that times out loses no bytes.",
      parameters: [
        LuaParameter(
          "...", "integer|string|moonloop.DeadlineOptions",
          "Formats; default \"l\". Behind them may stand `{ timeout = seconds }`.",
          optional: true)
      ],
      returns: [LuaParameter("...", "string|number|nil", "A value for each; nil at the end.")],
      errors: [
        "Returns `nil, message, code`: \"ETIMEDOUT\", \"EMSGSIZE\" for a line longer than "
          + "'line_limit', \"ECONNRESET\", \"ECANCELED\" when it is closed meanwhile, ...",
        waitErrors,
      ],
      yields: true,
      example: """
        loop:task(function()
          local input = loop:stream { fd = 0 }
          print(input:read("l", 2))   --> one tw
        end)
        """)
  },
  .method("read_some", streamReadSome) {
    LuaDocs(
      "Reads what there is, waiting only until there is anything.",
      parameters: [
        LuaParameter(
          "max", "integer", unit: "bytes", "How much at most; default 65536.", optional: true),
        deadlineDocs,
      ],
      returns: [LuaParameter("data", "string?", "At least one byte; nil at the end of file.")],
      errors: ["As `stream:read`."],
      yields: true,
      example: """
        loop:task(function()
          local input = loop:stream { fd = 0 }
          print(#input:read_some())   --> 14
        end)
        """)
  },
  .method("receive_fd", streamReceiveDescriptor) {
    LuaDocs(
      "Waits for a descriptor from the process at the other end of a Unix socket.",
      details: "Bytes without a descriptor are `nil, message, \"ENOMSG\"`, and stay to be read.",
      parameters: [deadlineDocs],
      returns: [
        LuaParameter("fd", "integer?", "The number of an open descriptor, from now on yours."),
        LuaParameter("data", "string", "The bytes that came with it."),
      ],
      errors: [
        "Returns `nil, message, code`, and nil alone at the end of file.",
        "Raises an error when bytes were read ahead: descriptors among them are lost.",
      ],
      yields: true,
      example: """
        loop:task(function()
          local socket = loop:stream { fd = 0 }
          print(select(3, socket:receive_fd { timeout = 1 }))   --> ENOMSG
          print(socket:read "l")   --> one
        end)
        """)
  },
  .method("lines", streamLines) {
    LuaDocs(
      "Reads line by line in a `for`, or in other formats.",
      details: "The loop ends at the end of file, and when the stream is closed. A failure is "
        + "raised, as `io.lines` does; `stream.failure` tells its code.",
      parameters: [
        LuaParameter("...", "integer|string", "Formats; default \"l\".", optional: true)
      ],
      returns: [LuaParameter("next", "fun(): string?", "Reads the next.")],
      errors: ["Raises an error when a read fails, or takes too long.", waitErrors],
      yields: true,
      example: """
        loop:task(function()
          for line in loop:stream({ fd = 0 }):lines() do
            print(line)   --> one
            --> two
            --> three
          end
        end)
        """)
  },
]

private let streamWritingEntries: [LuaEntry] = [
  .method("write", streamWrite) {
    LuaDocs(
      "Writes; waits while more than 'write_limit' bytes are queued.",
      details: "What the kernel does not take at once is queued, and written while the loop runs. "
        + "A write that times out has queued its bytes all the same.",
      parameters: [
        LuaParameter(
          "...", "string|number|moonloop.DeadlineOptions",
          "Written one behind the other. Behind them may stand `{ timeout = seconds }`.")
      ],
      returns: [LuaParameter("stream", "moonloop.Stream?", "The stream itself.")],
      errors: [
        "Returns `nil, message, code`: \"EPIPE\" when nobody reads any more, \"ETIMEDOUT\", ...",
        waitErrors,
      ],
      yields: true,
      example: """
        local socket = loop:stream { fd = 0 }
        print(socket:write("hello ", 42, "\\n") == socket)   --> true
        """)
  },
  .method("flush", streamFlush) {
    LuaDocs(
      "Waits until all that was written has gone to the kernel.",
      parameters: [deadlineDocs],
      returns: [LuaParameter("stream", "moonloop.Stream?", "The stream itself.")],
      errors: ["As `stream:write`."],
      yields: true,
      example: """
        loop:task(function()
          local socket = loop:stream { fd = 0 }
          socket:write "hello"
          print(socket:flush().queued)   --> 0
        end)
        """)
  },
  .method("copy_to", streamCopyTo) {
    LuaDocs(
      "Copies to another stream up to the end of file, as fast as the slower of the two.",
      details: "From a file, and from or to a pipe, the kernel moves the bytes by itself "
        + "(`sendfile`, `splice`).",
      parameters: [
        LuaParameter("other", "moonloop.Stream", "Nobody else may write to it meanwhile."),
        LuaParameter(
          "n", "integer", unit: "bytes", "How much at most; default: all.", optional: true),
        deadlineDocs,
      ],
      returns: [LuaParameter("count", "integer?", unit: "bytes", "How much was copied.")],
      errors: ["Returns `nil, message, code` when a stream breaks or is closed.", waitErrors],
      yields: true,
      example: """
        local server = ml.net.listen { path = "@copy.example", max_connections = 1,
          function(stream) stream:read "a" end }
        server:keep_alive(false)
        loop:task(function()
          local input = loop:stream { fd = 0 }
          local sink = ml.net.connect { path = "@copy.example" }
          print(input:copy_to(sink))   --> 14
          sink:close()
        end)
        """)
  },
  .method("send_fd", streamSendDescriptor) {
    LuaDocs(
      "Hands a descriptor to the process at the other end of a Unix socket.",
      details: "It waits, as a write does, until what was written before is gone and the socket "
        + "has room. A copy is handed on: yours stays open, and may be closed meanwhile.",
      parameters: [
        LuaParameter("fd", "integer|moonloop.Stream", "Its own copy stays open."),
        LuaParameter(
          "data", "string", "Bytes that go with it; default one zero.", optional: true),
        deadlineDocs,
      ],
      returns: [LuaParameter("stream", "moonloop.Stream?", "The stream itself.")],
      errors: [
        "Returns `nil, message, code`: \"ETIMEDOUT\" (it was not handed on), \"EPIPE\", ...",
        waitErrors,
      ],
      yields: true,
      example: """
        local socket = loop:stream { fd = 0 }
        print(socket:send_fd(0, "input") == socket)   --> true
        """)
  },
  .method("shutdown", streamShutdown) {
    LuaDocs(
      "Tells the peer that nothing more will come, once what is queued is written.",
      details: "The other direction stays open. A pipe has no other: it is closed.",
      parameters: [LuaParameter("what", "\"write\"", "There is no other.", optional: true)],
      returns: [LuaParameter("stream", "moonloop.Stream", "The stream itself.")],
      errors: ["Raises an error when the stream is closed or for reading only."],
      example: """
        local socket = loop:stream { fd = 0 }
        socket:write("bye"):shutdown "write"
        """)
  },
]

private let streamLifeEntries: [LuaEntry] = [
  .method("close", streamClose) {
    LuaDocs(
      "Closes the stream: at once, or when what is queued is written.",
      details: "It never waits: what is queued has ten seconds to go out, and a connection ends so "
        + "that the peer gets all of it, though it still sends. Whoever waits for the stream is "
        + "told. Has no effect on a closed stream; a `<close>` variable does the same "
        + "at the end of its block.",
      example: """
        local socket = loop:stream { fd = 0 }
        socket:close()
        print(socket:is_valid())   --> false
        """)
  },
  .method("invalidate", itemInvalidate) {
    LuaDocs(
      "Ends the stream at once: what is queued is dropped.",
      example: """
        local socket = loop:stream { fd = 0 }
        socket:invalidate()
        print(socket:is_valid())   --> false
        """)
  },
  .method("is_valid", streamIsValid) {
    LuaDocs(
      "Whether the stream was not closed yet.",
      returns: [LuaParameter("valid", "boolean", "False once it was closed.")],
      example: """
        local socket = loop:stream { fd = 0 }
        print(socket:is_valid())   --> true
        """)
  },
  .method("on", streamOn) {
    LuaDocs(
      "Sets a handler that hears of the stream's events, instead of a task that waits.",
      details: "`open_completed` comes before all others; `has_bytes` when there is something to "
        + "read, again only after a read; `has_space` when there is room to write, again only "
        + "after a write; `end` or `error` last, once. One event a call; the handler may wait.",
      parameters: [
        LuaParameter(
          "handler", "fun(stream: moonloop.Stream, event: string, message?: string, code?: string)",
          "Nil: nobody hears of them.", optional: true)
      ],
      returns: [LuaParameter("stream", "moonloop.Stream", "The stream itself.")],
      errors: ["Raises an error when the stream is closed."],
      example: """
        loop:stream({ fd = 0, write = false }):on(function(stream, event)
          print(event)
          if event == "has_bytes" then stream:read_some() end
          if event == "end" then stream:close() end
        end)
        --> open_completed
        --> has_bytes
        --> end
        """)
  },
  .method("set_timeout", streamSetTimeout) {
    LuaDocs(
      "Sets the deadlines of reads and writes from now on.",
      parameters: [
        LuaParameter("read", "number?", unit: "s", "For each read; nil: none."),
        LuaParameter(
          "write", "number?", unit: "s", "For each write; default: as for reads.", optional: true),
      ],
      returns: [LuaParameter("stream", "moonloop.Stream", "The stream itself.")],
      errors: ["Raises an error when the stream is closed."],
      example: """
        local socket = loop:stream({ fd = 0 }):set_timeout(30, 5)
        print(socket.timeout)   --> 30.0
        """)
  },
  .method("keep_alive", streamKeepAlive) {
    LuaDocs(
      "Says whether a run goes on while somebody waits for this stream alone.",
      parameters: [LuaParameter("holds", "boolean", "False: nobody waits for it.")],
      returns: [LuaParameter("stream", "moonloop.Stream", "The stream itself.")],
      errors: ["Raises an error when the stream is closed."],
      example: """
        local socket = loop:stream({ fd = 0 }):keep_alive(false)
        """)
  },
  .method("modes", itemModes) {
    LuaDocs(
      "The modes in which it is watched now.",
      returns: [LuaParameter("modes", "string[]", "Those of who waits; none if nobody ever did.")],
      example: """
        print(#loop:stream({ fd = 0 }):modes())   --> 0
        """)
  },
]

private let streamFieldEntries: [LuaEntry] = [
  .field("timeout", streamTimeout, set: streamSetTimeoutField) {
    LuaDocs(
      "How long reads and writes wait if they do not say it themselves; nil: for ever.",
      returns: [LuaParameter("timeout", "number?", unit: "s", "That of reads; set, it is both.")],
      example: """
        local socket = loop:stream { fd = 0 }
        socket.timeout = 2.5
        print(socket.timeout)   --> 2.5
        """)
  },
  .field("fd", streamNumber) {
    LuaDocs(
      "The number of the descriptor.",
      returns: [LuaParameter("number", "integer", "-1 once it was closed.")],
      example: """
        print(loop:stream({ fd = 0 }).fd)   --> 0
        """)
  },
  .field("failure", streamFailure) {
    LuaDocs(
      "The code of the last read that failed.",
      returns: [LuaParameter("code", "string?", "Such as \"ECONNRESET\"; nil: none failed.")],
      example: """
        loop:task(function()
          local input = loop:stream { fd = 0, line_limit = 2 }
          input:read()
          print(input.failure)   --> EMSGSIZE
        end)
        """)
  },
  .field("peer", streamPeer) {
    LuaDocs(
      "Who is at the other end of a socket; nil of anything else, and when nobody is.",
      returns: [LuaParameter("peer", "moonloop.Peer?", "Asked anew each time.")],
      example: """
        print(loop:stream({ fd = 0 }).peer.family)   --> unix
        """)
  },
  .field("buffered", streamBuffered) {
    LuaDocs(
      "How many bytes were read ahead of what was asked for.",
      returns: [LuaParameter("count", "integer", unit: "bytes", "Kept for the next read.")],
      example: """
        loop:task(function()
          local input = loop:stream { fd = 0 }
          input:read "l"
          print(input.buffered)   --> 10
        end)
        """)
  },
  .field("queued", streamQueued) {
    LuaDocs(
      "How many bytes were written and wait for the kernel to take them.",
      returns: [LuaParameter("count", "integer", unit: "bytes", "At most 'write_limit', mostly.")],
      example: """
        print(loop:stream({ fd = 0 }).queued)   --> 0
        """)
  },
  .field("bytes_read", streamBytesRead) {
    LuaDocs(
      "How many bytes came in.",
      returns: [LuaParameter("count", "integer", unit: "bytes", "What was read ahead included.")],
      example: """
        print(loop:stream({ fd = 0 }).bytes_read)   --> 0
        """)
  },
  .field("bytes_written", streamBytesWritten) {
    LuaDocs(
      "How many bytes went out.",
      returns: [LuaParameter("count", "integer", unit: "bytes", "What is queued left out.")],
      example: """
        print(loop:stream({ fd = 0 }):write("abc").bytes_written)   --> 3
        """)
  },
  .field("name", itemName) {
    LuaDocs(
      "The name that it was made with.",
      returns: [LuaParameter("name", "string", "As reports and traces show it.")],
      example: """
        print(loop:stream({ fd = 0 }).name)   --> stdin
        """)
  },
  .field("fires", itemFires) {
    LuaDocs(
      "How often the kernel had news of it.",
      returns: [LuaParameter("count", "integer", "Reads and writes that need not wait add none.")],
      example: """
        print(loop:stream({ fd = 0 }).fires)   --> 0
        """)
  },
  .field("on_error", itemOnError, set: itemSetOnError) {
    LuaDocs(
      "Who hears of errors in its handler before `loop.on_error` does; nil: nobody.",
      returns: [
        LuaParameter("handler", "moonloop.ErrorHandler?", "The function, or nil for none.")
      ],
      example: """
        local socket = loop:stream { fd = 0 }
        socket.on_error = function(e) print(e.message) end
        """)
  },
  .metamethod("__close", streamClose),
  .metamethod("__tostring", itemToString),
]

/// What `stream:lines` gives: it is called.
let linesEntries: [LuaEntry] = [.metamethod("__call", linesNext, then: linesSecond)]

/// The options of `loop:stream` and `ml.stream`.
func streamOptionDocs() -> LuaParameter {
  LuaParameter(
    "options", "moonloop.StreamOptions", "The descriptor, and what the stream may do.",
    fields: [
      LuaParameter("fd", "integer", "An open descriptor: a pipe, socket, terminal, ..."),
      LuaParameter("name", "string", "What reports and traces call it.", optional: true),
      LuaParameter("read", "boolean", "False: it is for writing only.", optional: true),
      LuaParameter("write", "boolean", "False: it is for reading only.", optional: true),
      LuaParameter(
        "close", "boolean",
        "Whether the descriptor is closed with the stream; default true, but for 0, 1 and 2.",
        optional: true),
      LuaParameter(
        "modes", "moonloop.Modes",
        "Where queued bytes are written and its handler is called; default: as what makes it.",
        optional: true),
    ] + streamLimitDocs() + [
      LuaParameter(
        "keep_alive", "boolean", "False: no run goes on for it; default true.", optional: true),
      LuaParameter(
        "on_error", "moonloop.ErrorHandler", "Hears of errors in its handler first.",
        optional: true),
    ])
}

/// The options that limit a stream.
func streamLimitDocs() -> [LuaParameter] {
  [
    LuaParameter(
      "timeout", "number", unit: "s", "For each read and write; default: none.", optional: true),
    LuaParameter(
      "line_limit", "integer", unit: "bytes", "How long a line may be; default 1048576.",
      optional: true),
    LuaParameter(
      "buffer_limit", "integer", unit: "bytes",
      "How much one read may hold; default 67108864.", optional: true),
    LuaParameter(
      "write_limit", "integer", unit: "bytes",
      "How much is queued before a write waits; default 65536.", optional: true),
  ]
}
