// What scripts see of child processes.

internal import LuaEmbed

/// `ml.process`.
let processModuleEntries: [LuaEntry] = [
  .function("spawn", processSpawn),
  .function("run", processRun),
  .function("kill", processKillAny),
  .function("id", processID),
  .function("notify", processNotify),
]

/// What a process handle offers.
let processEntries: [LuaEntry] = [
  .method("await", processAwait),
  .method("wait", processWait),
  .method("kill", processKill),
  .method("terminate", processTerminate),
  .method("resize", processResize),
  .method("invalidate", processInvalidate),
  .method("is_valid", processIsValid),
  .method("keep_alive", processKeepAlive),
  .field("pid", processPid),
  .field("status", processStatus),
  .field("stdin", processInput),
  .field("stdout", processOutput),
  .field("stderr", processErrors),
  .field("name", processName),
  .metamethod("__close", processClose),
  .metamethod("__tostring", processToString),
]
