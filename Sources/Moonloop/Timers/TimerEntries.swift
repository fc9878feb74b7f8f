// What scripts see of timers.

internal import LuaEmbed

/// What a timer handle offers.
let timerEntries: [LuaEntry] = [
  .method("again") { hostAction($0, $1, "timer:again", timerAgain) },
  .method("again_at") { hostValue($0, $1, "timer:again_at", timerAgainAt) },
  .method("fire") { host($0, $1, "timer:fire", timerFire) },
  .field("next_fire", timerNextFire, set: timerSetNextFire),
  .field("interval") { hostValue($0, $1, "timer.interval", timerInterval) },
  .field("tolerance", timerTolerance, set: timerSetTolerance),
  // What all items have; the functions of `itemEntries` are for items that are not timers.
  .method("invalidate", timerInvalidate),
  .method("is_valid") {
    hostValue($0, $1, "timer:is_valid") { $0.timers.slot(of: try $0.selfTimer()) != nil }
  },
  .method("modes") { host($0, $1, "timer:modes", timerModes) },
  .method("keep_alive") { host($0, $1, "timer:keep_alive", timerKeepAlive) },
  .field("name", timerName),
  .field("fires") { hostValue($0, $1, "timer.fires", timerFires) },
  .field("on_error", timerOnError, set: timerSetOnError),
  .metamethod("__close", timerInvalidate),
  .metamethod("__tostring") { hostValue($0, $1, "tostring", timerToString) },
]
