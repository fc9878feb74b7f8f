// What `require "moonloop"` returns.

internal import LuaEmbed

/// The functions of the module itself; the kinds of items add theirs.
let moduleEntries: [LuaEntry] = [
  .function("current", moduleCurrent),
  .function("now", moduleNow),
  .function("configure", moduleConfigure, then: sourceResults),
  .function("limit", moduleLimit),
  .function("break_here", moduleBreakHere, then: sourceResults),
  .function("wall_time", moduleWallTime),
  .function("sleep", moduleSleep),
  .function("timeout", moduleTimeout),
  .function("await", moduleAwait, then: moduleAwaitSecond),
  .function("channel", moduleChannel),
  .function("semaphore", moduleSemaphore),
  .function("freeze", moduleFreeze),
]
