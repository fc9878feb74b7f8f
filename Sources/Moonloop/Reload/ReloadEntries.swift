// What scripts see of reloading a file. The functions are written in Lua.

internal import LuaEmbed

private let reloadState: LuaRawFunction = { L, context in
  callSource(L, context, "ml.reload.state", "return require('moonloop.reload').state(...)")
}

private let reloadOnUnload: LuaRawFunction = { L, context in
  callSource(L, context, "ml.reload.on_unload", "return require('moonloop.reload').on_unload(...)")
}

private let reloadGeneration: LuaRawFunction = { L, context in
  callSource(
    L, context, "ml.reload.generation", "return require('moonloop.reload').generation(...)")
}

/// The functions of `ml.reload`.
let reloadEntries: [LuaEntry] = [
  .function("state", reloadState, then: sourceResults),
  .function("on_unload", reloadOnUnload, then: sourceResults),
  .function("generation", reloadGeneration, then: sourceResults),
]
