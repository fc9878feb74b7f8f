// What scripts see of child processes.

internal import LuaEmbed
internal import MoonloopSystem

/// `ml.process`.
let processModuleEntries: [LuaEntry] = [
  .function("spawn", processSpawn),
  .function("run", processRun),
  .function("kill", processKillAny),
  // The ID of this process.
  .function("id") { hostValue($0, $1, "ml.process.id") { _ in Int(Child.ownID) } },
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
  // True until its end is reported.
  .method("is_valid") {
    hostValue($0, $1, "process:is_valid") { try $0.selfProcess().status == nil }
  },
  .method("keep_alive", processKeepAlive),
  .field("pid") { hostValue($0, $1, "process.pid") { Int(try $0.selfProcess().child.pid) } },
  .field("status", processStatus),
  .field("stdin", processInput),
  .field("stdout", processOutput),
  .field("stderr", processErrors),
  .field("name") { hostValue($0, $1, "process.name") { try $0.selfProcess().source.name } },
  .metamethod("__close", processClose),
  .metamethod("__tostring", processToString),
]
