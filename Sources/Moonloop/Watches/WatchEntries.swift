// What scripts see of file watches, with its documentation.

internal import LuaEmbed
internal import MoonloopSystem

/// What a watch handle offers.
let watchEntries: [LuaEntry] =
  [
    .field("path", watchPath) {
      LuaDocs(
        "The path that is watched, as it was given.",
        returns: [LuaParameter("path", "string?", "Nil once the watch has ended.")],
        example: """
          local watch <close> = loop:watch { "/tmp/", print }
          print(watch.path)   --> /tmp
          """)
    }
  ] + itemEntries

let loopWatchEntry = LuaEntry.method("watch", loopWatch) {
  LuaDocs(
    "Calls a function when a file or a folder, or something in that folder, has changed.",
    details: "The path is watched, not the file: it need not be there yet, may be replaced, or go "
      + "and come again. What is told is the effect of all that happened since the last call; what "
      + "came and went is nothing. Entries of a folder have its path before their name.",
    parameters: [
      LuaParameter(
        "options", "moonloop.LoopWatchOptions", "The path, the handler, and how to watch.",
        fields: watchOptionDocs(isAdded: true))
    ],
    returns: [LuaParameter("watch", "moonloop.Watch", "The handle.")],
    errors: [watchErrors],
    example: """
      local path = os.tmpname()
      loop:watch { path, function(watch, changes)
        print(#changes, changes[1].kind)   --> 1 changed
        watch:invalidate()
        os.remove(path)
      end }
      io.open(path, "w"):write("new"):close()
      """)
}

let moduleWatchEntry = LuaEntry.function("watch", moduleWatch) {
  LuaDocs(
    "Makes a file watch without adding it to the loop; what changes from now on is told later.",
    details: madeOnly,
    parameters: [
      LuaParameter(
        "options", "moonloop.WatchOptions", "The path, the handler, and how to watch.",
        fields: watchOptionDocs(isAdded: false))
    ],
    returns: [LuaParameter("watch", "moonloop.Watch", "The handle.")],
    errors: [watchErrors],
    example: """
      local path = os.tmpname()
      local watch = ml.watch { path, debounce = 0, function(watch, changes)
        print(changes[1].kind, changes[1].path == path)   --> deleted true
        watch:invalidate()
      end }
      os.remove(path)
      loop:add(watch, "common")
      """)
}

private let watchErrors =
  "Returns `nil, message, code` when the system refuses: \"ENOSPC\" when a user's limit of watched "
  + "folders is reached, \"EACCES\", \"EMFILE\"."

private func watchOptionDocs(isAdded: Bool) -> [LuaParameter] {
  [
    LuaParameter("[1]", "string", "The path of a file or folder."),
    LuaParameter(
      "[2]", "fun(watch: moonloop.Watch, changes: moonloop.FileChange[])", "The handler."),
    LuaParameter(
      "debounce", "number", unit: "s",
      "How long it must be quiet before changes are told; default 0.05.", optional: true),
    LuaParameter(
      "recursive", "boolean", "True: folders in the folder are watched as well.", optional: true),
  ] + itemOptionDocs(isAdded: isAdded)
}

/// What the handler of a watch gets a list of.
let fileChangeRecord = LuaParameter(
  "moonloop.FileChange", "table", "One change of a file or folder.",
  fields: [
    LuaParameter("path", "string", "What has changed; what was renamed has its new path here."),
    LuaParameter(
      "kind", "\"created\"|\"changed\"|\"deleted\"|\"renamed\"|\"attributes\"|\"overflow\"",
      "How; \"overflow\": events were lost, and the others were found by looking at all."),
    LuaParameter(
      "replaced", "boolean", "True: what has changed is another file now.", optional: true),
    LuaParameter("from", "string", "The old path of what was renamed.", optional: true),
  ])
