// What scripts see of terminals, with its documentation.

internal import LuaEmbed

/// Examples and tests have no terminal: this says so, and goes on where there is one.
private func example(_ lines: String) -> String {
  """
  loop:task(function()
    local term <close> = ml.tty.open { raw = true }
    if not term then return end   -- nobody types
  \(lines.split(separator: "\n").map { "  " + $0 }.joined(separator: "\n"))
  end)
  """
}

/// `ml.tty`.
let terminalModuleEntries: [LuaEntry] = [
  .function("open", terminalOpen) {
    LuaDocs(
      "Opens a terminal: that of standard input, or the one that controls the process.",
      details: "In raw mode each key comes at once, nothing is echoed, and Ctrl-C is a byte. The "
        + "terminal is what it was before when the handle is closed, when the script ends, and "
        + "when a signal ends or stops the process.",
      parameters: [
        LuaParameter(
          "options", "moonloop.TtyOptions", "May be left out.", optional: true,
          fields: [
            LuaParameter("fd", "integer", "The descriptor of a terminal.", optional: true),
            LuaParameter("raw", "boolean", "True: raw mode; default false.", optional: true),
            LuaParameter(
              "signals", "boolean", "True: in raw mode, too, Ctrl-C and the like are signals.",
              optional: true),
            LuaParameter("name", "string", "What reports call it.", optional: true),
          ])
      ],
      returns: [LuaParameter("tty", "moonloop.Tty", "The terminal.")],
      errors: ["Returns `nil, message, code`: \"ENXIO\" or \"ENOTTY\" where there is none."],
      example: example("print(term:read(1))"))
  },
  .function("is_tty", terminalIs) {
    LuaDocs(
      "Whether a descriptor is a terminal.",
      parameters: [LuaParameter("fd", "integer", "Such as 0 for standard input.")],
      returns: [LuaParameter("is", "boolean", "False for a file, a pipe, a closed one.")],
      example: """
        print(ml.tty.is_tty(0))   --> false
        """)
  },
]

/// What a terminal handle offers.
let terminalEntries: [LuaEntry] = [
  .method("read", terminalRead) {
    LuaDocs(
      "Reads what is typed, as `stream:read` does; in raw mode ask for bytes, not lines.",
      parameters: [
        LuaParameter("format", "integer|\"l\"|\"L\"|\"a\"|\"n\"", "Default \"l\".", optional: true)
      ],
      returns: [LuaParameter("data", "string?", "What was read; nil at the end.")],
      errors: ["Returns `nil, message, code` as `stream:read`."], yields: true,
      example: example("local key = term:read(1)"))
  },
  .method("read_some", terminalReadSome) {
    LuaDocs(
      "Reads what was typed so far, at least one byte, as `stream:read_some` does.",
      parameters: [LuaParameter("max", "integer", "The most to read.", optional: true)],
      returns: [LuaParameter("data", "string?", "An escape sequence comes as a whole, mostly.")],
      errors: ["Returns `nil, message, code` as `stream:read_some`."], yields: true,
      example: example("local keys = term:read_some()"))
  },
  .method("lines", terminalLines) {
    LuaDocs(
      "Gives the lines as they are typed, as `stream:lines` does.",
      returns: [LuaParameter("next", "fun(): string?", "For a loop.")],
      example: example("term.raw = false\nfor line in term:lines() do print(line) end"))
  },
  .method("write", terminalWrite) {
    LuaDocs(
      "Writes to the terminal, as `stream:write` does.",
      parameters: [LuaParameter("...", "string|number", "Written one behind the other.")],
      returns: [LuaParameter("stream", "moonloop.Stream?", "The stream of the terminal.")],
      errors: ["Returns `nil, message, code` as `stream:write`."], yields: true,
      example: example("term:write(\"\\\\27[2J\")"))
  },
  .method("on_resize", terminalOnResize) {
    LuaDocs(
      "Has a function called when the size has changed; it replaces the one before.",
      details: "It keeps no run alive.",
      parameters: [
        LuaParameter(
          "handler", "fun(tty: moonloop.Tty, columns: integer, rows: integer)|nil",
          "The function, or nil for none.")
      ],
      returns: [LuaParameter("tty", "moonloop.Tty", "The handle itself.")],
      example: example("term:on_resize(function(term, columns, rows) print(columns, rows) end)"))
  },
  .method("invalidate", terminalInvalidate) {
    LuaDocs(
      "Closes it: the terminal is what it was. A `<close>` variable does the same.",
      example: example("term:invalidate()"))
  },
  .method("is_valid", terminalIsValid) {
    LuaDocs(
      "Whether it is open.",
      returns: [LuaParameter("valid", "boolean", "False once it was closed.")],
      example: example("print(term:is_valid())"))
  },
  .field("columns", terminalColumns) {
    LuaDocs(
      "How many characters stand in a line now.",
      returns: [LuaParameter("columns", "integer", "0 if the terminal does not know.")],
      example: example("print(term.columns)"))
  },
  .field("rows", terminalRows) {
    LuaDocs(
      "How many lines there are now.",
      returns: [LuaParameter("rows", "integer", "0 if the terminal does not know.")],
      example: example("print(term.rows)"))
  },
  .field("raw", terminalIsRaw, set: terminalSetRaw) {
    LuaDocs(
      "Whether it is in raw mode.",
      returns: [LuaParameter("raw", "boolean", "Set it to change the mode.")],
      example: example("term.raw = false"))
  },
  .field("stream", terminalStream) {
    LuaDocs(
      "The stream of the terminal, for all that the handle itself does not offer.",
      returns: [LuaParameter("stream", "moonloop.Stream", "It ends with the handle.")],
      example: example("print(term.stream)"))
  },
  .metamethod("__close", terminalInvalidate),
  .metamethod("__tostring", terminalToString),
]
