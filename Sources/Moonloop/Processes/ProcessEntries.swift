// What scripts see of child processes.

internal import LuaEmbed
internal import MoonloopSystem

/// `ml.process`.
let processModuleEntries: [LuaEntry] = [
  .function("spawn") { host($0, $1, "ml.process.spawn", processSpawn) },
  .function("run") { host($0, $1, "ml.process.run", processRun) },
  .function("kill") { hostValue($0, $1, "ml.process.kill", processKillAny) },
  // The ID of this process.
  .function("id") { hostValue($0, $1, "ml.process.id") { _ in Int(Child.ownID) } },
  .function("notify") { hostAction($0, $1, "ml.process.notify", processNotify) },
]

/// What a process handle offers.
let processEntries: [LuaEntry] = [
  .method("await", processAwait),
  .method("wait") { host($0, $1, "process:wait", processWait) },
  .method("kill") { hostValue($0, $1, "process:kill", processKill) },
  .method("terminate") { host($0, $1, "process:terminate", processTerminate) },
  .method("resize") { hostValue($0, $1, "process:resize", processResize) },
  .method("invalidate") { hostAction($0, $1, "process:invalidate", processInvalidate) },
  // True until its end is reported.
  .method("is_valid") {
    hostValue($0, $1, "process:is_valid") { try $0.selfProcess().status == nil }
  },
  .method("keep_alive") { host($0, $1, "process:keep_alive", processKeepAlive) },
  .field("pid") { hostValue($0, $1, "process.pid") { Int(try $0.selfProcess().child.pid) } },
  .field("status") { host($0, $1, "process.status", processStatus) },
  .field("stdin", processInput),
  .field("stdout", processOutput),
  .field("stderr", processErrors),
  .field("name") { hostValue($0, $1, "process.name") { try $0.selfProcess().source.name } },
  .metamethod("__close") { host($0, $1, "close", processClose) },
  .metamethod("__tostring") { hostValue($0, $1, "tostring", processToString) },
]
