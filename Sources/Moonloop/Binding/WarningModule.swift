// `require "moonloop.warning"`: warnings of our modules in Lua. Lua's `warn` writes nothing until a
// script turns it on.

internal import LuaEmbed

let warningModule = LuaModule("moonloop.warning", [.function("write", warningWrite)])

/// `write(text)`
private let warningWrite: LuaRawFunction = { L, context in
  host(L, context, "warning") { call in
    call.runtime.warn(try call.string(1, "the text"))
    return 0
  }
}
