// What scripts see of custom sources, descriptors, observers and ports, with its documentation.

internal import LuaEmbed

/// What a source handle offers.
let sourceEntries: [LuaEntry] =
  [
    .method("signal", sourceSignal) {
      LuaDocs(
        "Marks the source: its handler runs once, in the next pass of a mode that it is in.",
        details: "Several signals before that are one. It does not wake a loop that sleeps: on the "
          + "loop's own thread it is awake; from elsewhere add `loop:wake_up()`.",
        errors: ["Raises an error when the source is invalid."],
        example: """
          local source = loop:source { perform = function(source)
            print "performed once"   --> performed once
            source:invalidate()
          end }
          source:signal()
          source:signal()
          """)
    },
    .field("signalled", sourceSignalled) {
      LuaDocs(
        "Whether it was signalled and has not performed since.",
        returns: [LuaParameter("signalled", "boolean", "True while it waits for its turn.")],
        example: """
          local source <close> = loop:source { perform = print }
          source:signal()
          print(source.signalled)   --> true
          """)
    },
    .field("order", sourceOrder) {
      LuaDocs(
        "Its place among the signalled sources of a pass: the smaller, the earlier.",
        returns: [LuaParameter("order", "integer", "As it was made; default 0.")],
        example: """
          local source <close> = loop:source { order = -1, perform = print }
          print(source.order)   --> -1
          """)
    },
  ] + itemEntries

/// What an fd handle offers.
let descriptorEntries: [LuaEntry] =
  [
    .method("read", descriptorRead) {
      LuaDocs(
        "Reads what is there, without ever waiting.",
        details: "`\"l\"` is a line without its newline, `\"L\"` with it, `\"a\"` everything up "
          + "to the end of file, a number at most so many bytes. What was read ahead for a line "
          + "stays with the handle, and counts as readable.",
        parameters: [
          LuaParameter(
            "format", "integer|\"l\"|\"L\"|\"a\"", "As in the io library; default \"l\".",
            optional: true)
        ],
        returns: [LuaParameter("data", "string?", "What was read; nil when there is none.")],
        errors: [
          "Returns `nil, message, code`: \"EOF\" at the end, \"EAGAIN\" if there is not enough "
            + "now, \"EMSGSIZE\" for a line longer than 'line_limit', or the system's code.",
          "Raises an error when the handle is invalid.",
        ],
        example: """
          loop:fd { fd = 0, read = function(fd)
            local line, message, code = fd:read "l"
            if line then print(line)
            elseif code == "EOF" then fd:invalidate() end
          end }
          """)
    },
    .method("write", descriptorWrite) {
      LuaDocs(
        "Writes as much as there is space for, without ever waiting.",
        parameters: [LuaParameter("...", "string|number", "Written one behind the other.")],
        returns: [
          LuaParameter("count", "integer?", unit: "bytes", "How much was written; may be less.")
        ],
        errors: [
          "Returns `nil, message, code` when nothing was written: \"EAGAIN\", \"EPIPE\", ...",
          "Raises an error when the handle is invalid.",
        ],
        example: """
          local text, socket = "hello", 0   -- the number of a descriptor, however it was made
          loop:fd { fd = socket, write = function(fd)
            local count = fd:write(text)
            text = text:sub((count or 0) + 1)
            if text == "" then fd:invalidate() end
          end }:enable "write"
          """)
    },
    .method("enable", descriptorEnable) {
      LuaDocs(
        "Watches for events; 'read' is enabled from the start if it has a handler.",
        parameters: [LuaParameter("events", "moonloop.Events", "\"read\", \"write\", or a list.")],
        returns: [LuaParameter("fd", "moonloop.Descriptor", "The handle itself.")],
        errors: [
          "Raises an error when there is no handler for the event, or the handle is invalid."
        ],
        example: """
          local fd <close> = loop:fd { fd = 0, read = print, write = print }
          print(table.concat(fd:enable("write").enabled, " "))   --> read write
          """)
    },
    .method("disable", descriptorDisable) {
      LuaDocs(
        "Stops watching for events; they are not lost, as readiness is a level.",
        details: "A handle with nothing enabled still keeps its runs alive; see `keep_alive`.",
        parameters: [LuaParameter("events", "moonloop.Events", "\"read\", \"write\", or a list.")],
        returns: [LuaParameter("fd", "moonloop.Descriptor", "The handle itself.")],
        errors: ["Raises an error when the handle is invalid."],
        example: """
          local fd <close> = loop:fd { fd = 0, read = print }
          print(#fd:disable("read").enabled)   --> 0
          """)
    },
    .field("fd", descriptorNumber) {
      LuaDocs(
        "The number of the descriptor.",
        returns: [LuaParameter("number", "integer", "-1 once it was closed with its handle.")],
        example: """
          local fd <close> = loop:fd { fd = 0, read = print }
          print(fd.fd)   --> 0
          """)
    },
    .field("enabled", descriptorEnabled) {
      LuaDocs(
        "The events that are watched for.",
        returns: [LuaParameter("events", "string[]", "\"read\", \"write\", both or neither.")],
        example: """
          local fd <close> = loop:fd { fd = 0, read = print }
          print(fd.enabled[1])   --> read
          """)
    },
  ] + itemEntries

