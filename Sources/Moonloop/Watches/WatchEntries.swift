// What scripts see of file watches.

internal import LuaEmbed
internal import MoonloopSystem

/// What a watch handle offers.
let watchEntries: [LuaEntry] =
  [
    .field("path") { host($0, $1, "watch.path", watchPath) }
  ] + itemEntries
