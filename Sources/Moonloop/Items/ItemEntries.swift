// What scripts see of every item (timer, source, fd, observer, port), with its documentation.

internal import LuaEmbed

/// What a handle of a source, descriptor, observer or port offers besides its own.
let itemEntries: [LuaEntry] = [
  .method("invalidate", itemInvalidate) {
    LuaDocs(
      "Ends the item for good: it leaves all its modes, and its handlers are let go.",
      details: "Has no effect on an item that has ended. May be called anywhere, also in a "
        + "handler of the item itself. A `<close>` variable does the same at the end of its "
        + "block.",
      example: """
        local timer = loop:every(1, print)
        timer:invalidate()
        print(timer:is_valid())   --> false
        """)
  },
  .method("is_valid", itemIsValid) {
    LuaDocs(
      "Whether the item can still be served: it has not fired for the last time, nor been "
        + "invalidated.",
      returns: [LuaParameter("valid", "boolean", "False once it has ended.")],
      example: """
        local timer = loop:after(1, function() end)
        print(timer:is_valid())   --> true
        loop:run()
        print(timer:is_valid())   --> false
        """)
  },
  .method("modes", itemModes) {
    LuaDocs(
      "The modes that the item is in.",
      returns: [
        LuaParameter("modes", "string[]", "Names; an item of the common modes names each of them.")
      ],
      example: """
        local timer <close> = loop:timer { every = 1, modes = { "default", "tracking" }, print }
        print(#timer:modes())   --> 2
        """)
  },
  .method("keep_alive", itemKeepAlive) {
    LuaDocs(
      "Says whether a run goes on for this item alone; every item does until told otherwise.",
      details: "A run is finished when only items that hold nothing are left in its mode. They are "
        + "served as usual as long as it goes on.",
      parameters: [LuaParameter("holds", "boolean", "False: nobody waits for this item.")],
      returns: [LuaParameter("item", "self", "The handle itself, so that calls can be chained.")],
      errors: ["Raises an error when a source, fd, observer or port is invalid."],
      example: """
        local ticks = 0
        loop:every(1, function() ticks = ticks + 1 end):keep_alive(false)
        loop:after(3.5, function() print(ticks) end)   --> 3
        """)
  },
  .field("name", itemName) {
    LuaDocs(
      "The name that it was made with, or an empty string.",
      returns: [LuaParameter("name", "string", "As reports and traces show it.")],
      example: """
        local timer <close> = loop:timer { every = 1, name = "poll", print }
        print(timer.name)   --> poll
        """)
  },
  .field("fires", itemFires) {
    LuaDocs(
      "How often its handler was called.",
      returns: [LuaParameter("count", "integer", "Of an invalid timer 0.")],
      example: """
        local timer <close> = loop:every(1, function() end)
        loop:run { timeout = 3.5 }
        print(timer.fires)   --> 3
        """)
  },
  .field("on_error", itemOnError, set: itemSetOnError) {
    LuaDocs(
      "Who hears of errors in its handlers before `loop.on_error` does; nil: nobody.",
      details: "Gets the same table as `loop.on_error`, and may return \"continue\" or \"stop\".",
      returns: [
        LuaParameter("handler", "moonloop.ErrorHandler?", "The function, or nil for none.")
      ],
      example: """
        local timer = loop:after(1, function() error("no luck", 0) end)
        timer.on_error = function(e) print(e.message) end   --> no luck
        """)
  },
  .metamethod("__close", itemInvalidate),
  .metamethod("__tostring", itemToString),
]

/// The options that all items take.
func itemOptionDocs(isAdded: Bool) -> [LuaParameter] {
  let modes = LuaParameter(
    "modes", "moonloop.Modes", "Where it is served; default \"default\".", optional: true)
  return [
    LuaParameter("name", "string", "What reports and traces call it.", optional: true),
    LuaParameter(
      "keep_alive", "boolean", "False: a run does not go on for it; default true.",
      optional: true),
    LuaParameter(
      "on_error", "moonloop.ErrorHandler", "Hears of errors in its handlers first.",
      optional: true),
  ] + (isAdded ? [modes] : [])
}

/// What the functions say that make an item without adding it.
let madeOnly = "It is in no mode yet, and is served once `loop:add` has put it into one."
