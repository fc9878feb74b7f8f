// `require "moonloop.warning"`: warnings of our modules in Lua. Lua's `warn` writes nothing until a
// script turns it on.

internal import LuaEmbed

let warningModule = LuaModule("moonloop.warning", [.function("write", warningWrite)])

/// `write(text)`: writes a warning, which fails no test. When the state ends, there is nothing left
/// to warn about.
private let warningWrite: LuaRawFunction = { L, context in
  host(L, context, "warning") { call in
    let text = "moonloop: warning: \(try call.string(1, "the text"))"
    let runtime = call.runtime
    if runtime.isClosing { return 0 }
    if runtime.bed != nil { writeToStandardError(text) } else { runtime.errors.write(text) }
    return 0
  }
}
