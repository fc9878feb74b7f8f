// What a guest does that only its own state sees: counted there, read by its host.

internal import LuaEmbed

/// Counts of what a guest's scripts have done. Thread of the guest's loop only.
final class GuestTally {
  /// Messages, requests, replies and calls of the host's functions.
  var messages = 0
  var logLines = 0
  /// Bytes given to streams.
  var sent = 0
}

/// For `ml.log`. A guest that finds it can only count more than there was.
let logCountModule = LuaModule("moonloop.log.count", [.function("line", logLine)])

private let logLine: LuaRawFunction = { L, context in
  hostAction(L, context, "log") { $0.runtime.granted.tally?.logLines += 1 }
}
