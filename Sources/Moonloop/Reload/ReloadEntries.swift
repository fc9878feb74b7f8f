// What scripts see of loading a file again, with its documentation. The functions are written in
// Lua.

internal import LuaEmbed

private let reloadState: LuaRawFunction = { L, context in
  callSource(L, context, "state", "return require('moonloop.reload').state(...)")
}

private let reloadOnUnload: LuaRawFunction = { L, context in
  callSource(L, context, "on_unload", "return require('moonloop.reload').on_unload(...)")
}

private let reloadGeneration: LuaRawFunction = { L, context in
  callSource(L, context, "generation", "return require('moonloop.reload').generation(...)")
}

/// `ml.reload()` itself, as the reference shows it.
let reloadCallEntry = LuaEntry.function("reload", moduleReload) {
  LuaDocs(
    "Loads the file of the program again, and waits until that is done or has failed.",
    details: "It is done between two passes: what the file and its modules make is the next "
      + "generation. A handle that is made again under its name stays what it was, with the new "
      + "handler; what is not made again ends. If the file fails, nothing has changed. See "
      + "[Reloading](reload.md).",
    returns: [
      LuaParameter(
        "result", "moonloop.Reloaded?",
        "What was done: `generation`, and how many handles were `kept`, `made`, `ended`.")
    ],
    errors: [
      "Returns `nil, message, code`: what is wrong with the file, and where; \"ENOENT\" without a "
        + "file (`moonloop run -e`), \"EBUSY\" while its main chunk still waits.",
      "Raises an error while the file is loaded.",
    ],
    yields: true,
    example: """
      loop:task(function()
        local done, message, code = ml.reload()
        print(done, code)   --> nil ENOENT
      end)
      """)
}

let reloadRecords: [LuaParameter] = [
  LuaParameter(
    "moonloop.Reloaded", "table", "What loading a file again has done.",
    fields: [
      LuaParameter("generation", "integer", "The number of the generation; the first is 1."),
      LuaParameter("kept", "integer", "Handles that were made again under their names."),
      LuaParameter("made", "integer", "Handles and tasks that are new."),
      LuaParameter("ended", "integer", "Handles and tasks that were not made again."),
    ])
]

/// The functions of `ml.reload`.
let reloadEntries: [LuaEntry] = [
  .function("state", reloadState, then: sourceResults) {
    LuaDocs(
      "Gives the table under a name that survives when the file is loaded again.",
      details: "If a file fails, what it has changed in the table is undone.",
      parameters: [
        LuaParameter("name", "string", "Its name, of the program's choice."),
        LuaParameter(
          "default", "table", "The table the first time; else an empty one.", optional: true),
      ],
      returns: [LuaParameter("state", "table", "The same table for each generation.")],
      errors: ["Raises an error if the default is no table."],
      example: """
        local stats = ml.reload.state("stats", { hits = 0 })
        stats.hits = stats.hits + 1
        print(ml.reload.state("stats").hits)   --> 1
        """)
  },
  .function("on_unload", reloadOnUnload, then: sourceResults) {
    LuaDocs(
      "Has a function called when the next generation is loaded, before this one ends.",
      details: "The last one first. They are not called when the program ends.",
      parameters: [LuaParameter("handler", "fun()", "It must not wait.")],
      example: """
        ml.reload.on_unload(function() print "leaving" end)
        """)
  },
  .function("generation", reloadGeneration, then: sourceResults) {
    LuaDocs(
      "Tells how often the file was loaded.",
      returns: [LuaParameter("generation", "integer", "1 before anything was loaded again.")],
      example: """
        print(ml.reload.generation())   --> 1
        """)
  },
]