/// What an observer handle offers.
let observerEntries: [LuaEntry] =
  [
    .field("order", observerOrder) {
      LuaDocs(
        "Its place among the observers of an activity: the smaller, the earlier.",
        returns: [LuaParameter("order", "integer", "As it was made; default 0.")],
        example: """
          local observer <close> = loop:observer { on = "exit", order = 7, print }
          print(observer.order)   --> 7
          """)
    },
    .field("repeats", observerRepeats) {
      LuaDocs(
        "Whether it goes on after its first call.",
        returns: [LuaParameter("repeats", "boolean", "As it was made; default true.")],
        example: """
          local observer <close> = loop:observer { on = "exit", repeats = false, print }
          print(observer.repeats)   --> false
          """)
    },
  ] + itemEntries

/// The options of `loop:source` and `ml.source`.
func sourceOptionDocs(isAdded: Bool) -> LuaParameter {
  LuaParameter(
    "options", isAdded ? "moonloop.LoopSourceOptions" : "moonloop.SourceOptions",
    "The handlers; 'perform' must be there, by name or as first element.",
    fields: [
      LuaParameter(
        "perform", "fun(source: moonloop.Source)", "Called once after it was signalled.",
        optional: true),
      LuaParameter(
        "[1]", "fun(source: moonloop.Source)", "The same as 'perform'.", optional: true),
      LuaParameter(
        "schedule", "fun(source: moonloop.Source, loop: moonloop.Loop, mode: string)",
        "Called when it comes into a mode.", optional: true),
      LuaParameter(
        "cancel", "fun(source: moonloop.Source, loop: moonloop.Loop, mode: string)",
        "Called when it leaves a mode.", optional: true),
      LuaParameter(
        "order", "integer", "Its place among the signalled sources; default 0.", optional: true),
    ] + itemOptionDocs(isAdded: isAdded))
}

/// The options of `loop:fd` and `ml.fd`.
func descriptorOptionDocs(isAdded: Bool) -> LuaParameter {
  let handler = "fun(fd: moonloop.Descriptor, event: string)"
  return LuaParameter(
    "options", isAdded ? "moonloop.LoopDescriptorOptions" : "moonloop.DescriptorOptions",
    "The descriptor and the handlers, of which one must be there.",
    fields: [
      LuaParameter("fd", "integer", "An open descriptor: a pipe, socket, terminal, ..."),
      LuaParameter("read", handler, "Called in each pass while it is readable.", optional: true),
      LuaParameter(
        "write", handler, "Called while it is writable, once enabled with `fd:enable`.",
        optional: true),
      LuaParameter(
        "close", "boolean", "True: the descriptor is closed with the handle; default false.",
        optional: true),
      LuaParameter(
        "reenable", "moonloop.Events",
        "Which events stay enabled after a call of their handler; default \"read\".",
        optional: true),
      LuaParameter(
        "line_limit", "integer", unit: "bytes", "How long a line may be; default 1048576.",
        optional: true),
      LuaParameter(
        "order", "integer", "Taken for likeness; ready descriptors take turns.", optional: true),
    ] + itemOptionDocs(isAdded: isAdded))
}

/// The options of `loop:observer` and `ml.observer`.
func observerOptionDocs(isAdded: Bool) -> LuaParameter {
  LuaParameter(
    "options", isAdded ? "moonloop.LoopObserverOptions" : "moonloop.ObserverOptions",
    "The activities, and the handler as first element.",
    fields: [
      LuaParameter(
        "[1]", "fun(observer: moonloop.Observer, activity: moonloop.Activity)", "The handler."),
      LuaParameter(
        "on", "moonloop.Activity|moonloop.Activity[]", "What it hears of, one or a list."),
      LuaParameter(
        "order", "integer", "Its place among the observers of an activity; default 0.",
        optional: true),
      LuaParameter(
        "repeats", "boolean", "False: it ends after its first call; default true.",
        optional: true),
    ] + itemOptionDocs(isAdded: isAdded))
}
