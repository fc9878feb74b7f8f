// What scripts see of workers and of ports of other states.

internal import LuaEmbed

/// What the handle of a worker offers.
let workerEntries: [LuaEntry] =
  [
    .field("port") { host($0, $1, "worker.port", workerPort) },
    .method("await") { host($0, $1, "worker:await", workerAwait) },
    // Asks it to end.
    .method("stop") {
      hostAction($0, $1, "worker:stop") { Worker.of(try $0.selfWorker())?.stop() }
    },
    .field("status") { hostValue($0, $1, "worker.status", workerStatus) },
    // Whether its loop sleeps (R5).
    .field("is_waiting") {
      hostValue($0, $1, "worker.is_waiting") {
        Worker.of(try $0.selfWorker())?.link.isWaiting ?? false
      }
    },
    .metamethod("__close") { host($0, $1, "close", workerClose) },
    .metamethod("__tostring") { hostValue($0, $1, "tostring", workerToString) },
  ] + itemEntries.filter { !["__close", "__tostring"].contains("\($0.name)") }

/// What the handle of a port of another state offers.
let remotePortEntries: [LuaEntry] =
  portEntries.filter { ["send", "request"].contains("\($0.name)") } + [
    .method("invalidate", remotePortInvalidate),
    .method("is_valid") { hostValue($0, $1, "port:is_valid", remotePortIsValid) },
    .field("name") { hostValue($0, $1, "port.name", remotePortName) },
    .metamethod("__close", remotePortInvalidate),
    .metamethod("__tostring") { hostValue($0, $1, "tostring", remotePortToString) },
  ]
