// What scripts see of terminals.

internal import LuaEmbed
internal import MoonloopSystem

/// `ml.tty`.
let terminalModuleEntries: [LuaEntry] = [
  .function("open") { host($0, $1, "ml.tty.open", terminalOpen) },
  .function("is_tty") { hostValue($0, $1, "ml.tty.is_tty", terminalIs) },
]

/// What a terminal handle offers.
let terminalEntries: [LuaEntry] = [
  .method("read", terminalRead),
  .method("read_some", terminalReadSome),
  .method("lines", terminalLines),
  .method("write", terminalWrite),
  .method("on_resize") { host($0, $1, "tty:on_resize", terminalOnResize) },
  .method("invalidate", terminalInvalidate),
  .method("is_valid") { hostValue($0, $1, "tty:is_valid") { try $0.selfTerminal().isOpen } },
  .field("columns") {
    hostValue($0, $1, "tty.columns") { try Terminal.size($0.openTerminal().fd).columns }
  },
  .field("rows") { hostValue($0, $1, "tty.rows") { try Terminal.size($0.openTerminal().fd).rows } },
  .field("raw", terminalIsRaw, set: terminalSetRaw),
  .field("stream") { host($0, $1, "tty.stream", terminalStream) },
  .metamethod("__close", terminalInvalidate),
  .metamethod("__tostring") { hostValue($0, $1, "tostring", terminalToString) },
]
