// `require "moonloop.warning"`: warnings of our modules in Lua. Lua's `warn` writes nothing until a
// script turns it on.

internal import LuaEmbed

let warningModule = LuaModule("moonloop.warning", [.function("write", warningWrite)])

/// `write(text)`
private let warningWrite: LuaRawFunction = { L, context in
  hostAction(L, context, "warning") { $0.runtime.warn(try $0.string(1, "the text")) }
}
