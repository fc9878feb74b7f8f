// What scripts see of terminals.

internal import LuaEmbed

/// `ml.tty`.
let terminalModuleEntries: [LuaEntry] = [
  .function("open", terminalOpen),
  .function("is_tty", terminalIs),
]

/// What a terminal handle offers.
let terminalEntries: [LuaEntry] = [
  .method("read", terminalRead),
  .method("read_some", terminalReadSome),
  .method("lines", terminalLines),
  .method("write", terminalWrite),
  .method("on_resize", terminalOnResize),
  .method("invalidate", terminalInvalidate),
  .method("is_valid", terminalIsValid),
  .field("columns", terminalColumns),
  .field("rows", terminalRows),
  .field("raw", terminalIsRaw, set: terminalSetRaw),
  .field("stream", terminalStream),
  .metamethod("__close", terminalInvalidate),
  .metamethod("__tostring", terminalToString),
]
