// What scripts see of signals.

internal import LuaEmbed

/// What a signal handle offers.
let signalEntries: [LuaEntry] =
  [
    .field("signals") { host($0, $1, "signal.signals", signalNames) }
  ] + itemEntries
