// What `require "moonloop"` returns.

internal import LuaEmbed

/// The functions of the module itself; the kinds of items add theirs.
let moduleEntries: [LuaEntry] = [
  .function("current") { host($0, $1, "ml.current", moduleCurrent) },
  .function("now", moduleNow),
  .function("configure", moduleConfigure, then: sourceResults),
  .function("limit") { hostAction($0, $1, "ml.limit", moduleLimit) },
  .function("break_here", moduleBreakHere, then: sourceResults),
  .function("wall_time", moduleWallTime),
  .function("sleep") { host($0, $1, "ml.sleep", moduleSleep) },
  .function("timeout") { host($0, $1, "ml.timeout", moduleTimeout) },
  .function("await", moduleAwait, then: moduleAwaitSecond),
  .function("channel") { host($0, $1, "ml.channel", moduleChannel) },
  .function("semaphore") { host($0, $1, "ml.semaphore", moduleSemaphore) },
  .function("freeze") { host($0, $1, "ml.freeze", moduleFreeze) },
]
