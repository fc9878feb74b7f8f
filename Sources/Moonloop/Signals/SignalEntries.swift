// What scripts see of signals.

internal import LuaEmbed

/// What a signal handle offers.
let signalEntries: [LuaEntry] =
  [
    .field("signals", signalNames)
  ] + itemEntries
