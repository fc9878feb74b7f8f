// What `require "moonloop"` gives.

internal import LuaEmbed

/// The functions of the module itself.
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
  .function("timer", moduleTimer),
  .function("source", moduleSource),
  .function("fd", moduleDescriptor),
  .function("stream", moduleStream),
  .function("observer", moduleObserver),
  .function("worker", moduleWorker),
  .function("signal", moduleSignal),
  .function("watch", moduleWatch),
]
